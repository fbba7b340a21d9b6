"""Comparison of a page's tables with its plain text: merged rows, and words in pieces.

Where a table has rules between bands of rows only, its cells hold several rows each: "Alabama
Alaska Arizona | 18,870 209 2,303". Its plain text, "Alabama 18,870", is better then.
"""

import re
from collections import Counter
from itertools import combinations, islice
from typing import Final

from idx.extraction.text.cleaning import CELL_SEPARATOR, normalize

_MIN_ROWS: Final = 3
"""Minimum number of rows in a band; two words in each of two cells are often one row."""

_MIN_SHARE_OF_PAIRS: Final = 0.6
"""Minimum share of the rows of a band that the plain text has as lines."""

_MAX_LOST_WORDS: Final = 3
_MAX_LOST_SHARE: Final = 0.02
"""Maximum number and share of a page's words that may stand otherwise in its tables."""

_MAX_TORN_ROWS: Final = 2
"""Maximum number of lines with numbers that a page's tables have in pieces."""

_NUMBER: Final = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]")
_DIGITS: Final = frozenset("0123456789")


def merges_rows(tables: str, plain: str) -> bool:
    """Check whether a row of a page's tables is several lines of its plain text.

    Args:
        tables: the text of the page with a line for each row, and marks between the cells.
        plain: its plain text.
    """
    lines: list[set[str]] | None = None
    for row in tables.split("\n"):
        cells = [cell.split() for cell in row.split(CELL_SEPARATOR.strip())]
        long = [cell for cell in cells if len(cell) >= _MIN_ROWS]
        for one, other in combinations(long, 2):
            has_numbers = any(
                all(not _DIGITS.isdisjoint(word) for word in cell) for cell in (one, other)
            )
            if len(one) != len(other) or not has_numbers:
                continue
            lines = lines or [set(line.split()) for line in plain.split("\n")]
            pairs = [*zip(one, other, strict=True)]
            found = sum(any({*pair} <= line for line in lines) for pair in pairs)
            on_one_line = any({*one, *other} <= line for line in lines)
            if found >= _MIN_SHARE_OF_PAIRS * len(pairs) and not on_one_line:
                return True
    return False


def tears_rows(tables: str, plain: str) -> bool:
    """Check whether lines of the plain text with numbers are in pieces, as labels without them.

    Where only some cells of a table are drawn, the others come apart from them.

    Args:
        tables: the text of the page with a line for each row, and marks between the cells.
        plain: its plain text.
    """
    rows = [{*row.split()} for row in normalize(tables).split("\n")]
    lines = ({*line.split()} for line in normalize(plain).split("\n") if _NUMBER.search(line))
    torn = (line for line in lines if len(line) > 1 and not any(line <= row for row in rows))
    return len([*islice(torn, _MAX_TORN_ROWS + 1)]) > _MAX_TORN_ROWS


def loses_words(tables: str, plain: str) -> bool:
    """Check whether words of a page are in pieces, such as ``11,062 .6`` for ``11,062.6``.

    Args:
        tables: the text of the page with a line for each row, and marks between the cells.
        plain: its plain text.
    """
    words = Counter(normalize(plain).split())
    lost = words - Counter(normalize(tables.replace(CELL_SEPARATOR.strip(), " ")).split())
    return lost.total() > max(_MAX_LOST_WORDS, _MAX_LOST_SHARE * words.total())
