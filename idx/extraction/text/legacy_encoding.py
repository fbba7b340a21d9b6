"""Decoding of text in legacy encodings, from before Unicode."""

import re
from typing import Final

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


class UndecidedEncodingError(ValueError):
    """No encoding decodes the bytes to text."""


def decode_legacy(data: bytes) -> str:
    """Decode bytes in their most likely legacy encoding.

    A byte that the encoding does not define becomes U+FFFD.

    Args:
        data: all bytes of a text that is neither UTF-8 nor binary.

    Raises:
        UndecidedEncodingError: the result is not text: more than one in a hundred non-ASCII
            characters is undefined, or more than one in five of those between two letters is a
            symbol, as when text from DOS is decoded as that of Windows.
    """
    label = detect_legacy(data)
    codecs = _CODECS.get(label, (label,))
    text = next(filter(None, (_strict(data, codec) for codec in codecs)), "")
    text = text or data.decode(codecs[0], errors="replace")
    outside_ascii = len(text) - (len(data) - len(data.translate(None, _ASCII)))
    if text.count("\ufffd") > _MAX_UNDEFINED_SHARE * outside_ascii:
        raise UndecidedEncodingError(label)
    # The encoding has one byte per character, so that offsets in bytes and text agree.
    if label == "windows-1252" and _has_too_many_symbols(text[_informative_range(data)]):
        raise UndecidedEncodingError(label)
    return text


def detect_legacy(data: bytes) -> str:
    """Return the name of the most likely encoding, based on a sample of at most 16 KiB.

    The sample omits ASCII lines, which carry no information; a line break is never part of another
    character.

    Args:
        data: all bytes of a text, at least one of them outside ASCII.

    Returns:
        The detector's name for the encoding, such as ``windows-1252``.
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
