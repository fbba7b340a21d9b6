"""Layout of a table on a terminal: column widths, wrapping and alignment."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from idx.output.printing import Row, Unbroken
from idx.output.terminal import console, symbol

_GAP: Final = 2
"""Width of the gap between columns, and indent of a value on its own line, in columns."""


def aligned(heading: Row | None, rows: Sequence[Row], columns: int) -> Iterator[Text]:
    """Yield the lines of a table, wrapping the widest columns until it fits.

    Args:
        heading: the names of the columns, if they are shown.
        rows: the values.
        columns: maximum width of a line; only `Unbroken` values may exceed it.
    """
    every = [heading, *rows] if heading else rows
    if not every:
        return
    layout = _Layout(every, columns, _separate_columns(every, columns) if heading else frozenset())
    lines = [list(layout.lines(row)) for row in every]
    if heading:
        above, *lines = lines
        for line in above:
            line.stylize("bold")
        yield from above
        longest = max(line.cell_len for of_row in [above, *lines] for line in of_row)
        yield Text(symbol("─", "-") * min(columns, longest))
    for of_row in lines:
        yield from of_row


def _separate_columns(rows: Sequence[Row], columns: int) -> frozenset[int]:
    """Return the columns whose values need their own lines, chosen from the last to the first."""
    apart: frozenset[int] = frozenset()
    for number in reversed(range(len(rows[0]))):
        is_unbroken = any(isinstance(row[number], Unbroken) for row in rows)
        if is_unbroken and _Layout(rows, columns, apart).narrows(number):
            apart |= {number}
    return apart


class _Layout:
    """Layout of the values of each row.

    Args:
        rows: all rows of the table.
        columns: maximum width of a line.
        apart: the columns whose values are on their own lines: the first column above the other
            values, the rest below them.
    """

    def __init__(self, rows: Sequence[Row], columns: int, apart: frozenset[int]) -> None:
        self._indent = _GAP if 0 in apart else 0
        self._separate_columns = apart
        self._natural = {
            number: min(columns, max(map(cell_len, values)))
            for number, values in enumerate(zip(*rows, strict=True))
            if number not in apart
        }
        self._widths = dict(self._natural)
        available = columns - self._indent - _GAP * (len(self._widths) - 1)
        while sum(self._widths.values()) > max(available, len(self._widths)):
            widest = max(self._widths, key=self._widths.__getitem__)
            self._widths[widest] -= 1

    def narrows(self, number: int) -> bool:
        """Check whether a column is narrower than its longest value."""
        return self._widths[number] < self._natural[number]

    def lines(self, row: Row) -> Iterator[Text]:
        """Yield the lines of a row."""
        beside = {number: row[number] for number in self._widths}
        below = [row[number] for number in sorted(self._separate_columns - {0})]
        for number, value in beside.items():
            if isinstance(value, Unbroken) and cell_len(value) > self._widths[number]:
                beside[number] = ""
                below.append(value)
        if 0 in self._separate_columns:
            yield Text(row[0])
        yield from self._side_by_side(beside)
        yield from (Text(" " * (self._indent + _GAP) + value) for value in below if value)

    def _side_by_side(self, values: dict[int, str]) -> Iterator[Text]:
        folded = {
            number: Text(value).wrap(console(), self._widths[number], overflow="fold")
            for number, value in values.items()
        }
        for height in range(max(map(len, folded.values()), default=0)):
            line = Text(" " * self._indent)
            for number, parts in folded.items():
                part = parts[height].copy() if height < len(parts) else Text()
                part.truncate(self._widths[number], pad=True)
                line.append_text(part).append(" " * _GAP)
            line.rstrip()
            yield line
