"""Which language a text is in."""

import re
from collections.abc import Iterator
from typing import Final

_PIECE: Final = 400
"""Characters of each of the pieces of a long text that are looked at."""

_WEB_ADDRESS: Final = re.compile(r"(?:[a-z]{3,8}://|www\.)\S*")

_FEWEST_BYTES: Final = 30
"""Letters, in UTF-8, of the least that a language is told from: about five words, or ten signs."""

_LEAST_SHARE_OF_LETTERS: Final = 0.6
"""Of prose, at least 0.8 is letters and the spaces between them; of JSON about 0.55."""

_LEAST_SHARE_OF_LANGUAGE: Final = 50
"""Per cent of the letters that have to be in the main language."""

_CODES: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "nb": "no", "nn": "no"}
"""Withdrawn codes, and the forms of Norwegian, as the codes that ISO 639-1 has for them."""

_CODE_LENGTH: Final = 2


def detect_language(text: str) -> str | None:
    """The main language of a text, by a sample of it.

    The sample is the whole of a short text, and the beginning, the middle and the end of a long
    one. Digits, punctuation and web addresses in it count for nothing.

    Args:
        text: any text.

    Returns:
        The ISO 639-1 code, such as ``de``. None where there is too little text, mostly other
        things than words, no main language, or one without such a code.
    """
    sample = "\n".join(_pieces(text))
    if "://" in sample or "www." in sample:
        sample = _WEB_ADDRESS.sub(" ", sample)
    data = sample.encode(errors="ignore")
    found = _detect(data)
    if found is None:
        return None
    code, share, letters = found
    code = _CODES.get(code, code.partition("-")[0])
    if (
        len(code) != _CODE_LENGTH
        or letters < max(_FEWEST_BYTES, _LEAST_SHARE_OF_LETTERS * len(data))
        or share < _LEAST_SHARE_OF_LANGUAGE
    ):
        return None
    return code


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= 3 * _PIECE:
        yield text
        return
    for begin in (0, (len(text) - _PIECE) // 2, len(text) - _PIECE):
        yield text[begin : begin + _PIECE]


def _detect(data: bytes) -> tuple[str, int, int] | None:
    """The detector's code of the main language, its share in per cent, and the letters' bytes."""
    import pycld2  # type: ignore[import-untyped]

    try:
        is_reliable, letters, languages = pycld2.detect(data)
    except pycld2.error:
        # It refuses the characters that are forbidden in the exchange of text.
        printable = "".join(c if c.isprintable() else " " for c in data.decode())
        is_reliable, letters, languages = pycld2.detect(printable)
    _, code, share, _ = languages[0]
    return (code, share, letters) if is_reliable and code != "un" else None
