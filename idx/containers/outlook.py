"""Extraction of messages of Outlook (.msg), like e-mails, and of the files in a winmail.dat.

python-oxmsg reads the streams of the file. It decodes all texts of a message or none, and strictly,
so that what they mean is read here.
"""

import io
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from idx.containers.mail import composed, plain_name, thread_metadata
from idx.containers.message import decoded, decoded_words, header, is_richer, parsed_headers
from idx.extraction.types import Embedded, Extracted, Source
from idx.markup.html import read_hypertext
from idx.office.rtf import extract_rtf
from idx.text.cleaning import preformatted
from idx.text.decoding import declared_codec
from idx.text.properties import one_line, properties

if TYPE_CHECKING:
    from olefile import OleFileIO  # type: ignore[import-untyped]
    from oxmsg.storage import Storage

_DAMAGE: Final = (AssertionError, AttributeError, OSError, TypeError)
"""Errors that the library raises on damaged files, besides those that stand for damage anyway."""

_SUBJECT: Final = 0x0037
_SENT: Final = 0x0039
_SENT_FOR_NAME: Final = 0x0042
_HEADERS: Final = 0x007D
_SENDER_NAME: Final = 0x0C1A
_SENDER_ADDRESSES: Final = (0x5D01, 0x0C1F)
_BODY: Final = 0x1000
_RICH_TEXT: Final = 0x1009
_HTML: Final = 0x1013
_NAME: Final = 0x3001
_ADDRESSES: Final = (0x39FE, 0x3003)
_MODIFIED: Final = 0x3008
_DATA: Final = 0x3701
_FILE_NAMES: Final = (0x3707, 0x3704)
_CONTENT_ID: Final = 0x3712
_HIDDEN: Final = 0x7FFE
_BODY_CODE_PAGE: Final = 0x3FDE
_CODE_PAGE: Final = 0x3FFD

_UNICODE: Final = 0x001F
_EIGHT_BITS: Final = 0x001E
_BINARY: Final = 0x0102

_MESSAGE_HEADER: Final = 32
_ATTACHED_MESSAGE_HEADER: Final = 24
_PART_HEADER: Final = 8
_ENTRY: Final = 16  # bytes of each property in a list of them

_LIST: Final = "__properties_version1.0"
_ATTACHED_FOLDER: Final = f"__substg1.0_{_DATA:04x}000d"
_MESSAGE_NAME: Final = "message.msg"  # name by which an attached message is read

_CHILD_OF_ROOT: Final = 76  # offset of the number of its first entry within the root entry

_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)

