"""Detection of the language of a text, and of that in which a chunk is indexed."""

import re
from functools import lru_cache
from typing import Final

from shared.analysis.languages import LANGUAGES, counted_function_words

_PIECE: Final = 400  # characters of each sampled piece of a long text

_WEB_ADDRESS: Final = re.compile(r"(?:[a-z]{3,8}://|www\.)\S*")

_FEWEST_BYTES: Final = 30  # letters in UTF-8: about five words, or ten CJK characters

_LEAST_SHARE_OF_LETTERS: Final = 0.6  # with spaces between them; prose has 0.8 and more, JSON 0.55

_LEAST_SHARE_OF_LANGUAGE: Final = 50  # of the letters, in per cent

_FEWEST_FUNCTION_WORDS: Final = 2
"""Minimum number of function words of a language by which a text is taken to be in it; if the
detector says another language with such words, more of them, and twice as many as of that one."""

VOTING: Final = frozenset(
    ("da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ru", "sv")
)
"""Languages whose function words tell a language: the lists of near relatives, such as Catalan and
Galician, have too many words in common with them."""

_SINGLE: Final = re.compile(r"\b\w\b")
"""A letter by itself, which may be no word: those of a list, or of what is in a dish."""

_SHARE_BY_FUNCTION_WORDS: Final = 100  # share in per cent of a language that these words tell

_CODES: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "nb": "no", "nn": "no"}
"""ISO 639-1 codes for withdrawn codes and for the forms of Norwegian."""

_CODE_LENGTH: Final = 2


def detect_language(text: str, *, surely: bool = False) -> str | None:
    """Return the main language of a text, detected from a sample, as its ISO 639-1 code.

    The sample is the whole of a short text, or the beginning, the middle and the end of a long one.
    Digits, punctuation and web addresses are ignored. None if there is too little text, mostly
    other things than words, no main language, or one without such a code. A text that may be in no
    language at all has one only if the detector is `surely` right.
    """
    sample = _sampled(text)
    if "://" in sample or "www." in sample:
        sample = _WEB_ADDRESS.sub(" ", sample)
    data = sample.encode(errors="ignore")
    found = _detect(data, surely=surely)
    if found is None:
        return None
    code, share, letters = found
    if (
        len(code) != _CODE_LENGTH
        or letters < max(_FEWEST_BYTES, _LEAST_SHARE_OF_LETTERS * len(data))
        or share < _LEAST_SHARE_OF_LANGUAGE
    ):
        return None
    return code


_BY_SCRIPT: Final = {
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "zh": "\u3400-\u4dbf\u4e00-\u9fff",
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "el": "\u0370-\u03ff",
    "hi": "\u0900-\u097f",
    "th": "\u0e00-\u0e7f",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "bn": "\u0980-\u09ff",
    "hy": "\u0530-\u058f",
    "km": "\u1780-\u17ff",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
}
"""Most common language of a script, if the script is all that is known; Japanese texts have kana
beside the characters of Chinese ones."""

_VOWEL_MARKS: Final = re.compile("[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
"""Vowel marks of Arabic and Hebrew, which are removed because the detector does not know them."""

_LEAST_SHARE_OF_SCRIPT: Final = 0.2  # of the characters of a text, in the script of its language


def language_of(text: str, otherwise: object = None) -> str | None:
    """Return the language of `LANGUAGES` in which a chunk is indexed.

    None if neither the detector, nor function words, nor the document, whose language is given if
    it is known, nor the script tell one.
    """
    found = _detect(_sampled(text).encode(errors="ignore"), surely=False)
    if found is not None:
        code, share, letters = found
        is_told = letters >= _FEWEST_BYTES or share == _SHARE_BY_FUNCTION_WORDS
        if is_told and code in LANGUAGES:
            return code
    if isinstance(otherwise, str) and otherwise in LANGUAGES:
        return otherwise
    if text.isascii():
        return None
    least = max(1, _LEAST_SHARE_OF_SCRIPT * len(text))
    scripts = _BY_SCRIPT.items()
    return next((code for code, of in scripts if len(re.findall(f"[{of}]", text)) >= least), None)


def _sampled(text: str) -> str:
    """Return a short text, or pieces of a long one, without vowel marks."""
    if len(text) > 3 * _PIECE:
        begins = (0, (len(text) - _PIECE) // 2, len(text) - _PIECE)
        text = "\n".join(text[begin : begin + _PIECE] for begin in begins)
    return _VOWEL_MARKS.sub("", text)


# A document of one chunk is asked for twice.
@lru_cache(maxsize=16)
def _detect(data: bytes, *, surely: bool) -> tuple[str, int, int] | None:
    """Return the main language's code and share in per cent, and the size of the letters.

    The code is that of ISO 639-1 if there is one, without the script. The detector knows no
    language of many short texts, and mistakes names for a language; function words then tell.
    """
    import pycld2  # type: ignore[import-untyped]

    try:
        is_reliable, letters, languages = pycld2.detect(data)
    except pycld2.error:
        # The detector refuses characters that are not valid in interchange.
        printable = "".join(c if c.isprintable() else " " for c in data.decode())
        is_reliable, letters, languages = pycld2.detect(printable)
    _, detected, share, _ = languages[0]
    code = _CODES.get(detected, detected.partition("-")[0])
    if surely:
        return (code, share, letters) if is_reliable and code != "un" else None
    counts = counted_function_words(_SINGLE.sub(" ", data.decode()), VOTING)
    best, most = counts.most_common(1)[0] if counts else ("", 0)
    is_clear = list(counts.values()).count(most) == 1
    tells = most >= _FEWEST_FUNCTION_WORDS and is_clear
    if code == "un":
        return (best, _SHARE_BY_FUNCTION_WORDS, letters) if tells else None
    if not is_reliable and tells:
        code = best
    elif code in VOTING and most > _FEWEST_FUNCTION_WORDS and 2 * counts[code] <= most and is_clear:
        return best, _SHARE_BY_FUNCTION_WORDS, letters
    if letters < _FEWEST_BYTES and most and counts[code] == most:
        # Of few words, both have to say the same.
        share = _SHARE_BY_FUNCTION_WORDS
    return code, share, letters
