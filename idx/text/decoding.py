"""Decoding of plain text, with detection of its encoding."""

import codecs
import re
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError

_CODECS: Final = {
    # Names that denote the wider encodings of Windows on the web, but the standards in Python.
    "Big5": ("cp950", "big5hkscs"),
    "EUC-JP": ("euc_jp", "euc_jis_2004"),
    "EUC-KR": ("cp949",),
    "Shift_JIS": ("cp932", "shift_jis_2004"),
}
"""Codecs to try for a name returned by the detector; other names are also Python's."""

_ASCII: Final = bytes(range(0x80))
_MAX_SCANNED_BYTES: Final = 1 << 20
_MAX_SAMPLE_BYTES: Final = 1 << 14
_CONTEXT_BYTES: Final = 100

_MAX_UNDEFINED_SHARE: Final = 1 / 100
_WITHIN_WORDS: Final = re.compile(r"(?<=[^\W\d_])[^\0-\x7f](?=[^\W\d_])")
# Quotation marks used as apostrophes, dashes, the middle dot, the soft hyphen.
_JOINING: Final = frozenset("\u2018\u2019\u2013\u2014\xb7\xad")
_MAX_SYMBOL_SHARE_WITHIN_WORDS: Final = 1 / 5


def _decode_legacy(data: bytes) -> str | None:
    """Decode bytes in their most likely legacy encoding.

    A byte that the encoding does not define becomes U+FFFD. The result is refused if more than one
    in a hundred non-ASCII characters is undefined, or more than one in five of those between two
    letters is a symbol, as when text from DOS is decoded as that of Windows.
    """
    label = detect_legacy(data)
    codecs = _CODECS.get(label, (label,))
    text = next(filter(None, (_strict(data, codec) for codec in codecs)), "")
    text = text or data.decode(codecs[0], errors="replace")
    outside_ascii = len(text) - (len(data) - len(data.translate(None, _ASCII)))
    if text.count("\ufffd") > _MAX_UNDEFINED_SHARE * outside_ascii:
        return None
    # The encoding has one byte per character, so that offsets in bytes and text agree.
    is_doubtful = label == "windows-1252" and _has_too_many_symbols(text[_informative_range(data)])
    return None if is_doubtful else text


def detect_legacy(data: bytes) -> str:
    """Return the most likely encoding by its name in the detector, such as ``windows-1252``.

    The sample of at most 16 KiB omits ASCII lines, which carry no information; a line break is
    never part of another character.
    """
    from chardetng_py import EncodingDetector  # type: ignore[import-untyped]

    lines = data[_informative_range(data)].split(b"\n")
    sample = b"\n".join(line for line in lines if not line.isascii())[:_MAX_SAMPLE_BYTES]
    detector = EncodingDetector()
    # A truncated character at the end would count against the right encoding.
    detector.feed(sample, last=len(sample) < _MAX_SAMPLE_BYTES)
    label: str = detector.guess(tld=None, allow_utf8=False)
    return label


def _informative_range(data: bytes) -> slice:
    """Return the range of at most 1 MiB from the first word with a non-ASCII character."""
    first = len(data) - len(data.lstrip(_ASCII))
    begin = max(0, first - _CONTEXT_BYTES)
    return slice(begin, begin + _MAX_SCANNED_BYTES)


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _has_too_many_symbols(text: str) -> bool:
    within_words = [sign for sign in _WITHIN_WORDS.findall(text) if sign not in _JOINING]
    symbols = sum(not sign.isalpha() for sign in within_words)
    return symbols > _MAX_SYMBOL_SHARE_WITHIN_WORDS * len(within_words)


_ALIASES: Final = {
    "x-sjis": "shift_jis",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "x-x-big5": "big5",
    **{f"windows-{number}": f"cp{number}" for number in (874, 932, 936, 949, 950)},
    "cp20936": "gbk",
    "cp20949": "cp949",
    "cp38598": "iso8859-8",
    "dos-720": "cp720",
    "dos-874": "cp874",
    **{f"x-cp125{number}": f"cp125{number}" for number in range(9)},
    **dict.fromkeys(("iso-8859-8-i", "iso-8859-8-e", "logical", "visual"), "iso8859-8"),
    **dict.fromkeys(("x-mac-cyrillic", "x-mac-ukrainian"), "mac_cyrillic"),
    "x-mac-roman": "mac_roman",
    "x-mac-ce": "mac_latin2",
    "x-mac-greek": "mac_greek",
    "x-mac-icelandic": "mac_iceland",
    "x-mac-turkish": "mac_turkish",
}
"""Labels of the WHATWG Encoding Standard, and of Windows, that Python does not know."""

