"""Names with signs in them, such as DEC-0054, v2.3.1, user@host and C++."""

import re
from typing import Final

_NAME: Final = re.compile(r"\w[-./:@#+&]+\w|[^\W_]_+[^\W_]|\w(?:\+\+|#)|[@#.]\w")

_LONGEST: Final = 255
"""Characters of a name; what is longer is no name. Lucene's words have the same limit."""


def names_in(text: str) -> str:
    """The words of a text that have signs in them.

    Args:
        text: any text.

    Returns:
        The words with blanks between them, and what stands right before and behind them.
    """
    words = (word for word in text.split() if not word.isalnum() and len(word) <= _LONGEST)
    return " ".join(filter(_NAME.search, words))
