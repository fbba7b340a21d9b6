"""Extraction of e-mails: headers and text, with the attachments as members."""

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from email.message import EmailMessage
from email.policy import EmailPolicy
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from idx.containers.message import (
    BROKEN_HEADER,
    END_OF_HEADERS,
    content,
    declared_charset,
    decoded,
    file_name,
    header,
    is_attachment,
    is_richer,
    may_be_stub,
    parsed,
    payload,
    quoted_apart,
    uuencoded,
)
from idx.containers.smime import EncryptedError, is_message, signed_content
from idx.errors import SourceFileError
from idx.extraction import media_types
from idx.extraction.types import Embedded, Extracted, Source, limited
from idx.markup.html import extracted_pages, read_hypertext
from idx.text.calendar import read_calendar, unfolded
from idx.text.cleaning import join_sections, preformatted
from idx.text.properties import MAX_KEYWORDS, one_line, properties
from shared.messages import quantity
from shared.model import metadata
from shared.model.document import Heading, Metadata, Scalar

QUOTED: Final = "Quoted text"  # heading above what a message quotes

_SHOWN_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")

_UNCHANGED: Final = EmailPolicy(refold_source="none")
"""Policy that writes headers as they are: the library cannot fold some malformed ones anew."""

_MAX_ATTACHMENTS: Final = 1_000  # attachments that are read from one message
_MAX_NAMES_SHOWN: Final = 100  # attachments whose names are in the text of a message

_THREAD_HEADERS: Final = ("Message-ID", "References", "In-Reply-To")

_MESSAGE_ID: Final = re.compile(r"<([^<>\s]{1,200})>")
_ADDRESS: Final = re.compile(r"[\w.+-]{1,100}@[\w.-]{1,200}")

_SMIME: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNATURES: Final = frozenset(
    {"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}
)
_NAMES_OF_TEXTS: Final = frozenset({"", "smime.p7m"})
"""Names of signed and encrypted texts; others are those of files."""

_MAX_SIGNED: Final = 20  # signed texts, one within the other, that are opened in one message

_WITH_LENGTH: Final = re.compile(rb"\A(\d{1,15})[ \t]*\r?\n(.*)\Z", re.DOTALL)
"""Message as Apple Mail stores it: behind its length, and before what the program knows of it."""

_FORMS: Final = {"text/plain": 0, "multipart/related": 1, "text/html": 1}
"""Preferred alternatives of a message's text, in order; all others come last."""


def extract_mail(source: Source) -> Extracted:
    """Extract the main headers of an e-mail and its text, with its attachments as members.

    Of alternatives, the plain text is taken, unless it only says to read the HTML. All text parts
    that are not attachments are extracted in order. What it quotes of earlier messages is a section
    at the end.
    """
    message = parsed(_WITH_LENGTH.sub(lambda match: match[2][: int(match[1])], source.data))
    is_encrypted = _open_signed(message)
    if not message.keys() and source.data.strip():
        raise SourceFileError(source.file, "is a damaged e-mail: it has no headers")
    headers = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := header(message, name))]
    names = [each.name for each in islice(_attachments(message), _MAX_NAMES_SHOWN)]
    sent = _sent(message)
    hidden: list[str] = []
    text, found = composed(headers, _body(message, source.file, hidden), names)
    return Extracted(
        text=text,
        headings=found,
        hidden=hidden,
        members=_as_old_as(sent, limited(_attachments(message), _MAX_ATTACHMENTS, "attachments")),
        warnings=("is encrypted, and only its headers were read",) if is_encrypted else (),
        title=one_line(header(message, "Subject")),
        metadata=properties(
            author=header(message, "From"),
            keywords=header(message, "Keywords"),
            creator=header(message, "X-Mailer") or header(message, "User-Agent"),
            created=sent,
            modified=sent,
            language=header(message, "Content-Language"),
        )
        | thread_metadata(message, " ".join(header(message, name) or "" for name in ("To", "Cc"))),
    )


def _open_signed(message: EmailMessage) -> bool:
    """Put signed messages in place of the signed data, and return whether anything is encrypted.

    Signed files stay attachments.
    """
    is_encrypted = False
    opened = 0
    for part in message.walk():
        kind, name = part.get_content_type(), (file_name(part) or "").lower()
        is_encrypted = is_encrypted or kind == "multipart/encrypted"
        if kind not in _SMIME and not name.endswith(".p7m"):
            continue
        try:
            signed = signed_content(payload(part))
        except EncryptedError:
            if name in _NAMES_OF_TEXTS:
                is_encrypted = True
                _become(part, "application/octet-stream")
            continue
        except (ValueError, RecursionError):
            continue
        if is_message(signed):
            opened += 1
            if opened > _MAX_SIGNED:
                raise ValueError(f"it is signed more than {_MAX_SIGNED} times")
            _become(part, "multipart/mixed")
            part.set_payload([parsed(signed)])
    return is_encrypted