_BROWSER_CODECS: Final = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""Wider encodings meant by the names of standards, which Python takes literally.

They are those of Windows and similar (the WHATWG Encoding Standard).
"""

_NOT_TEXT_CODECS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""Codecs of Python that no text is written in; some take excessive time."""


def declared_codec(name: str) -> str | None:
    """Return Python's codec for a declared encoding, such as ``cp1252`` for ISO-8859-1, or None."""
    try:
        codec = codecs.lookup(_ALIASES.get(name.lower(), name)).name
        # Raises an error for codecs such as base64, which do not produce text.
        "".encode(codec)
    except (LookupError, TypeError, ValueError):
        return None
    return None if codec in _NOT_TEXT_CODECS else _BROWSER_CODECS.get(codec, codec)


_BYTE_ORDER_MARKS: Final = {
    # UTF-32 first, because its mark begins with that of UTF-16.
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
# UTF-32 first, because it is also valid UTF-16 with a null character after each letter.
_WIDE_CODECS: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
# All control characters except white space, backspace (overstrikes) and escape (terminal colours).
_CONTROL_BYTES: Final = bytes({*range(0x20), 0x7F} - set(b"\b\t\n\v\f\r\x1b"))
# Separators in logs and tables, which do not occur in text.
_SEPARATORS: Final = b"\x01\x02\x03\x1c\x1d\x1e\x1f"
# ISO-2022-JP is ASCII with escape sequences, and therefore also valid UTF-8.
_JAPANESE_ESCAPES: Final = (b"\x1b$B", b"\x1b$@")
_CUT_OFF: Final = re.compile(rb"(?:[\xc3-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4].{2})\Z")
# Spaces, letters and punctuation that every text contains, but not with its bytes swapped.
_COMMON: Final = re.compile(r"[\t\n\r -~\u3000-\u3002\uff0c]")

_SAMPLE_BYTES: Final = 8192
_VISIBLE_ASCII: Final = bytes({*range(0x20, 0x7F)} | set(b"\t\n\r"))
_MAX_CONTROL_SHARE: Final = 1 / 20
"""Maximum share of control characters in text; in compressed data it is a tenth."""

_MIN_VALID_PER_STRAY_BYTE: Final = 5
"""Minimum number of valid sequences per stray byte in UTF-8.

Real texts in legacy encodings had at most 0.9 (see docs/languages.md).
"""


_TAGS: Final = re.compile("[\U000e0000-\U000e0fff]+")  # tags, and variations of signs


def decode(data: bytes, file: str | Path, encoding: str | None = None) -> str:
    """Decode text, without its byte order mark and characters that nobody sees.

    If no encoding is given, the first of these applies: that of the byte order mark; UTF-8; UTF-16
    or UTF-32 without a mark, if the bytes show it clearly; UTF-8 with stray bytes, each of which
    becomes U+FFFD; the legacy encoding that a detector finds.
    """
    return without_tags(_decoded(data, file, encoding))


def without_tags(text: str) -> str:
    """Return a text without characters that nobody sees, and models read."""
    return text if text.isascii() else _TAGS.sub("", text)


def without_surrogates(text: str) -> str:
    """Join the surrogates of pairs, which some formats write as characters; replace others."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decoded(data: bytes, file: str | Path, encoding: str | None) -> str:
    if encoding is None:
        marked = (codec for mark, codec in _BYTE_ORDER_MARKS.items() if data.startswith(mark))
        chosen = next(marked, "")
        if not chosen:
            return _decode_undeclared(data, file)
        if chosen == "utf-8-sig":
            # The mark proves UTF-8 in spite of any stray bytes.
            return _without_nulls(data.decode(chosen, errors="replace"), file)
        help_ = "name its encoding with --encoding, for example --encoding cp1252"
    else:
        chosen, help_ = encoding, "name another encoding, or leave --encoding out"
    try:
        text = data.decode(chosen)
    except LookupError as error:
        raise SourceFileError(file, f"there is no encoding {chosen!r}") from error
    except UnicodeDecodeError as error:
        raise SourceFileError(
            file,
            f"is not {chosen} text: byte {data[error.start]:#04x} at offset {error.start}; {help_}",
        ) from error
    except UnicodeError as error:
        raise SourceFileError(file, f"cannot be read as {chosen!r}: {error}") from error
    return _without_nulls(text.removeprefix("\ufeff"), file)


def is_binary(data: bytes) -> bool:
    """Check whether bytes are not text in any encoding, judging by the first 8 KiB.

    A text has no null bytes outside UTF-16 and UTF-32, and few other control characters.
    """
    sample = data[:_SAMPLE_BYTES]
    if sample.startswith((*_BYTE_ORDER_MARKS,)):
        return False
    if b"\0" in sample:
        return _wide_encoding(sample) is None
    unlikely = _CONTROL_BYTES.translate(None, _SEPARATORS) if _is_utf_8(sample) else _CONTROL_BYTES
    return len(sample) - len(sample.translate(None, unlikely)) > _MAX_CONTROL_SHARE * len(sample)


def _is_utf_8(sample: bytes) -> bool:
    """Check whether a sample is UTF-8, possibly truncated within a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < _SAMPLE_BYTES)
    except UnicodeDecodeError:
        return False
    return True


