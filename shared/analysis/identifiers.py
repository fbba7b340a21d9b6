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


_BETWEEN_WORDS: Final = re.compile(
    r"[\s!-&(-/:-@[-^`{-~\u00a0-\u00a9\u00ab-\u00b1\u00b4-\u00b8\u00bb-\u00bf\u2000-\u200a\u200e-\u2018"
    r"\u201a-\u206f\u3000-\u3003\u3008-\u301f]+"
)
"""Blanks and punctuation, except apostrophes and the underscore. Python's ``\\w`` does not have the
vowel signs of many scripts."""


def words_in(text: str) -> list[str]:
    """Return the words of a text without the punctuation around and between them."""
    return [word for word in _BETWEEN_WORDS.split(text) if word]
