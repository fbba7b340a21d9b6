"""Rows of tables as lines, each value with the heading of its column: ``city: Oslo | year: 2024``.

A row that is found alone can then be understood.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from idx.extraction.markup.markup import row_text
from idx.extraction.text.cleaning import CELL_SEPARATOR
from shared.messages import quantity

MAX_GAP: Final = 20
"""Maximum number of empty cells kept between two others; sheets have 16,384 columns."""

_MAX_LABEL: Final = 60
"""Maximum length of a heading in front of values, in characters; each row repeats it."""

_MAX_ROWS_ABOVE: Final = 10
"""Maximum number of rows above the headings, such as the title of a sheet."""

_VALUE: Final = re.compile(r"[\W_]*\d[\d\W_]*[\w%€$£]{0,4}|TRUE|FALSE|true|false|\W*")
"""A number, date, time, amount or truth value, which is no heading."""


@dataclass(slots=True)
class LabelledRows:
    """Collector of the rows of one table.

    Attributes:
        max_rows: maximum number of rows that are kept.
        total: number of all rows that are not empty.
    """

    max_rows: int
    total: int = 0
    _labels: list[str] = field(default_factory=list)
    _above: int = 0

    @property
    def max_gap(self) -> int:
        """Maximum number of empty cells that must be kept between two others."""
        return max(MAX_GAP, len(self._labels))

    def add(self, cells: Sequence[str]) -> str:
        """Add a row, and return its text; empty if the row is, or if there are too many.

        The first row with at least two different names, and nothing but names, has the headings.

        Args:
            cells: the values from the first column on, each on one line; empty ones keep the
                others in their columns.
        """
        filled = sum(map(bool, cells))
        if not filled:
            return ""
        self.total += 1
        if self.total > self.max_rows:
            return ""
        if self._labels:
            return self._labelled(cells)
        if self._above < _MAX_ROWS_ABOVE:
            self._above += 1
            self._labels = _labels(cells)
            # Rows of values without headings: names further down are values, too.
            if filled > 1 and not self._labels:
                self._above = _MAX_ROWS_ABOVE
        return row_text([*cells])

    def warning(self, table: str) -> str:
        """Return the warning about rows that were left out; empty if there are none.

        Args:
            table: the table, such as ``the sheet 'Prices'``.
        """
        if self.total <= self.max_rows:
            return ""
        return (
            f"{table} has {quantity(self.total, 'row')}; only the first {self.max_rows:,} are "
            "indexed, more with --max-rows"
        )

    def _labelled(self, cells: Sequence[str]) -> str:
        labels = self._labels
        return CELL_SEPARATOR.join(
            f"{labels[column]}: {cell}" if column < len(labels) and labels[column] else cell
            for column, cell in enumerate(cells)
            if cell
        )


def _labels(cells: Sequence[str]) -> list[str]:
    """Return the headings in a row; empty if its cells are none.

    Some columns may have no heading, as often the first one.
    """
    names = [cell for cell in cells if cell]
    last = max(column for column, cell in enumerate(cells) if cell)
    cells = cells[: last + 1]
    # A longer gap may have been shortened, and the names after it are not in their columns.
    has_gap = "0" * MAX_GAP in "".join("1" if cell else "0" for cell in cells)
    are_names = (
        len(names) > 1
        and len({*names}) == len(names)
        and not has_gap
        and not any(_VALUE.fullmatch(name) or len(name) > _MAX_LABEL for name in names)
    )
    return [cell.rstrip(":") for cell in cells] if are_names else []