def _decode_undeclared(data: bytes, file: str | Path) -> str:
    if b"\0" in data:
        wide = _wide_encoding(data)
        if wide is None:
            raise _binary(file, data.index(0))
        return _without_nulls(data.decode(wide, errors="replace"), file)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _decode_not_utf_8(data, file)
    if b"\x1b" in data and any(escape in data for escape in _JAPANESE_ESCAPES):
        try:
            return data.decode("iso2022_jp")
        except UnicodeDecodeError:
            return text
    return text


def _decode_not_utf_8(data: bytes, file: str | Path) -> str:
    text = data.decode(errors="replace")
    high = len(data.translate(None, _ASCII))
    stray = text.count("\ufffd") - data.count("\ufffd".encode())
    valid = len(text) - (len(data) - high) - stray
    # The last character may be truncated, as at the end of a partial file.
    if _CUT_OFF.search(data[-3:]):
        stray -= 1
    if valid and valid >= _MIN_VALID_PER_STRAY_BYTE * stray:
        return text
    if is_binary(data):
        raise SourceFileError(file, "is binary, not text")
    legacy = _decode_legacy(data)
    if legacy is None:
        raise SourceFileError(
            file,
            "is not text in any encoding that was tried; name its encoding with --encoding, "
            "for example --encoding cp1252",
        )
    return legacy


def _wide_encoding(data: bytes) -> str | None:
    """Return the variant of UTF-16 or UTF-32 in which bytes without a mark are text."""
    sample = data[:_SAMPLE_BYTES]
    # Non-ASCII UTF-16 is hardly ever valid UTF-8, but UTF-8 read as UTF-16 would look Chinese.
    if _is_ascii_with_nulls(sample) or (not sample.isascii() and _is_utf_8(sample)):
        return None
    readings = ((codec, _wide_text(sample, codec)) for codec in _WIDE_CODECS)
    likely = [
        (len(_COMMON.findall(text)), codec)
        for codec, text in readings
        if text and _is_printable(text)
    ]
    common, codec = max(likely, key=lambda reading: reading[0], default=(0, None))
    return codec if common else None


def _is_ascii_with_nulls(sample: bytes) -> bool:
    """Check whether a sample is ASCII with some null bytes, whose pairs would look Chinese."""
    nulls = sample.count(0)
    others = len(sample.translate(None, _VISIBLE_ASCII)) - nulls
    return 3 * nulls < len(sample) and others < _MAX_CONTROL_SHARE * len(sample)


def _wide_text(sample: bytes, codec: str) -> str:
    """Decode a sample with a codec; "" if it is not text."""
    try:
        # The sample may end within a character.
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return ""


def _is_printable(text: str) -> bool:
    if "\0" in text:
        return False
    visible = "".join(text.split())
    return sum(map(str.isprintable, visible)) >= (1 - _MAX_CONTROL_SHARE) * len(visible)


def _without_nulls(text: str, file: str | Path) -> str:
    if "\0" in text:
        raise _binary(file, text.index("\0"))
    return text


def _binary(file: str | Path, offset: int) -> SourceFileError:
    return SourceFileError(file, f"is binary, not text: a null character at offset {offset}")
