"""Extraction of mailboxes of Outlook (.pst, .ost) by libpff, an extra of the distribution.

Each message is handed on as an e-mail, whose reader finds its texts and attachments.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from email.message import EmailMessage
from functools import partial
from hashlib import sha256
from typing import Any, Final

from idx.containers.mail import MAX_MESSAGES, MESSAGE_NAME, message_id
from idx.containers.message import header, parsed_headers
from idx.containers.outlook import codec_of_page
from idx.errors import UnsupportedFileError
from idx.extraction.types import Embedded, Extracted, Source, limited
from idx.office.rtf import extract_rtf
from shared.errors import ExtraMissingError
from shared.messages import quantity

_EXTRA: Final = "pst"
_LIBRARY: Final = "pypff"

_MAX_FOLDERS: Final = 10_000
_MAX_DEPTH: Final = 50

_HEADERS: Final = {
    "From": None,
    "To": 0x0E04,
    "Cc": 0x0E03,
    "Subject": 0x0037,
    "Date": None,
    "Message-ID": 0x1035,
    "References": 0x1039,
    "In-Reply-To": 0x1042,
    "X-Mailer": None,
}
"""Headers that are handed on, with the property that says the same without headers."""

_SENDER_ADDRESSES: Final = (0x5D01, 0x0C1F)
_BODY_CODE_PAGE: Final = 0x3FDE
_FILE_NAMES: Final = (0x3707, 0x3704, 0x3001)
_METHOD: Final = 0x3705
_BY_VALUE: Final = 1
"""Method of an attachment whose bytes are stored with it; others are messages and objects."""


@dataclass(frozen=True, slots=True)
class _Folder:
    item: Any
    path: tuple[str, ...]

    @property
    def size(self) -> int:
        size: int = _tried(lambda: self.item.number_of_sub_messages, 0)
        return size


def extract_outlook_store(source: Source) -> Extracted:
    """Extract the names of the folders, with the messages as members by their Message-ID."""
    try:
        import pypff
    except ImportError as error:
        missing = ExtraMissingError("is a mailbox of Outlook, and reading it", _EXTRA, _LIBRARY)
        raise UnsupportedFileError(source.file, str(missing)) from error
    store = pypff.file()
    try:
        store.open_file_object(io.BytesIO(source.data))
        folders = [*_folders(store.get_root_folder())]
    except OSError as error:
        raise ValueError(str(error)) from error
    filled = [(" > ".join(folder.path), folder.size) for folder in folders if folder.size]
    total = sum(size for _, size in filled)
    names = [f"{name}: {size:,}" for name, size in filled if name]
    return Extracted(
        text="\n".join((f"Mailbox with {quantity(total, 'message')}", *names)),
        # The folders are of no use without the file.
        members=_messages(store, folders, source),
    )


def _folders(root: Any) -> Iterator[_Folder]:
    """Yield the folders; those that people see lie in one that has the name of the mailbox."""
    waiting = [(_Folder(root, ()), 0)]
    count = 0
    while waiting:
        folder, depth = waiting.pop()
        count += 1
        if count > _MAX_FOLDERS or depth > _MAX_DEPTH:
            raise ValueError(f"it has more than {_MAX_FOLDERS:,} folders, or too deep ones")
        yield folder
        for number in reversed(range(folder.item.number_of_sub_folders)):
            inner = folder.item.get_sub_folder(number)
            name = " ".join((inner.name or "").split())
            path = (*folder.path, name) if depth and name else folder.path
            waiting.append((_Folder(inner, path), depth + 1))


def _messages(store: Any, folders: list[_Folder], source: Source) -> Iterator[Embedded]:
    places = ((folder, at) for folder in folders for at in range(folder.size))
    for number, (folder, at) in enumerate(limited(places, MAX_MESSAGES, "messages"), start=1):
        message = _tried(partial(folder.item.get_sub_message, at), None)
        if message is not None and not hasattr(message, "transport_headers"):
            # Settings of the program.
            continue
        headers = _tried(partial(_headers, message), {}) if message else {}
        yield Embedded(
            name=message_id(headers.get("Message-ID", "")) or f"message {number}",
            read=partial(_written, store, message, headers, source),
            read_as=MESSAGE_NAME,
            section=folder.path,
        )


def _tried(read: Callable[[], Any], otherwise: Any) -> Any:
    """Return what is read, or something else if that is damaged: libpff raises OSError."""
    try:
        return read()
    except (ArithmeticError, LookupError, OSError, ValueError):
        return otherwise


def _headers(message: Any) -> dict[str, str]:
    said = parsed_headers(message.transport_headers or "")
    entries = _entries(message)
    addresses = (_text(entries, number) for number in _SENDER_ADDRESSES)
    # Those of Exchange within a company are paths.
    address = next((each for each in addresses if "@" in each), "")
    sent = message.client_submit_time or message.delivery_time
    instead = {
        "From": f"{message.sender_name or ''} <{address}>" if address else message.sender_name,
        "Date": f"{sent:%d %b %Y %H:%M:%S} +0000" if sent else None,
        "Subject": message.subject,
    }
    found = {
        name: header(said, name) or instead.get(name) or _text(entries, number)
        for name, number in _HEADERS.items()
    }
    return {name: " ".join(value.split()) for name, value in found.items() if value}


def _entries(item: Any) -> dict[int, Any]:
    return {entry.entry_type: entry for each in item.record_sets for entry in each.entries}


def _text(entries: dict[int, Any], number: int | None) -> str:
    entry = entries.get(number or 0)
    return _tried(lambda: str(entry.data_as_string or ""), "") if entry else ""


def _number(entries: dict[int, Any], number: int) -> int:
    entry = entries.get(number)
    return _tried(lambda: int(entry.data_as_integer), 0) if entry else 0


def _written(store: Any, message: Any, headers: dict[str, str], source: Source) -> bytes:
    if store is None or message is None:
        raise ValueError("it cannot be found in the mailbox")
    mail = EmailMessage()
    mail.set_content("")
    plain = _tried(lambda: message.plain_text_body, None)
    page = _tried(lambda: message.html_body, None)
    rich_text = None if plain or page else _tried(lambda: message.rtf_body, None)
    if rich_text:
        plain = _tried(partial(_rich_text, replace(source, data=rich_text)), None)
    for data in (plain, page):
        source.budget.take_bytes(len(data or b""))
    if plain:
        mail.set_content(plain, "text", "plain", params={"charset": "utf-8"})
    if page:
        codec = codec_of_page(_number(_entries(message), _BODY_CODE_PAGE))
        mail.add_alternative(page, "text", "html", params={"charset": codec or "us-ascii"})
    for number in range(_tried(lambda: message.number_of_attachments, 0)):
        _tried(partial(_attach, mail, message, number, source), None)
    # Boundaries made at random would give the same message another hash each time it is read.
    unlike = sha256((plain or b"") + (page or b"")).hexdigest()
    for number, part in enumerate(mail.walk()):
        if part.is_multipart():
            part.set_boundary(f"{unlike}-{number}")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return lines.encode(errors="replace") + mail.as_bytes()


def _rich_text(source: Source) -> bytes:
    return extract_rtf(source).text.encode()


def _attach(mail: EmailMessage, message: Any, number: int, source: Source) -> None:
    attachment = message.get_attachment(number)
    entries = _entries(attachment)
    if _number(entries, _METHOD) != _BY_VALUE:
        return
    source.budget.take_bytes(attachment.size)
    names = (_text(entries, each) for each in _FILE_NAMES)
    name = next(filter(None, names), f"attachment {number + 1}")
    data = attachment.read_buffer(attachment.size)
    mail.add_attachment(data, "application", "octet-stream", filename=" ".join(name.split()))
