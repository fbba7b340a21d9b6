"""Identifiers: names with punctuation in them, such as DEC-0054, v2.3.1, user@host and C++."""

import re
from collections.abc import Iterable
from typing import Final

_NAME: Final = re.compile(r"\w[-./:@#+&]+\w|[^\W_]_+[^\W_]|\w(?:\+\+|#)|[@#.]\w")

_LONGEST: Final = 255
"""Maximum length of an identifier, in characters, the same as that of Lucene's words."""


def names_in(words: Iterable[str]) -> str:
    """Return the words that are identifiers.

    Args:
        words: words as separated by blanks, with the punctuation around them.

    Returns:
        These words with the punctuation around them, joined by blanks.
    """
    signed = (word for word in words if not word.isalnum() and len(word) <= _LONGEST)
    return " ".join(filter(_NAME.search, signed))
