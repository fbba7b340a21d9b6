"""Messages in MIME, parsed leniently: headers, and texts by whatever encoding they are in."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.headerregistry import BaseHeader, HeaderRegistry
from email.message import EmailMessage
from email.parser import BytesParser, Parser
from functools import cache
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError
from idx.extraction import media_types
from idx.markup.html import decode_hypertext
from idx.text.decoding import declared_codec, decode, detect_legacy, without_surrogates

BROKEN_HEADER: Final = (
    *(AttributeError, IndexError, LookupError, OverflowError, RecursionError, TypeError),
    ValueError,
)
"""Errors that the standard library raises on some malformed headers."""

_ENCODED_WORD: Final = r"=\?[^?\s]{1,60}\?[bq]\?[^?]*\?="
_ENCODED_WORDS: Final = re.compile(rf"{_ENCODED_WORD}(?:\s*{_ENCODED_WORD})*", re.IGNORECASE)
_PLAIN: Final = re.compile(r"(?:[\x00-\x1a\x1c-<>-\x7f]|=(?!\?))*+")
"""Header without encoded words, escape sequences and letters outside ASCII."""

_BARE_BOUNDARY: Final = re.compile(r"(;\s*boundary\s*=\s*)([^\s\";]*=[^\s\";]*)", re.IGNORECASE)
"""Boundary with an equals sign outside quotation marks, which the library does not read."""

_JAPANESE_ESCAPE: Final = b"\x1b$"

_MAX_HEADER: Final = 200_000  # length of a header: the library's time grows with its square

_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]{1,60})", re.IGNORECASE)
END_OF_HEADERS: Final = re.compile(rb"\r?\n\r?\n")
_BLANK_BEFORE_COLON: Final = re.compile(rb"^([!-9;-~]+)[ \t]+(?=:)", re.MULTILINE)
_NOT_ENCODED: Final = frozenset({"7bit", "8bit", "binary"})

_MAX_BAD_SHARE: Final = 1 / 10
"""Maximum share of a text's letters outside ASCII that its encoding may leave undefined."""

_END_OF_FILE: Final = rb"(?:[` ]?[ \t]*\r?\n)?end[ \t]*(?:\r?\n|\Z)"
_UUENCODED: Final = re.compile(
    rb"^begin [0-7]{3,4} (?P<name>[^\r\n]{1,200})\r?\n"
    rb"(?P<lines>(?P<full>(?:M[ -`]{60,61}\r?\n){3,}+)?(?:[!-M][ -`]{0,62}\r?\n)*+)"
    rb"(?(full)(?:" + _END_OF_FILE + rb")?|" + _END_OF_FILE + rb")",
    re.MULTILINE,
)
"""File within a text; a long one may be cut off."""

_ADDRESSES: Final = re.compile(r"https?://\S+|www\.\S+")
_WORD: Final = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]{2,}")
_MAX_STUB_WORDS: Final = 200
_MIN_MORE_WORDS: Final = 5
_MAX_STUB_SHARE: Final = 2 / 3
"""A form of a text with so many fewer words, and less than this share, says to read another one."""


class _LenientHeaders(HeaderRegistry):
    """Parser of headers that has their letters, however those were written.

    Bytes outside ASCII that are not UTF-8 are in `codec`.
    """

    def __init__(self, codec: str) -> None:
        super().__init__()
        self._codec = codec
        # The library parses a header each time that it is asked for: its type twenty times.
        self._parsed = cache(self._lenient)

    def __call__(self, name: str, value: str) -> BaseHeader:
        return self._parsed(name, value)

    def _lenient(self, name: str, value: str) -> BaseHeader:
        value = _BARE_BOUNDARY.sub(r'\1"\2"', value[:_MAX_HEADER], count=1)
        if not _PLAIN.fullmatch(value):
            # As a whole, since some programs divide a letter between two encoded words.
            text = _by(value.encode(errors="surrogateescape"), self._codec)
            value = _ENCODED_WORDS.sub(_as_one_word, text)
        return super().__call__(name, value)


def parsed(data: bytes) -> EmailMessage:
    wide = _utf_16(data)
    if wide:
        data = data.decode(wide, errors="replace").encode()
    data = data.removeprefix(codecs.BOM_UTF8)
    end = END_OF_HEADERS.search(data)
    headers = data[: end.start()] if end else data
    # Allowed until RFC 2822, and unknown to the library.
    data = _BLANK_BEFORE_COLON.sub(rb"\1", headers) + data[len(headers) :]
    lenient = policy.default.clone(header_factory=_LenientHeaders(_codec_of_headers(data)))
    message = BytesParser(policy=lenient).parsebytes(data)
    if wide:
        _declare_utf_8(message)
    return message


