"""Names with signs in them, such as DEC-0054, v2.3.1, user@host and C++."""

import re
from collections.abc import Iterable
from typing import Final

_NAME: Final = re.compile(r"\w[-./:@#+&]+\w|[^\W_]_+[^\W_]|\w(?:\+\+|#)|[@#.]\w")

_LONGEST: Final = 255
"""Characters of a name; what is longer is no name. Lucene's words have the same limit."""


def names_in(words: Iterable[str]) -> str:
    """Those of some words that have signs in them.

    Args:
        words: what stands between two blanks each, with the signs before and behind it.

    Returns:
        The words with blanks between them, and what stands right before and behind them.
    """
    signed = (word for word in words if not word.isalnum() and len(word) <= _LONGEST)
    return " ".join(filter(_NAME.search, signed))