_DICTIONARY: Final = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""Text that compressed Rich Text refers to ([MS-OXRTFCP])."""

_RICH_TEXT_HEADER: Final = struct.Struct("<II4sI")
_COMPRESSED: Final = b"LZFu"


@dataclass(frozen=True, slots=True)
class _Properties:
    """Properties of a message, a recipient or an attachment, by number: streams, and values of 8
    bytes.
    """

    storage: "Storage"
    values: Mapping[int, bytes]
    source: Source
    codecs: tuple[str | None, str | None]

    def stream(self, number: int, kind: int) -> bytes | None:
        try:
            return self.storage.property_stream_bytes(number, kind)
        except KeyError:
            return None

    def text(self, *numbers: int) -> str:
        """Return the first of some texts that is not empty; empty if there is none."""
        for number in numbers:
            if (data := self.stream(number, _UNICODE)) is not None:
                text = data.decode("utf-16-le", errors="replace")
            else:
                body, other = self.codecs
                codec = body or other if number in {_BODY, _HTML} else other or body
                data = self.stream(number, _EIGHT_BITS) or b""
                text = decoded(data, codec, self.source.file, is_page=number == _HTML)
            if text := text.rstrip("\0"):
                return text
        return ""

    def line(self, *numbers: int) -> str:
        return one_line(decoded_words(self.text(*numbers))) or ""

    def time(self, number: int) -> datetime | None:
        try:
            ticks = int.from_bytes(self.values[number], "little")
            return _EPOCH + timedelta(seconds=ticks // 10_000_000)
        except (KeyError, OverflowError):
            return None

    @property
    def is_shown(self) -> bool:
        """True for an attachment that is a picture of the text, such as a logo."""
        return any(self.values.get(_HIDDEN, b"")[:2]) and bool(self.text(_CONTENT_ID))

    def codec(self, number: int) -> str | None:
        return codec_of_page(int.from_bytes(self.values.get(number, b"")[:4], "little"))


def codec_of_page(code_page: int) -> str | None:
    from oxmsg.domain.encodings import encoding_from_codepage
    from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError

    if codec := declared_codec(f"cp{code_page}"):
        return codec
    try:
        return declared_codec(encoding_from_codepage(code_page))
    except (UnrecognizedCodePageError, UnsupportedEncodingError):
        return None


def _read(
    storage: "Storage",
    size: int,
    source: Source,
    codecs: tuple[str | None, str | None] = (None, None),
) -> _Properties:
    """Return the properties of a storage, whose list begins behind so many bytes."""
    listed = storage.properties_stream_bytes[size:]
    entries = struct.iter_unpack("<2xH4x8s", listed[: len(listed) // _ENTRY * _ENTRY])
    return _Properties(storage, dict(entries), source, codecs)


def extract_outlook(source: Source) -> Extracted:
    """Extract the main headers of a message and its text, with its attachments as members."""
    from olefile import OleFileIO
    from oxmsg.storage import Storage

    try:
        with OleFileIO(io.BytesIO(source.data)) as streams:
            storage = Storage.from_ole(streams)
            messages = _attached_messages(streams, source.data)
        return _extracted(storage, messages, source)
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _attached_messages(streams: "OleFileIO", data: bytes) -> dict[str, Callable[[], bytes]]:
    """Return functions that read attached messages as files, by the names of their attachments.

    An attached message is a folder. The same file, with the entries of that folder as those of its
    root, is the message.
    """
    place = (streams.first_dir_sector + 1) * streams.sector_size + _CHILD_OF_ROOT
    folders = {each.name: each.kids_dict.get(_ATTACHED_FOLDER) for each in streams.root.kids}
    return {
        name: partial(_overwritten, data, place, struct.pack("<I", folder.sid_child))
        for name, folder in folders.items()
        if folder and _LIST in folder.kids_dict
    }


def _overwritten(data: bytes, place: int, new: bytes) -> bytes:
    return b"".join((data[:place], new, data[place + len(new) :]))


def _extracted(
    storage: "Storage", messages: Mapping[str, Callable[[], bytes]], source: Source
) -> Extracted:
    is_attached = len(storage.properties_stream_bytes) % _ENTRY == _ATTACHED_MESSAGE_HEADER % _ENTRY
    header_size = _ATTACHED_MESSAGE_HEADER if is_attached else _MESSAGE_HEADER
    message = _read(storage, header_size, source)
    codecs = message.codec(_BODY_CODE_PAGE), message.codec(_CODE_PAGE)
    message = replace(message, codecs=codecs)
    read = partial(_read, size=_PART_HEADER, source=source, codecs=codecs)
    recipients = [
        _addressed(each.line(_NAME), each.line(*_ADDRESSES))
        for each in map(read, storage.iter_recipient_storages())
    ]
    attachments = [
        each for each in map(read, storage.iter_attachment_storages()) if not each.is_shown
    ]
    said = parsed_headers(message.text(_HEADERS))
    sender = header(said, "From") or _sender(message)
    sent = message.time(_SENT)
    headers = {
        "From": sender,
        "To": header(said, "To") or ", ".join(recipients),
        "Cc": header(said, "Cc"),
        "Date": sent.isoformat() if sent else header(said, "Date"),
        "Subject": message.line(_SUBJECT),
    }
    hidden: list[str] = []
    warnings: list[str] = []
    body = _body(message, hidden, warnings)
    names = [
        plain_name(each.line(*_FILE_NAMES, _NAME)) or f"attachment {number}"
        for number, each in enumerate(attachments, start=1)
    ]
    text, headings = composed(
        [f"{name}: {one_line(value)}" for name, value in headers.items() if value], body, names
    )
    objects = sum(
        each.stream(_DATA, _BINARY) is None and each.storage.name not in messages
        for each in attachments
    )
    if objects:
        warnings.append(f"{objects} attached objects of Outlook are not read")
    return Extracted(
        text=text,
        headings=headings,
        hidden=hidden,
        title=headers["Subject"] or None,
        metadata=properties(author=sender, created=sent, modified=sent)
        | thread_metadata(said, ", ".join((*recipients, headers["To"] or "", headers["Cc"] or ""))),
        warnings=tuple(warnings),
        members=_members(attachments, names, messages),
    )


def _addressed(name: str, address: str) -> str:
    # Addresses of Exchange within a company are paths.
    has_both = name and name != address and "@" in address
    return f"{name} <{address}>" if has_both else name or address


def _sender(message: _Properties) -> str:
    name, address = message.line(_SENDER_NAME), message.line(*_SENDER_ADDRESSES)
    if "@" not in address:
        return name or message.line(_SENT_FOR_NAME)
    return f'"{name}" <{address}>' if name else f"<{address}>"


def _body(message: _Properties, hidden: list[str], warnings: list[str]) -> str:
    plain = preformatted(message.text(_BODY).replace("\r\n", "\n"))
    data = message.stream(_HTML, _BINARY)
    html = (
        decoded(data, message.codecs[0] or message.codecs[1], message.source.file, is_page=True)
        if data
        else message.text(_HTML)
    )
    page = read_hypertext(html)
    if is_richer(page.text, plain):
        hidden += page.unseen
        return page.text
    rich_text = message.stream(_RICH_TEXT, _BINARY)
    if plain.strip() or not rich_text:
        return plain
    try:
        return extract_rtf(replace(message.source, data=_unpacked(rich_text))).text
    except (ArithmeticError, LookupError, ValueError, struct.error) as error:
        warnings.append(f"its text in Rich Text is damaged: {error}")
        return ""


def _unpacked(data: bytes) -> bytes:
    """Unpack Rich Text ([MS-OXRTFCP]): letters, and places in the 4,096 bytes before."""
    _, size, kind, _ = _RICH_TEXT_HEADER.unpack_from(data)
    at = _RICH_TEXT_HEADER.size
    if kind != _COMPRESSED:
        return data[at : at + size]
    unpacked = bytearray(_DICTIONARY)
    while at < len(data):
        flags = data[at]
        at += 1
        for bit in range(8):
            if not flags >> bit & 1:
                unpacked += data[at : at + 1]
                at += 1
                continue
            place, length = divmod(int.from_bytes(data[at : at + 2], "big"), 16)
            at += 2
            behind = (len(unpacked) - place) % 4096
            if not behind or at > len(data) or len(unpacked) > size + len(_DICTIONARY):
                return bytes(unpacked[len(_DICTIONARY) :])
            for _ in range(length + 2):
                unpacked.append(unpacked[-behind] if behind <= len(unpacked) else 32)
    return bytes(unpacked[len(_DICTIONARY) :])


def _members(
    attachments: list[_Properties], names: list[str], messages: Mapping[str, Callable[[], bytes]]
) -> Iterator[Embedded]:
    for number, (each, name) in enumerate(zip(attachments, names, strict=True), start=1):
        modified = each.time(_MODIFIED)
        modified_ns = int(modified.timestamp()) * 1_000_000_000 if modified else 0
        data = each.stream(_DATA, _BINARY)
        if read := messages.get(each.storage.name):
            # Named like those of e-mails: its subject would be an id.
            yield Embedded(
                f"message {number}", read, modified_ns=modified_ns, read_as=_MESSAGE_NAME
            )
        elif data is not None:
            yield Embedded(name, partial(bytes, data), len(data), modified_ns)


_TNEF_HEADER: Final = 6
_ATTRIBUTE: Final = struct.Struct("<xII")
_CHECKSUM: Final = 2
_ATTACHMENT_BEGINS: Final = 0x69002
_ATTACHMENT_TITLE: Final = 0x18010
_ATTACHMENT_DATA: Final = 0x6800F
_ATTACHMENT_PROPERTIES: Final = 0x69005
_OEM_CODE_PAGE: Final = 0x69007
_OBJECT: Final = 0x000D


def extract_tnef(source: Source) -> Extracted:
    """Extract the names of the files in a winmail.dat ([MS-OXTNEF]), with the files as members.

    The message that it comes with has the text, too.
    """
    attachments: list[dict[int, bytes]] = []
    codec = None
    for number, value in _attributes(source.data):
        if number == _OEM_CODE_PAGE:
            codec = codec_of_page(int.from_bytes(value[:4], "little"))
        elif number == _ATTACHMENT_BEGINS:
            attachments.append({})
        elif attachments:
            attachments[-1][number] = value
    files: list[tuple[str, bytes]] = []
    objects = 0
    for number, each in enumerate(attachments, start=1):
        listed = each.get(_ATTACHMENT_PROPERTIES, b"")
        data = each.get(_ATTACHMENT_DATA, _listed(listed, _DATA, _BINARY))
        if data is None or _listed(listed, _DATA, _OBJECT) is not None:
            objects += 1
            continue
        name = plain_name(one_line(_attachment_name(each, listed, codec, source.file)) or "")
        files.append((name or f"attachment {number}", data))
    warning = f"{objects} attached messages or objects of Outlook are not read"
    return Extracted(
        text=composed([], "", [name for name, _ in files])[0],
        warnings=(warning,) if objects else (),
        members=[Embedded(name, partial(bytes, data)) for name, data in files],
    )


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = _TNEF_HEADER
    while at + _ATTRIBUTE.size <= len(data):
        number, size = _ATTRIBUTE.unpack_from(data, at)
        at += _ATTRIBUTE.size
        yield number, data[at : at + size]
        at += size + _CHECKSUM


def _listed(listed: bytes, number: int, kind: int) -> bytes | None:
    """Return the value of a property with a single value in a list of them; None without it."""
    _, found, value = listed.partition(struct.pack("<HHI", kind, number, 1))
    return value[4 : 4 + int.from_bytes(value[:4], "little")] if found else None


def _attachment_name(
    attachment: Mapping[int, bytes], listed: bytes, codec: str | None, file: Path
) -> str:
    """Return the name of an attachment; its title may be a short one, such as QUICK~1.HTM."""
    if name := _listed(listed, _FILE_NAMES[0], _UNICODE):
        return name.decode("utf-16-le", errors="replace").rstrip("\0")
    name = _listed(listed, _FILE_NAMES[0], _EIGHT_BITS) or attachment.get(_ATTACHMENT_TITLE, b"")
    return decoded(name.rstrip(b"\0"), codec, file)
