"""Extraction of e-mails: headers and text, with the attachments as members."""

import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from functools import partial
from itertools import islice
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.containers.budget import BudgetError
from idx.extraction.containers.mailbox import MESSAGE_NAME
from idx.extraction.containers.quotations import quoted_apart
from idx.extraction.markup.html import decode_hypertext, read_hypertext
from idx.extraction.text.cleaning import preformatted
from idx.extraction.text.declared_encoding import declared_codec
from idx.extraction.text.decoding import decode
from idx.extraction.text.headings import join_sections
from idx.extraction.text.properties import MAX_KEYWORDS, one_line, properties
from idx.extraction.types import Embedded, Extracted, Source
from shared.model import metadata
from shared.model.document import Heading, Metadata, Scalar

QUOTED: Final = "Quoted text"
"""Heading above what a message quotes."""

_SHOWN_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")

_BROKEN_HEADER: Final = (
    *(AttributeError, IndexError, LookupError, OverflowError, RecursionError, TypeError),
    ValueError,
)
"""Errors that the standard library raises on some malformed headers."""

_UNCHANGED: Final = policy.EmailPolicy(refold_source="none")
"""Policy that writes headers as they are: the library cannot fold some malformed ones anew."""

_MAX_ATTACHMENTS: Final = 1_000
"""Maximum number of attachments that are read from one message."""

_MAX_NAMES_SHOWN: Final = 100
"""Maximum number of attachments whose names are in the text of a message."""

_THREAD_HEADERS: Final = ("Message-ID", "References", "In-Reply-To")

_MESSAGE_ID: Final = re.compile(r"<([^<>\s]{1,200})>")
_ADDRESS: Final = re.compile(r"[\w.+-]{1,100}@[\w.-]{1,200}")

_FORMS: Final = {"text/plain": 0, "multipart/related": 1, "text/html": 1}
"""Preferred alternatives of a message's text, in order; all others come last."""


def extract_mail(source: Source) -> Extracted:
    """Extract the main headers of an e-mail and its text, with its attachments as members.

    Of alternatives, the plain text is taken, otherwise the HTML. All text parts that are not
    attachments are extracted in order. What it quotes of earlier messages is a section at the end.

    Raises:
        SourceFileError: it has no headers.
    """
    message = BytesParser(policy=policy.default).parsebytes(source.data)
    if not message.keys() and source.data.strip():
        raise SourceFileError(source.file, "is a damaged e-mail: it has no headers")
    headers = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := _header(message, name))]
    names = [each.name for each in islice(_attachments(message), _MAX_NAMES_SHOWN)]
    sent = _sent(message)
    hidden: list[str] = []
    text, found = composed(headers, _body(message, source, hidden), names)
    return Extracted(
        text=text,
        media_type=source.media_type,
        headings=found,
        hidden=hidden,
        members=_as_old_as(sent, _attachments(message)),
        title=one_line(_header(message, "Subject")),
        metadata=properties(
            author=_header(message, "From"),
            keywords=_header(message, "Keywords"),
            creator=_header(message, "X-Mailer") or _header(message, "User-Agent"),
            created=sent,
            modified=sent,
            language=_header(message, "Content-Language"),
        )
        | thread_metadata(
            {name.lower(): _header(message, name) or "" for name in _THREAD_HEADERS},
            " ".join(_header(message, name) or "" for name in ("To", "Cc")),
        ),
    )


def composed(
    headers: list[str], body: str, attachments: list[str]
) -> tuple[str, tuple[Heading, ...]]:
    """Return the text of a message, normalized, and the heading above what it quotes.

    Args:
        headers: the lines of the headers that are shown.
        body: the text, not yet normalized.
        attachments: the names of the attachments.
    """
    own, quoted = quoted_apart(body)
    names = ", ".join(attachments[:_MAX_NAMES_SHOWN])
    parts = ["\n".join(headers), own, f"Attachments: {names}" if names else ""]
    return join_sections(
        [(0, "", "\n\n".join(parts)), (1, QUOTED, f"{QUOTED}\n{quoted}" if quoted else "")]
    )


