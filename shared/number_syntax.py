"""How a number is written in a query or a filter."""

import re
from typing import Final

# No two runs of digits may touch: trying every border between them takes time by the square of
# their length, in which no other thread runs.
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def is_number(text: str) -> bool:
    """Whether a text is a number; ``nan``, ``inf`` and ``2_020`` are words, unlike in Python.

    Args:
        text: without blanks around it.
    """
    return _NUMBER.fullmatch(text) is not None
