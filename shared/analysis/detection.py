"""Detection of the language of a text, and of the languages in which a chunk is indexed."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from shared.analysis.languages import LANGUAGES, WITH_LEMMAS
from shared.analysis.stop_words import WITH_FUNCTION_WORDS, counted_function_words

_PIECE: Final = 400
"""Length of each sampled piece of a long text, in characters."""

_WEB_ADDRESS: Final = re.compile(r"(?:[a-z]{3,8}://|www\.)\S*")

_FEWEST_BYTES: Final = 30
"""Minimum number of letters for a detection, in bytes of UTF-8: about five words, or ten CJK
characters."""

_LEAST_SHARE_OF_LETTERS: Final = 0.6
"""Minimum share of letters and the spaces between them; prose has at least 0.8, JSON about 0.55."""

_LEAST_SHARE_OF_LANGUAGE: Final = 50
"""Minimum share of the letters that are in the main language, in per cent."""

_FEWEST_FUNCTION_WORDS: Final = 2
"""Minimum number of function words of a language by which a text is taken to be in it; if the
detector says another language with such words, more of them, and twice as many as of that one."""

_SHARE_BY_FUNCTION_WORDS: Final = 100
"""Share in per cent of a language that the function words tell."""

_CODES: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "nb": "no", "nn": "no"}
"""ISO 639-1 codes for withdrawn codes and for the forms of Norwegian."""

_CODE_LENGTH: Final = 2


def detect_language(text: str, *, surely: bool = False) -> str | None:
    """Return the main language of a text, detected from a sample.

    The sample is the whole of a short text, or the beginning, the middle and the end of a long one.
    Digits, punctuation and web addresses are ignored.

    Args:
        text: any text.
        surely: whether only an answer of which the detector is sure counts, for a text that may be
            in no language at all.

    Returns:
        The ISO 639-1 code, such as ``de``. None if there is too little text, mostly other things
        than words, no main language, or one without such a code.
    """
    sample = "\n".join(_pieces(text))
    if "://" in sample or "www." in sample:
        sample = _WEB_ADDRESS.sub(" ", sample)
    data = _VOWEL_MARKS.sub("", sample).encode(errors="ignore")
    found = _detect(data, surely=surely)
    if found is None:
        return None
    code, share, letters = found
    code = _code(code)
    if (
        len(code) != _CODE_LENGTH
        or letters < max(_FEWEST_BYTES, _LEAST_SHARE_OF_LETTERS * len(data))
        or share < _LEAST_SHARE_OF_LANGUAGE
    ):
        return None
    return code


_PASSAGE: Final = 150
"""Length of each sampled passage of a chunk, in characters."""

_PASSAGES: Final = 3

_SHORT: Final = 300
"""Maximum length of a text, in characters, that is indexed in every language with lemmas if none is
detected."""

_FALLBACK: Final = ("en",)
"""Languages of longer texts without a detected language, such as programs and tables."""

_BY_SCRIPT: Final = {
    "[\u0400-\u04ff]": ("bg", "ru", "sr", "uk"),
    "[\u0600-\u06ff]": ("ar", "fa"),
    "[\u0900-\u097f]": ("hi", "ne"),
    "[\u3040-\u30ff\u4e00-\u9fff]": ("ja", "zh"),
}
"""Languages by the script of a text, if the script is all that is known."""

_VOWEL_MARKS: Final = re.compile("[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
"""Vowel marks of Arabic and Hebrew, which are removed because the detector does not know them."""

_SENTENCE: Final = re.compile(r"[^.!?\n]{20,}")


def languages_of(text: str) -> tuple[str, ...]:
    """Return the detected languages of a chunk.

    Each sentence of a short text, and each of three passages of a long one, may be in another
    language.

    Args:
        text: the content of a chunk.

    Returns:
        Codes of `LANGUAGES`, usually one; none if no language is detected.
    """
    if not text.isascii():
        text = _VOWEL_MARKS.sub("", text)
    if len(text) <= _PASSAGE * _PASSAGES:
        passages = chain([text], _SENTENCE.findall(text))
    else:
        step = (len(text) - _PASSAGE) // (_PASSAGES - 1)
        passages = chain(text[begin : begin + _PASSAGE] for begin in range(0, len(text), step))
    found = [_detect(passage.encode(errors="ignore")) for passage in passages]
    codes = dict.fromkeys(
        _code(language) for language, _, letters in filter(None, found) if letters >= _FEWEST_BYTES
    )
    return tuple(code for code in codes if code in LANGUAGES)


def presumed_languages(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be written in if none is detected.

    Returns:
        The languages of the text's script, if it is significant; else `WITH_LEMMAS` for a short
        text, and English for a longer one.
    """
    for letters, languages in _BY_SCRIPT.items():
        if re.search(letters, text):
            return languages
    return WITH_LEMMAS if len(text) <= _SHORT else _FALLBACK


def _code(language: str) -> str:
    """Return the ISO 639-1 code of a language, without its script."""
    return _CODES.get(language, language.partition("-")[0])


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= 3 * _PIECE:
        yield text
        return
    for begin in (0, (len(text) - _PIECE) // 2, len(text) - _PIECE):
        yield text[begin : begin + _PIECE]


def _detect(data: bytes, *, surely: bool = False) -> tuple[str, int, int] | None:
    """Return the main language's code and share in per cent, and the size of the letters.

    The detector knows no language of many short texts, and mistakes names for a language; the
    function words of a text then tell.
    """
    import pycld2  # type: ignore[import-untyped]

    try:
        is_reliable, letters, languages = pycld2.detect(data)
    except pycld2.error:
        # The detector refuses characters that are not valid in interchange.
        printable = "".join(c if c.isprintable() else " " for c in data.decode())
        is_reliable, letters, languages = pycld2.detect(printable)
    _, code, share, _ = languages[0]
    if surely:
        return (code, share, letters) if is_reliable and code != "un" else None
    counts = counted_function_words(data.decode())
    best, most = counts.most_common(1)[0] if counts else ("", 0)
    is_clear = list(counts.values()).count(most) == 1
    tells = most >= _FEWEST_FUNCTION_WORDS and is_clear
    if code == "un":
        return (best, _SHARE_BY_FUNCTION_WORDS, letters) if tells else None
    if not is_reliable:
        return best if tells else code, share, letters
    own = _code(code)
    if (
        own in WITH_FUNCTION_WORDS
        and most > _FEWEST_FUNCTION_WORDS
        and 2 * counts[own] <= most
        and is_clear
    ):
        return best, _SHARE_BY_FUNCTION_WORDS, letters
    return code, share, letters
