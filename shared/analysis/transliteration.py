"""Transliteration: spellings with an umlaut or with an e in its place, Müller and Mueller."""

import re
from collections.abc import Collection
from itertools import chain
from typing import Final

DIGRAPH: Final = "(?<![aeiouq])([aou])e(?=[^aeiou])"
"""Digraph with an e in place of an umlaut, as a regular expression of both Java and Python.

After a vowel or a q, and at the end of a word, it is not a digraph: Bauer, queue, blue.
"""

_UMLAUT: Final = re.compile("[äöüÄÖÜ]")
_UMLAUT_OR_DIGRAPH: Final = re.compile("[äöüÄÖÜ]|[aouAOU][eE]")
# From the first capital letter of a word on, to scan each word once: it may be a megabyte long.
_NAME_WITH_DIGRAPH: Final = re.compile(r"(?<!\w)[^\WA-Z]*+((?=[A-Z])\w*?[aouAOU][eE]\w*)")
_SPELLED_OUT: Final = re.compile(DIGRAPH)


def transliterable(words: Collection[str], *, german: bool) -> str:
    """Return the words that may be spelled with or without an umlaut.

    In German these are all words with an umlaut or an ae, oe or ue. In other languages, where
    "poet" is not a spelling of "pot", these are words with an umlaut, and names with an ae, oe or
    ue.

    Args:
        words: words as separated by blanks.
        german: true if some of them are German.

    Returns:
        These words, joined by blanks.
    """
    if german:
        return " ".join(filter(_UMLAUT_OR_DIGRAPH.search, words))
    text = " ".join(words)
    umlauts = filter(_UMLAUT.search, words) if _UMLAUT.search(text) else ()
    return " ".join(chain(umlauts, _NAME_WITH_DIGRAPH.findall(text)))


def without_digraphs(term: str) -> str:
    """Return a folded word as spelled in `schema.TRANSLITERATED`: muller for mueller."""
    return _SPELLED_OUT.sub(r"\1", term)
