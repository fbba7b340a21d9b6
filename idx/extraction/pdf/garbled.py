"""Recognition of text that is none: fonts of a PDF that do not say which letters they show.

Programs then copy numbers of glyphs, which look like letters: "7KH UHQW LV GXH" for "The rent is
due". Such a page would never be found, and be shown to people and models as its text.
"""

import re
from typing import Final

from idx.errors import SourceFileError
from shared.analysis.detection import detect_language


class GarbledError(SourceFileError):
    """A file has no text but that of fonts that do not say which letters they show."""


_MIN_CHARACTERS: Final = 40
"""Minimum length of a text that is judged, in characters without white space."""

_MAX_UNKNOWN_SHARE: Final = 0.3
"""Maximum share of characters that are no letters of any script; symbols of lists are fewer."""

_UNKNOWN: Final = re.compile(
    "[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f\x7f-\x9f\U000f0000-\U0010ffff]"
)

_COMMON_WORDS: Final = frozenset(
    (
        *("the", "of", "and", "to", "in", "is", "that", "for", "it", "on", "with", "as", "by"),
        *("are", "this", "be", "der", "die", "und", "das", "den", "von", "zu", "mit", "ist", "im"),
        *("nicht", "auf", "ein", "eine", "le", "la", "les", "des", "et", "que", "un", "une", "du"),
        *("en", "pour", "dans", "est", "el", "los", "las", "por", "con", "del", "il", "che", "di"),
        *("per", "non", "sono", "della", "os", "da", "do", "em", "um", "een", "het", "van", "op"),
        *("dat", "de", "att", "det", "som", "av", "til", "ikke", "na", "się", "nie", "jest", "je"),
        *("se", "že", "ve", "bir", "bu", "ile", "az", "egy", "hogy", "ja", "ei", "că", "și", "în"),
        *("не", "на", "что", "по", "как", "это"),
    )
)
"""Words that make up a fifth of any text in one of the languages with most documents."""

_WORD: Final = re.compile(r"[^\W\d_]{1,30}")

_SAMPLE_CHARACTERS: Final = 1_000
_MIN_WORDS_OF_SHIFTED: Final = 15
_MAX_SHIFT: Final = 40
"""Number of characters judged, words among them, and places by which letters may be shifted."""

_MIN_SHARE_OF_TEXT: Final = 0.12
_MAX_SHARE_OF_SHIFTED: Final = 0.04
"""Share of common words in a text, at least, and in one whose letters are shifted, at most."""

_MIN_WORDS_OF_MIXED: Final = 60
_MAX_SHARE_OF_MIXED: Final = 0.02
_MIN_SHARE_OF_LETTERS: Final = 0.8
"""Different words of a text whose letters are mixed up at random, the share of common ones among
them, and that of letters among all characters, which is lower in code and tables."""


_MAX_CODE_LENGTH: Final = 3


def is_garbled(text: str) -> bool:
    """Check whether the letters of a page are not those that it shows.

    Either many are no letters; or they are letters shifted by a constant, which make a text with
    common words when they are shifted back; or there are many words in no language, and no common
    ones among them.

    Args:
        text: the text as the engine reads it, not yet normalized.
    """
    length = sum(map(len, text.split()))
    if length < _MIN_CHARACTERS:
        return False
    if len(_UNKNOWN.findall(text)) > _MAX_UNKNOWN_SHARE * length:
        return True
    sample = text[:_SAMPLE_CHARACTERS]
    share = _share_of_common(sample)
    if share > _MAX_SHARE_OF_SHIFTED or detect_language(text, surely=True):
        # Lists of names and parts have few common words, but words of a language.
        return False
    return _is_shifted(sample) or _is_mixed(text, length)


def _is_shifted(sample: str) -> bool:
    """Check whether a text comes out when all letters are shifted by some number of places."""
    for places in (*range(-_MAX_SHIFT, 0), *range(1, _MAX_SHIFT + 1)):
        shifted = _shifted(sample, places)
        if _share_of_common(shifted) > _MIN_SHARE_OF_TEXT and detect_language(shifted, surely=True):
            return True
    return False


def _is_mixed(text: str, length: int) -> bool:
    """Check whether a text has nothing but letters, and no common words among many."""
    words = [word for word in _WORD.findall(text) if len(word) > 1 and word.isascii()]
    common = sum(word.lower() in _COMMON_WORDS for word in words)
    return (
        len({*words}) >= _MIN_WORDS_OF_MIXED
        and sum(map(len, words)) > _MIN_SHARE_OF_LETTERS * length
        and common < _MAX_SHARE_OF_MIXED * len(words)
        and not _are_codes(words)
    )


def _share_of_common(text: str) -> float:
    words = [word for word in _WORD.findall(text) if len(word) > 1]
    if len(words) < _MIN_WORDS_OF_SHIFTED:
        return 0
    return sum(word.lower() in _COMMON_WORDS for word in words) / len(words)


def _shifted(text: str, places: int) -> str:
    return "".join(
        character if character in "\r\n" else chr(max(ord(character) + places, 0))
        for character in text
    )


def _are_codes(words: list[str]) -> bool:
    """Check whether most words are abbreviations or codes, as in tables."""
    short = sum(word.isupper() or len(word) <= _MAX_CODE_LENGTH for word in words)
    return 2 * short > len(words)
