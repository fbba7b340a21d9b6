"""Words that are spelled with an umlaut, or with an e in its place: Müller and Mueller."""

import re
from collections.abc import Collection
from itertools import chain
from typing import Final

DIGRAPH: Final = "(?<![aeiouq])([aou])e(?=[^aeiou])"
"""An e in place of an umlaut, in Java's regular expressions and in Python's.

After a vowel or a q, and at the end of a word, it is none: Bauer, queue, blue.
"""

_UMLAUT: Final = re.compile("[äöüÄÖÜ]")
_UMLAUT_OR_DIGRAPH: Final = re.compile("[äöüÄÖÜ]|[aouAOU][eE]")
# From the first capital letter of a word on, and from there only: a word may be a megabyte long.
_NAME_WITH_DIGRAPH: Final = re.compile(r"(?<!\w)[^\WA-Z]*+((?=[A-Z])\w*?[aouAOU][eE]\w*)")
_SPELLED_OUT: Final = re.compile(DIGRAPH)


def transliterable(words: Collection[str], *, german: bool) -> str:
    """Those of some words that may be spelled with or without an umlaut.

    In German these are all with an umlaut or an ae, oe or ue; in other languages, where "poet" is
    no spelling of "pot", those with an umlaut, and names with an ae, oe or ue.

    Args:
        words: what stands between two blanks each.
        german: whether some of them are German.

    Returns:
        The words with blanks between them.
    """
    if german:
        return " ".join(filter(_UMLAUT_OR_DIGRAPH.search, words))
    text = " ".join(words)
    umlauts = filter(_UMLAUT.search, words) if _UMLAUT.search(text) else ()
    return " ".join(chain(umlauts, _NAME_WITH_DIGRAPH.findall(text)))


def without_digraphs(term: str) -> str:
    """A folded word in the spelling that `schema.TRANSLITERATED` has of it: muller for mueller."""
    return _SPELLED_OUT.sub(r"\1", term)