def _become(part: EmailMessage, kind: str) -> None:
    del part["Content-Type"], part["Content-Transfer-Encoding"], part["Content-Disposition"]
    part["Content-Type"] = kind


def extract_web_archive(source: Source) -> Extracted:
    """Extract the pages in a web archive (.mhtml), with the metadata of the first."""
    pages = [
        read_hypertext(content(part, source.file))
        for part in parsed(source.data).walk()
        if part.get_content_type() == media_types.HTML
    ]
    if not pages:
        raise SourceFileError(source.file, "is a damaged web archive: there is no page in it")
    return extracted_pages(pages)


def composed(
    headers: list[str], body: str, attachments: list[str]
) -> tuple[str, tuple[Heading, ...]]:
    """Return the text of a message, normalized, and the heading above what it quotes."""
    own, quoted = quoted_apart(body)
    names = ", ".join(attachments[:_MAX_NAMES_SHOWN])
    parts = ["\n".join(headers), own, f"Attachments: {names}" if names else ""]
    return join_sections(
        [(0, "", "\n\n".join(parts)), (1, QUOTED, f"{QUOTED}\n{quoted}" if quoted else "")]
    )


def thread_metadata(message: EmailMessage, sent_to: str) -> Metadata:
    """Return the ids of a message and of the first one of its thread, and who it was sent to."""
    said, references, answered = (header(message, name) or "" for name in _THREAD_HEADERS)
    own = message_id(said)
    recipients: list[Scalar] = [*dict.fromkeys(_ADDRESS.findall(sent_to.lower()))]
    found: dict[str, Scalar | list[Scalar] | None] = {
        metadata.MESSAGE_ID: own,
        metadata.THREAD: message_id(f"{references} {answered}") or own,
        metadata.RECIPIENTS: recipients[:MAX_KEYWORDS],
    }
    return {key: value for key, value in found.items() if value}


def message_id(value: str) -> str | None:
    found = _MESSAGE_ID.search(value)
    return found[1] if found else None


def _sent(message: EmailMessage) -> datetime | None:
    from email.utils import parsedate_to_datetime

    said = header(message, "Date")
    try:
        return parsedate_to_datetime(said) if said else None
    except BROKEN_HEADER:
        return None


def _as_old_as(sent: datetime | None, attachments: Iterator[Embedded]) -> Iterator[Embedded]:
    """Yield attachments with the time of their message, if it is known."""
    try:
        seconds = int(sent.timestamp()) if sent else 0
    except (OverflowError, ValueError):
        seconds = 0
    for each in attachments:
        yield replace(each, modified_ns=seconds * 1_000_000_000)


def _body(message: EmailMessage, file: Path, hidden: list[str]) -> str:
    if message.get_content_maintype() == "multipart" and not message.is_multipart():
        # Without a separator, the parts are a single text.
        return content(message, file)
    return "\n\n".join(filter(str.strip, _texts(message, file, hidden)))


def _texts(part: EmailMessage, file: Path, hidden: list[str]) -> Iterator[str]:
    """Yield the texts of a part and its inner parts; of alternatives, the richest one.

    What is not displayed of them is added to `hidden`.
    """
    kind = part.get_content_type()
    within = [
        inner
        for inner in part.iter_parts()
        if isinstance(inner, EmailMessage) and not _is_attached(inner)
    ]
    if kind == media_types.CALENDAR:
        yield _meeting(part, file)
    elif part.get_content_maintype() == "text":
        text = content(part, file)
        if kind == "text/html":
            page = read_hypertext(text)
            hidden += page.unseen
            yield page.text
        elif text.strip():
            yield preformatted(text)
    elif kind == "multipart/alternative":
        yield _richest(within, file, hidden)
        for meeting in within:
            if meeting.get_content_type() == media_types.CALENDAR:
                yield _meeting(meeting, file)
    elif part.get_content_maintype() == "multipart":
        for inner in within:
            yield from _texts(inner, file, hidden)


def _richest(forms: list[EmailMessage], file: Path, hidden: list[str]) -> str:
    """Return the text of the preferred form, unless it only says to read another one."""
    best = ""
    unseen: list[str] = []
    for form in sorted(forms, key=lambda form: _FORMS.get(form.get_content_type(), len(_FORMS))):
        kind = form.get_content_type()
        # Others, such as AMP, are programs as much as texts.
        is_known = kind in _FORMS or form.get_content_maintype() == "multipart"
        if kind == media_types.CALENDAR or (best and not (is_known and may_be_stub(best))):
            continue
        inner: list[str] = []
        text = "\n\n".join(filter(str.strip, _texts(form, file, inner)))
        if is_richer(text, best):
            best, unseen = text, inner
    hidden += unseen
    return best