def thread_metadata(headers: Mapping[str, str], sent_to: str) -> Metadata:
    """Return the ids of a message and of the first one of its thread, and who it was sent to.

    Args:
        headers: the headers of the message, by name in lower case.
        sent_to: the recipients.
    """
    own = _MESSAGE_ID.search(headers.get("message-id", ""))
    earlier = _MESSAGE_ID.search(
        f"{headers.get('references', '')} {headers.get('in-reply-to', '')}"
    )
    recipients: list[Scalar] = [*dict.fromkeys(_ADDRESS.findall(sent_to.lower()))]
    first = earlier or own
    found: dict[str, Scalar | list[Scalar] | None] = {
        metadata.MESSAGE_ID: own[1] if own else None,
        metadata.THREAD: first[1] if first else None,
        metadata.RECIPIENTS: recipients[:MAX_KEYWORDS],
    }
    return {key: value for key, value in found.items() if value}


def _header(message: EmailMessage, name: str) -> str | None:
    try:
        value = message[name]
    except _BROKEN_HEADER:
        value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), None)
    return None if value is None else str(value)


def _sent(message: EmailMessage) -> datetime | None:
    from email.utils import parsedate_to_datetime

    said = _header(message, "Date")
    try:
        return parsedate_to_datetime(said) if said else None
    except _BROKEN_HEADER:
        return None


def _as_old_as(sent: datetime | None, attachments: Iterator[Embedded]) -> Iterator[Embedded]:
    """Yield attachments with the time of their message, if it is known."""
    try:
        seconds = int(sent.timestamp()) if sent else 0
    except (OverflowError, ValueError):
        seconds = 0
    for each in attachments:
        yield replace(each, modified_ns=seconds * 1_000_000_000)


def _body(message: EmailMessage, source: Source, hidden: list[str]) -> str:
    """Return the text of the message, from all parts that are not attachments."""
    if message.get_content_maintype() == "multipart" and not message.is_multipart():
        # Without a separator, the parts are a single text.
        return _content(message, source)
    return "\n\n".join(filter(str.strip, _texts(message, source, hidden)))


def _texts(part: EmailMessage, source: Source, hidden: list[str]) -> Iterator[str]:
    """Yield the texts of a part and its inner parts; of alternatives, the preferred one.

    What is not displayed of them is added to `hidden`.
    """
    kind = part.get_content_type()
    within = [
        inner
        for inner in part.iter_parts()
        if isinstance(inner, EmailMessage) and not _is_attached(inner)
    ]
    if part.get_content_maintype() == "text":
        text = _content(part, source)
        if kind == "text/html":
            page = read_hypertext(text)
            hidden += page.unseen
            yield page.text
        elif text.strip():
            yield preformatted(text)
    elif kind == "multipart/alternative":
        forms = sorted(within, key=lambda form: _FORMS.get(form.get_content_type(), len(_FORMS)))
        texts = ("\n\n".join(_texts(form, source, hidden)) for form in forms)
        yield next(filter(str.strip, texts), "")
    elif part.get_content_maintype() == "multipart":
        for inner in within:
            yield from _texts(inner, source, hidden)


def _is_attached(part: EmailMessage) -> bool:
    try:
        return part.get_content_disposition() == "attachment" or part.get_filename() is not None
    except _BROKEN_HEADER:
        return False


