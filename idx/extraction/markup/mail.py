"""Extraction of e-mails: headers, text, and names of attachments."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.markup.html import decode_hypertext, read_hypertext
from idx.extraction.text.cleaning import normalize, preformatted
from idx.extraction.text.declared_encoding import declared_codec
from idx.extraction.text.decoding import decode
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Extracted, Source

_SHOWN_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")

_BROKEN_HEADER: Final = (
    *(AttributeError, IndexError, LookupError, OverflowError, RecursionError, TypeError),
    ValueError,
)
"""Errors that the standard library raises on some malformed headers."""

_FORMS: Final = {"text/plain": 0, "multipart/related": 1, "text/html": 1}
"""Preferred alternatives of a message's text, in order; all others come last."""


def extract_mail(source: Source) -> Extracted:
    """Extract the main headers of an e-mail, its text, and the names of its attachments.

    Of alternatives, the plain text is taken, otherwise the HTML. All text parts that are not
    attachments are extracted in order.

    Raises:
        SourceFileError: it has no headers.
    """
    message = BytesParser(policy=policy.default).parsebytes(source.data)
    if not message.keys() and source.data.strip():
        raise SourceFileError(source.file, "is a damaged e-mail: it has no headers")
    headers = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := _header(message, name))]
    attachments = [*_attachments(message)]
    parts = [
        "\n".join(headers),
        _body(message, source),
        f"Attachments: {', '.join(attachments)}" if attachments else "",
    ]
    return Extracted(
        text=normalize("\n\n".join(parts)),
        media_type=source.media_type,
        title=one_line(_header(message, "Subject")),
        metadata=properties(
            author=_header(message, "From"),
            keywords=_header(message, "Keywords"),
            creator=_header(message, "X-Mailer") or _header(message, "User-Agent"),
            created=_date(message),
            language=_header(message, "Content-Language"),
        ),
    )


def _header(message: EmailMessage, name: str) -> str | None:
    try:
        value = message[name]
    except _BROKEN_HEADER:
        value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), None)
    return None if value is None else str(value)


def _date(message: EmailMessage) -> str | None:
    from email.utils import parsedate_to_datetime

    said = _header(message, "Date")
    try:
        return parsedate_to_datetime(said).isoformat() if said else None
    except _BROKEN_HEADER:
        return None


def _body(message: EmailMessage, source: Source) -> str:
    """Return the text of the message, from all parts that are not attachments."""
    if message.get_content_maintype() == "multipart" and not message.is_multipart():
        # Without a separator, the parts are a single text.
        return _content(message, source)
    return "\n\n".join(filter(str.strip, _texts(message, source)))


def _texts(part: EmailMessage, source: Source) -> Iterator[str]:
    """Yield the texts of a part and its inner parts; of alternatives, the preferred one."""
    kind = part.get_content_type()
    within = [
        inner
        for inner in part.iter_parts()
        if isinstance(inner, EmailMessage) and not _is_attached(inner)
    ]
    if part.get_content_maintype() == "text":
        text = _content(part, source)
        if kind == "text/html":
            yield read_hypertext(text).text
        elif text.strip():
            yield preformatted(text)
    elif kind == "multipart/alternative":
        forms = sorted(within, key=lambda form: _FORMS.get(form.get_content_type(), len(_FORMS)))
        texts = ("\n\n".join(_texts(form, source)) for form in forms)
        yield next(filter(str.strip, texts), "")
    elif part.get_content_maintype() == "multipart":
        for inner in within:
            yield from _texts(inner, source)


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


def _attachments(message: EmailMessage) -> Iterator[str]:
    """Yield the names of attached files, and the subjects of attached messages."""
    for part in message.walk():
        try:
            name = part.get_filename()
        except _BROKEN_HEADER:
            name = None
        if name:
            yield name
        elif part is not message and part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            if isinstance(inner, list) and inner and isinstance(inner[0], EmailMessage):
                yield _header(inner[0], "Subject") or "message"
