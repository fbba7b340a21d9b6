"""Cognates: spellings of a word in other languages, *Kontrakt*, *contratto* and *contract*.

Words with a common root, and most names, differ by a few recurring spellings. Koehn and Knight
(2002, Learning a Translation Lexicon from Monolingual Corpora) replace k and z by c, and -tät by
-ty, to find English words for German ones; Mulloni and Pekar (2006, Automatic Detection of
Orthographic Cues for Cognate Recognition) learn such rules from pairs of words. The table is for
German, English, Spanish, French, Italian and Dutch. Each row is here because words were not found
without it; docs/measured/tolerance.md describes the measurement.
"""

import re
from collections.abc import Iterable
from typing import Final

_MOST_LETTERS: Final = 40
"""Maximum number of letters of a word; an expression for a longer one would take long."""

_SPELLINGS: Final = (
    "c k ck cc qu ch",
    "f ph ff",
    "t th tt ct kt",
    "i y ij",
    "c s ss z zz",
    "x ks cs ss",
    "r rr rh",
    "g gg gu",
)
"""Spellings that may replace each other within a word; every letter may also be doubled."""

_BEGINNINGS: Final = ("st est et",)

_ENDINGS: Final = (
    "tion cion zion sion ssion ti",
    "tat ta te tad dad teit ty",
    "ic ik iqu iek isch",
    "or eur our",
    "anz anzi anc anci ancy anti enz enzi enc enci ency enti",
    "iv if ief",
)
"""Spellings that may replace each other at the end, or before one of `_INFLECTIONS`."""

_INFLECTIONS: Final = "e a o i s en es us um io"
"""Optional endings of a word."""


def _alternatives(rows: Iterable[str]) -> dict[str, str]:
    """Return a regular expression of the alternatives for each spelling of a table."""
    groups = [row.split() for row in rows]
    return {
        spelling: _any(other for group in groups if spelling in group for other in group)
        for group in groups
        for spelling in group
    }


def _any(spellings: Iterable[str]) -> str:
    return f"({'|'.join(sorted(set(spellings)))})"


def _longest_first(spellings: Iterable[str]) -> str:
    return "|".join(sorted(spellings, key=len, reverse=True))


_OF_SPELLING: Final = _alternatives(_SPELLINGS)
_OF_BEGINNING: Final = _alternatives(_BEGINNINGS)
_OF_ENDING: Final = _alternatives(_ENDINGS)
_INFLECTION: Final = _any(_INFLECTIONS.split())

_UNIT: Final = re.compile(rf"{_longest_first(_OF_SPELLING)}|(.)\1?")
_PARTS: Final = re.compile(
    rf"({_longest_first(_OF_BEGINNING)})?([a-z]{{2,}}?)({_longest_first(_OF_ENDING)})?{_INFLECTION}?"
)


def spellings(word: str) -> str | None:
    """Return a regular expression for the spellings of a word in other languages.

    Args:
        word: the word, in lower case without accents.

    Returns:
        An expression with the same meaning in Lucene and Python, which also matches the word
        itself; None if the word does not consist of two to 40 Latin letters.
    """
    parts = _PARTS.fullmatch(word) if len(word) <= _MOST_LETTERS else None
    if parts is None:
        return None
    beginning, stem, ending = parts.group(1, 2, 3)
    return "".join(
        (
            _OF_BEGINNING.get(beginning, ""),
            _UNIT.sub(lambda unit: _OF_SPELLING.get(unit[0], f"{unit[0][0]}{unit[0][0]}?"), stem),
            _OF_ENDING.get(ending, ""),
            f"{_INFLECTION}?",
        )
    )