def _content(part: EmailMessage, source: Source) -> str:
    """Decode the text of a part by its declared encoding, or the one detected."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    codec = _declared_codec(part)
    if codec is not None:
        with suppress(UnicodeError):
            # UTF-7 can encode lone surrogates.
            return data.decode(codec).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if b"\x1b" in data and data.isascii():
            # Its bytes would be taken for ASCII letters.
            return _decode_escapes(data, codec)
    try:
        if part.get_content_type() == "text/html":
            # The option applies to files of plain text only.
            options = replace(source.options, encoding=None)
            return decode_hypertext(replace(source, data=data, options=options))
        return decode(data, source.file)
    except SourceFileError:
        return data.decode(codec or "utf-8", errors="replace")


def _declared_codec(part: EmailMessage) -> str | None:
    """Return the declared codec of a part; None if it does not determine the encoding."""
    try:
        codec = declared_codec(part.get_content_charset("ascii"))
    except _BROKEN_HEADER:
        return None
    # A part that declares ASCII or nothing may be in any encoding.
    return None if codec == "ascii" else codec


def _decode_escapes(data: bytes, codec: str) -> str:
    """Decode text of ISO 2022, in which escape sequences switch between character sets.

    Japanese e-mails have ①, ㈱ and Ⅱ in row 13 of JIS X 0208, which is unassigned there. JIS X 0213
    has them in the same place, and includes the characters of JIS X 0208.
    """
    if codec == "iso2022_jp":
        codec = "iso2022_jp_2004"
        for other, known in ((b"$@", b"$(Q"), (b"$B", b"$(Q"), (b"(J", b"(B")):
            data = data.replace(b"\x1b" + other, b"\x1b" + known)
    return data.decode(codec, errors="replace")


def _attachments(message: EmailMessage) -> Iterator[Embedded]:
    """Yield attached files and messages; not the pictures that a message in HTML shows."""
    number = 0
    parts = [message]
    while parts:
        part = parts.pop(0)
        is_message = part.get_content_type() == "message/rfc822" and part is not message
        name = _file_name(part)
        if part.is_multipart() and not is_message:
            inner = part.get_payload()
            parts[:0] = [each for each in inner if isinstance(each, EmailMessage)]
        elif (is_message or name) and not _is_shown(part):
            number += 1
            if number > _MAX_ATTACHMENTS:
                raise BudgetError(f"it has more than {_MAX_ATTACHMENTS:,} attachments")
            yield _attachment(part, name, number, is_message=is_message)


def _attachment(part: EmailMessage, name: str | None, number: int, *, is_message: bool) -> Embedded:
    if not is_message:
        # A name may lead outside, but there is only one folder in a message.
        plain = re.sub(r"[/\\\x00-\x1f\x7f]", "_", name or "").strip().lstrip(".")
        kind = mimetypes.guess_extension(part.get_content_type()) or ""
        return Embedded(plain or f"attachment {number}{kind}", _bytes_of(part))
    inner = part.get_payload()
    attached = inner[0] if isinstance(inner, list) and inner else None
    # Its subject would be an id, which stands outside of the tags around texts of documents.
    return Embedded(f"message {number}", partial(_as_written, attached), read_as=MESSAGE_NAME)


def _as_written(message: object) -> bytes:
    """Return an attached message, empty if a part of that type holds none.

    Raises:
        ValueError: it is malformed.
    """
    if not isinstance(message, EmailMessage):
        return b""
    try:
        return message.as_bytes(policy=_UNCHANGED)
    except _BROKEN_HEADER as error:
        raise ValueError(str(error)) from error


def _bytes_of(part: EmailMessage) -> Callable[[], bytes]:
    def read() -> bytes:
        payload = part.get_payload(decode=True)
        return payload if isinstance(payload, bytes) else b""

    return read


def _file_name(part: EmailMessage) -> str | None:
    try:
        return part.get_filename()
    except _BROKEN_HEADER:
        return None


def _is_shown(part: EmailMessage) -> bool:
    """Check whether a part is a picture of the text, such as a logo, and no attachment."""
    try:
        is_attachment = part.get_content_disposition() == "attachment"
    except _BROKEN_HEADER:
        return False
    return part.get_content_maintype() == "image" and "Content-ID" in part and not is_attachment
