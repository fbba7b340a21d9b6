"""Transliteration: spellings with an umlaut or with an e in its place, Müller and Mueller."""

import re
from typing import Final

_DIGRAPH: Final = re.compile("(?<![aeiouq])([aou])e(?=[^aeiou])")
"""Digraph with an e in place of an umlaut.

After a vowel or a q, and at the end of a word, it is not a digraph: Bauer, queue, blue.
"""

SPELLED_OUT: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
"""Digraphs in place of umlauts, for `str.translate`."""


def without_digraphs(term: str) -> str:
    """Return a folded word with umlauts in place of digraphs, folded: muller for mueller."""
    return _DIGRAPH.sub(r"\1", term)