def _utf_16(data: bytes) -> str | None:
    """Return the variant of UTF-16 that a message is in; its first letter is one of ASCII."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return {0: "utf-16-be", 1: "utf-16-le"}.get(data[:2].find(b"\0"))


def _declare_utf_8(message: EmailMessage) -> None:
    """Change the charset of parts that are not encoded, which the file has changed."""
    for part in message.walk():
        with suppress(*BROKEN_HEADER):
            if part.get("Content-Transfer-Encoding", "8bit").lower() in _NOT_ENCODED:
                part.set_param("charset", "utf-8")


def parsed_headers(text: str) -> EmailMessage:
    lenient = policy.default.clone(header_factory=_LenientHeaders("utf-8"))
    return Parser(policy=lenient).parsestr(text, headersonly=True)


def header(message: EmailMessage, name: str) -> str | None:
    try:
        value = message[name]
    except BROKEN_HEADER:
        value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), None)
    return None if value is None else whole(str(value))


def file_name(part: EmailMessage) -> str | None:
    try:
        name = part.get_filename()
    except BROKEN_HEADER:
        return None
    return name if name is None else whole(name)


def is_attachment(part: EmailMessage) -> bool:
    try:
        return part.get_content_disposition() == "attachment"
    except BROKEN_HEADER:
        return False


def payload(part: EmailMessage) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def whole(text: str) -> str:
    """Join the bytes of letters that were divided between sections of a value."""
    return (
        text if text.isascii() else text.encode(errors="surrogateescape").decode(errors="replace")
    )


def decoded_words(text: str) -> str:
    """Decode the encoded words of RFC 2047 in a text."""
    return _ENCODED_WORDS.sub(lambda match: _decoded(match[0]), text) if "=?" in text else text


def _as_one_word(match: re.Match[str]) -> str:
    """Return encoded words as one in UTF-8, which has its meaning for the parser of addresses."""
    text = _decoded(match[0])
    return text if text == match[0] else f"=?utf-8?b?{base64.b64encode(text.encode()).decode()}?="


def _decoded(words: str) -> str:
    try:
        parts = decode_header(words)
    except (HeaderParseError, ValueError):
        return words
    return "".join(
        part if isinstance(part, str) else _word(part, charset or "") for part, charset in parts
    )


def _word(data: bytes, charset: str) -> str:
    codec = declared_codec(charset.partition("*")[0])
    if codec is None or codec == "ascii":
        return _by(data, "cp1252")
    if codec.startswith("iso2022"):
        return _decode_escapes(data, codec)
    return without_surrogates(data.decode(codec, errors="replace"))


def _by(data: bytes, codec: str) -> str:
    if _JAPANESE_ESCAPE in data:
        return _decode_escapes(data, "iso2022_jp")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(codec, errors="replace")


def _codec_of_headers(data: bytes) -> str:
    """Return the encoding of bytes in headers: the one that a text declares, or the likely one."""
    if data.isascii():
        return "utf-8"
    for match in _CHARSET.finditer(data):
        codec = declared_codec(match[1].decode("ascii", "replace"))
        if codec and codec not in {"ascii", "utf-8"}:
            return codec
    end = END_OF_HEADERS.search(data)
    headers, body = (data[: end.start()], data[end.end() :]) if end else (data, b"")
    with suppress(UnicodeDecodeError):
        body.decode()
        return "utf-8" if headers.isascii() else _likely(headers)
    return _likely(data)


def _likely(data: bytes) -> str:
    return declared_codec(detect_legacy(data)) or "cp1252"


def content(part: EmailMessage, file: Path) -> str:
    """Decode the text of a part, without the files that are written in it."""
    data = payload(part)
    is_page = part.get_content_type() == media_types.HTML
    if not is_page:
        data = _UUENCODED.sub(b"", data)
    return decoded(data, declared_charset(part), file, is_page=is_page)


def decoded(data: bytes, codec: str | None, file: Path, *, is_page: bool = False) -> str:
    """Decode a text by its declared encoding, or the one detected."""
    if codec == "ascii":
        # A text that declares ASCII or nothing may be in any encoding.
        codec = None
    if codec is not None:
        with suppress(UnicodeError):
            return without_surrogates(data.decode(codec))
        if b"\x1b" in data and data.isascii():
            # Its bytes would be taken for ASCII letters.
            return _decode_escapes(data, codec)
        text = data.decode(codec, errors="replace")
        bad = text.count("\ufffd")
        if codec != "utf-8" and bad <= max(1, _MAX_BAD_SHARE * sum(map("\x7f".__lt__, text))):
            return text
    try:
        if is_page:
            return decode_hypertext(data, file)
        return decode(data, file)
    except SourceFileError:
        return data.decode(codec or "utf-8", errors="replace")


def declared_charset(part: EmailMessage) -> str | None:
    try:
        return declared_codec(part.get_content_charset("ascii"))
    except BROKEN_HEADER:
        return None


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


def is_richer(text: str, best: str) -> bool:
    """Check whether a form of a text says more than the preferred one, which may be a stub."""
    had, has = _words(best), _words(text)
    if not had:
        return has > 0 or (bool(text.strip()) and not best.strip())
    return has - had >= _MIN_MORE_WORDS and had < _MAX_STUB_SHARE * has


def may_be_stub(text: str) -> bool:
    """Check whether a text is short enough to say only that another form of it shall be read."""
    return _words(text) < _MAX_STUB_WORDS


def _words(text: str) -> int:
    return len(_WORD.findall(_ADDRESSES.sub("", text)))


def uuencoded(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of files that are written in a text, as before MIME."""
    for match in _UUENCODED.finditer(data):
        unpacked = bytearray()
        for line in match["lines"].splitlines():
            # Some programs write more or fewer letters than the length of a line says.
            count = (line[0] - 32) & 63
            with suppress(binascii.Error):
                unpacked += binascii.a2b_uu(line[: 1 + -(-count // 3) * 4])
        yield match["name"].decode(errors="replace").strip(), bytes(unpacked)


_QUOTED_LINE: Final = re.compile(r"[ \t\ufdd0\ufdd1]*>(.*)", re.DOTALL)
_BLANKS: Final = " \t\ufdd0\ufdd1"
"""Blanks, and the characters that stand for them in preformatted text."""

_INTRODUCTION: Final = re.compile(
    r"(?:On|Am|Le|El|Il|Em|Op|Den|W dniu)\b.{5,200}"
    r"(?:wrote|schrieb|écrit|escribió|scritto|escreveu|schreef|skrev|napisał).{0,80}:",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR: Final = re.compile(
    r"-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d.origine|Mensaje original|"
    r"Messaggio originale|Oorspronkelijk bericht)\s*-{2,}|_{20,}",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"\*?(?:From|Von|De|Da|Van|Sent|Gesendet|Envoyé|Enviado|Date|Datum|To|An|À|Para|Subject|Betreff|"
    r"Objet|Asunto)\s?:.*",
    re.IGNORECASE,
)

_MIN_HEADERS: Final = 3  # header lines after a separator, by which a copied message is recognized


def quoted_apart(text: str) -> tuple[str, str]:
    """Divide the text of a message into its own and what it quotes, without marks.

    Quotations of quotations are left out: they are in the messages in between. A forwarded message
    is not a quotation, since the text is often nothing but it.
    """
    own: list[str] = []
    quoted: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _begins_copy(lines, number):
            quoted += [each for each in lines[number:] if not _SEPARATOR.fullmatch(_plain(each))]
            break
        match = _QUOTED_LINE.fullmatch(line)
        if match is None:
            own.append(line)
            continue
        inner = match[1].lstrip(_BLANKS)
        if not quoted or own[-1:] != [""]:
            _drop_introduction(own, quoted)
        if not inner.startswith(">"):
            quoted.append(inner)
    if not any(_plain(line) for line in own):
        return text, ""
    return "\n".join(own), "\n".join(quoted).strip("\n")


def _plain(line: str) -> str:
    return " ".join(line.translate({0xFDD0: " ", 0xFDD1: " "}).split())


def _drop_introduction(own: list[str], quoted: list[str]) -> None:
    """Move the line that says who wrote the quoted text to it; it may be broken in two."""
    while own and not _plain(own[-1]):
        own.pop()
    for count in (1, 2):
        said = " ".join(map(_plain, own[-count:]))
        if len(own) >= count and _INTRODUCTION.fullmatch(said):
            del own[-count:]
            quoted.append(said)
            return
    own.append("")


def _begins_copy(lines: list[str], number: int) -> bool:
    """Check whether a separator and the headers of a copied message begin at a line."""
    if not _SEPARATOR.fullmatch(_plain(lines[number])):
        return False
    after = [plain for line in lines[number + 1 : number + 12] if (plain := _plain(line))]
    return sum(_HEADER.fullmatch(line) is not None for line in after) >= _MIN_HEADERS
