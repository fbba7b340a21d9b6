"""Words that are spelled with an umlaut, or with an e in its place: Müller and Mueller."""

import re
from typing import Final

DIGRAPH: Final = "(?<![aeiouq])([aou])e(?=[^aeiou])"
"""An e in place of an umlaut, in Java's regular expressions and in Python's.

After a vowel or a q, and at the end of a word, it is none: Bauer, queue, blue.
"""

_UMLAUT: Final = re.compile("[äöüÄÖÜ]")
_UMLAUT_OR_DIGRAPH: Final = re.compile("[äöüÄÖÜ]|[aouAOU][eE]")
_NAME_WITH_DIGRAPH: Final = re.compile(r"[A-Z]\w*?[aouAOU][eE]\w*")
_SPELLED_OUT: Final = re.compile(DIGRAPH)


def transliterable(text: str, *, german: bool) -> str:
    """The words of a text that may be spelled with or without an umlaut.

    In German these are all with an umlaut or an ae, oe or ue; in other languages, where "poet" is
    no spelling of "pot", those with an umlaut, and names with an ae, oe or ue.

    Args:
        text: any text.
        german: whether some of it is German.

    Returns:
        The words with blanks between them.
    """
    mark = _UMLAUT_OR_DIGRAPH if german else _UMLAUT
    found = [word for word in text.split() if mark.search(word)] if mark.search(text) else []
    if not german:
        found += _NAME_WITH_DIGRAPH.findall(text)
    return " ".join(found)


def without_digraphs(term: str) -> str:
    """A folded word in the spelling that `schema.TRANSLITERATED` has of it: muller for mueller."""
    return _SPELLED_OUT.sub(r"\1", term)