def _meeting(part: EmailMessage, file: Path) -> str:
    text = decoded(unfolded(payload(part)), declared_charset(part), file)
    found = read_calendar(text)
    return found.text if found else text


def _is_attached(part: EmailMessage) -> bool:
    # Programs name invitations, which people see in the message.
    is_named = file_name(part) is not None and part.get_content_type() != media_types.CALENDAR
    return is_named or is_attachment(part)


def _attachments(message: EmailMessage) -> Iterator[Embedded]:
    """Yield attached files and messages; not the pictures that a message in HTML shows."""
    number = 0
    parts = [message]
    while parts:
        part = parts.pop(0)
        is_message = part.get_content_type() == "message/rfc822" and part is not message
        name = file_name(part)
        if part.is_multipart() and not is_message:
            inner = part.get_payload()
            parts[:0] = [each for each in inner if isinstance(each, EmailMessage)]
        elif (is_message or name) and not _is_part_of_text(part):
            number += 1
            yield _attachment(part, name, number, is_message=is_message)
        elif part.get_content_type() == media_types.PLAIN_TEXT:
            for named, data in uuencoded(payload(part)):
                number += 1
                yield Embedded(plain_name(named) or f"attachment {number}", partial(bytes, data))


def plain_name(name: str) -> str:
    """Return the name of a file without folders: it may lead outside of a message."""
    return re.sub(r"[/\\\x00-\x1f\x7f]", "_", name).strip().lstrip(".")


def _attachment(part: EmailMessage, name: str | None, number: int, *, is_message: bool) -> Embedded:
    if not is_message:
        plain = plain_name(name or "")
        kind = mimetypes.guess_extension(part.get_content_type()) or ""
        return Embedded(plain or f"attachment {number}{kind}", partial(payload, part))
    inner = part.get_payload()
    attached = inner[0] if isinstance(inner, list) and inner else None
    # Its subject would be an id, which stands outside of the tags around texts of documents.
    return Embedded(f"message {number}", partial(_as_written, attached), read_as=MESSAGE_NAME)


def _as_written(message: object) -> bytes:
    """Return an attached message, empty if a part of that type holds none."""
    if not isinstance(message, EmailMessage):
        return b""
    try:
        return message.as_bytes(policy=_UNCHANGED)
    except BROKEN_HEADER as error:
        raise ValueError(str(error)) from error


def _is_part_of_text(part: EmailMessage) -> bool:
    """Check whether a part is a signature or a picture of the text, such as a logo."""
    if part.get_content_type() in _SIGNATURES:
        return True
    is_shown = part.get_content_maintype() == "image" and "Content-ID" in part
    return is_shown and not is_attachment(part)


MAX_MESSAGES: Final = 100_000  # messages that are read from one mailbox

# A line of a text that begins with "From " is escaped by most programs, but not by all.
_SEPARATOR: Final = re.compile(rb"(?:\A|\r?\n)From (?![ \t]*:)[^\r\n]*\r?\n(?=[!-9;-~]+[ \t]*:)")
_ESCAPED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_MESSAGE_ID_LINE: Final = re.compile(
    rb"^Message-ID[ \t]*:\s*<([^<>\s]{1,200})>", re.IGNORECASE | re.MULTILINE
)

MESSAGE_NAME: Final = "message.eml"  # name by which a message is read


def extract_mailbox(source: Source) -> Extracted:
    """Extract the number of messages, with the messages as members by their Message-ID."""
    found = [*_SEPARATOR.finditer(source.data)]
    if not found:
        raise ValueError("it has no messages")
    ends = [*(match.start() for match in found[1:]), len(source.data)]
    spans = zip((match.end() for match in found), ends, strict=True)
    messages = (
        _message(source.data, start, end, number)
        for number, (start, end) in enumerate(spans, start=1)
    )
    return Extracted(
        text=f"Mailbox with {quantity(len(found), 'message')}",
        members=limited(messages, MAX_MESSAGES, "messages"),
    )


def _message(data: bytes, start: int, end: int, number: int) -> Embedded:
    blank = END_OF_HEADERS.search(data, start, end)
    found = _MESSAGE_ID_LINE.search(data, start, blank.start() if blank else end)
    name = found[1].decode("ascii", "replace").replace("/", "_").lstrip(".") if found else ""
    return Embedded(
        name=name or f"message {number}",
        read=lambda: _ESCAPED.sub(rb"\1", data[start:end]),
        size=end - start,
        read_as=MESSAGE_NAME,
    )
