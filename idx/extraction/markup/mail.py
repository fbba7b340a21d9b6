"""E-mails: who wrote what to whom, and the names of what was attached."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.markup.html import decode_hypertext, read_hypertext
from idx.extraction.text.cleaning import normalize
from idx.extraction.text.declared_encoding import declared_codec
from idx.extraction.text.decoding import decode
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Extracted, Source

_SHOWN: Final = ("From", "To", "Cc", "Date", "Subject")

_BROKEN_HEADER: Final = (
    *(AttributeError, IndexError, LookupError, OverflowError, RecursionError, TypeError),
    ValueError,
)
"""What the standard library raises on some headers that do not keep to their grammar."""

_FORMS: Final = {"text/plain": 0, "multipart/related": 1, "text/html": 1}
"""The forms of a text, the plainest first, before all others."""


def extract_mail(source: Source) -> Extracted:
    """The main headers of an e-mail, its text, and the names of its attachments.

    Of a text in several forms the plain one is taken, else the one in HTML. All texts that are no
    attachments are read, one after the other.

    Raises:
        SourceFileError: there is no header in it.
    """
    message = BytesParser(policy=policy.default).parsebytes(source.data)
    if not message.keys() and source.data.strip():
        raise SourceFileError(source.file, "is a damaged e-mail: it has no headers")
    headers = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
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
    """The text of the message itself, of all its parts that are none of the attachments."""
    if message.get_content_maintype() == "multipart" and not message.is_multipart():
        # Parts that nothing separates are one text.
        return _content(message, source)
    return "\n\n".join(filter(str.strip, _texts(message, source)))


def _texts(part: EmailMessage, source: Source) -> Iterator[str]:
    """The texts of a part, of those within it, too; of one in several forms the plainest."""
    kind = part.get_content_type()
    within = [
        inner
        for inner in part.iter_parts()
        if isinstance(inner, EmailMessage) and not _is_attached(inner)
    ]
    if part.get_content_maintype() == "text":
        text = _content(part, source)
        yield read_hypertext(text).text if kind == "text/html" else text
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
    """The text of a part in the encoding that it declares, or in the one that its bytes are in."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    codec = _declared_codec(part)
    if codec is not None:
        with suppress(UnicodeError):
            # UTF-7 can spell halves of characters.
            return data.decode(codec).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if b"\x1b" in data and data.isascii():
            # Its bytes would be taken for letters of ASCII.
            return _decode_escapes(data, codec)
    try:
        if part.get_content_type() == "text/html":
            # The option is for texts that are files.
            options = replace(source.options, encoding=None)
            return decode_hypertext(replace(source, data=data, options=options))
        return decode(data, source.file)
    except SourceFileError:
        return data.decode(codec or "utf-8", errors="replace")


def _declared_codec(part: EmailMessage) -> str | None:
    """The codec of a part; None if none is declared that says how its bytes are to be read."""
    try:
        codec = declared_codec(part.get_content_charset("ascii"))
    except _BROKEN_HEADER:
        return None
    # What declares ASCII, or nothing, may be in any encoding.
    return None if codec == "ascii" else codec


def _decode_escapes(data: bytes, codec: str) -> str:
    """Text of ISO 2022, in which escapes say what the bytes after them stand for.

    Mails in Japanese have ①, ㈱ and Ⅱ in row 13 of JIS X 0208, which is free there. JIS X 0213 has
    them in that place, and the characters of JIS X 0208 in theirs.
    """
    if codec == "iso2022_jp":
        codec = "iso2022_jp_2004"
        for other, known in ((b"$@", b"$(Q"), (b"$B", b"$(Q"), (b"(J", b"(B")):
            data = data.replace(b"\x1b" + other, b"\x1b" + known)
    return data.decode(codec, errors="replace")


def _attachments(message: EmailMessage) -> Iterator[str]:
    """The names of attached files, and the subjects of attached messages."""
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
