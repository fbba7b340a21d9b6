"""Rows of tables as lines, each value with the heading of its column: ``city: Oslo | year: 2024``.

A row that is found alone can then be understood.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from idx.extraction.media_types import TSV
from idx.extraction.types import Extracted, Source
from idx.markup.markup import row_text
from idx.office.table_headings import (
    MAX_GAP,
    NUMBER,
    Row,
    block_of,
    is_alike,
    place_of_headings,
    seen_from,
    without_stored,
)
from idx.text.cleaning import CELL_SEPARATOR, join_pages
from idx.text.decoding import decode
from idx.text.plain_text import extract_plain_text
from shared.messages import quantity

_MAX_WAITING_GAP: Final = 1_000
"""Maximum number of empty cells kept between two others while the table's width is not known."""

_MAX_HEADING_ROWS: Final = 3

_WAITING_ROWS: Final = 50  # rows among which the headings are searched for
_MAX_REPEATED: Final = 200  # characters of a value of merged cells that each of their rows repeats


@dataclass(slots=True)
class LabelledRows:
    """Collector of the rows of a sheet or a file; `count` is called with the text of each."""

    max_rows: int
    count: Callable[[str], object] = len
    total: int = 0
    length: int = 0
    has_headings: bool = False
    _lines: list[tuple[int, str]] = field(default_factory=list)
    _labels: list[str] = field(default_factory=list)
    _kinds: dict[int, str] = field(default_factory=dict)
    _waiting: list[Row] = field(default_factory=list)
    _waits: bool = True
    _number: int = 0
    _follows_gap: bool = False
    _across: dict[tuple[int, int], int] = field(default_factory=dict)
    _down: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    _repeated: dict[int, tuple[int, str]] = field(default_factory=dict)

    @property
    def max_gap(self) -> int:
        """Maximum number of empty cells that must be kept between two others."""
        width = max((len(row.cells) for row in self._waiting), default=0)
        return max(MAX_GAP, len(self._labels), min(width, _MAX_WAITING_GAP))

    @property
    def is_full(self) -> bool:
        """Whether further rows are only counted, for which one value of each is enough."""
        return self.total >= self.max_rows

    @property
    def next_number(self) -> int:
        """Number of the next row, if none is left out."""
        return self._number + 1

    def merge(self, top: int, left: int, bottom: int, right: int) -> None:
        """Note merged cells; rows from 1, columns from 0."""
        if right > left:
            self._across[top, left] = right
        if bottom > top:
            self._down.setdefault(top, []).append((left, bottom))

    def add(self, cells: Sequence[str], number: int | None = None, width: int = 0) -> None:
        """Add a row, which may be empty.

        Its values begin in the first column, each on one line; empty ones keep the others in their
        columns. `width` counts empty cells at its end that are known to belong to it.
        """
        self._number = self._number + 1 if number is None else number
        if not any(cells):
            self._follows_gap = True
            return
        self.total += 1
        if self.total > self.max_rows:
            return
        row = Row(self._number, self._with_repeated(cells), self._follows_gap, width)
        self._follows_gap = False
        is_title = len(self._labels) > 1 and sum(map(bool, row.cells)) == 1
        self._waits = self._waits or row.follows_gap or is_title
        if not self._waits:
            self._write_labelled(row)
            return
        self._waiting.append(row)
        if len(self._waiting) >= _WAITING_ROWS:
            self._decide(is_end=False)

    def lines(self) -> list[tuple[int, str]]:
        self._decide(is_end=True)
        return self._lines

    def text(self) -> str:
        return "\n".join(line for _, line in self.lines())

    def warning(self, table: str = "it") -> str:
        """Return the warning about rows that were left out; empty if there are none."""
        if self.total <= self.max_rows:
            return ""
        return (
            f"{table} has {quantity(self.total, 'row')}; only the first {self.max_rows:,} are "
            "indexed, more with --max-rows"
        )

    def _with_repeated(self, cells: Sequence[str]) -> list[str]:
        """Return a row with the values of cells that are merged with cells above."""
        end = len(cells)
        while not cells[end - 1]:
            end -= 1
        row = [*cells[:end]]
        for column, (bottom, value) in [*self._repeated.items()]:
            if self._number > bottom:
                del self._repeated[column]
                continue
            row += [""] * (column + 1 - len(row))
            row[column] = row[column] or value
        for column, bottom in self._down.get(self._number, ()):
            if column < end and 0 < len(cells[column]) <= _MAX_REPEATED:
                self._repeated[column] = bottom, cells[column]
        return row

    def _decide(self, *, is_end: bool) -> None:
        """Write the rows that wait, by the headings among them or by those of the table so far."""
        rows = self._waiting
        while rows and (is_end or len(rows) >= _WAITING_ROWS):
            place = place_of_headings(rows, is_first=not self._lines)
            if place is None:
                for row in rows:
                    self._write_labelled(row)
                rows = []
                self._waits = False
                break
            top, labels = self._joined(rows, place)
            for row in rows[:top]:
                self._write_labelled(row)
            for row in rows[top : place + 1]:
                self._write(row, row_text(row.cells))
            self._labels, self.has_headings = labels, True
            rows = rows[place + 1 :]
            block = block_of(rows)
            # The last row may have totals.
            self._kinds = seen_from(labels, block[:-1] or block).kinds
            end = next((at for at, row in enumerate(rows) if at and row.follows_gap), len(rows))
            for row in rows[:end]:
                self._write_labelled(row)
            rows = rows[end:]
            self._waits = bool(rows)
        self._waiting = rows

    def _joined(self, rows: Sequence[Row], place: int) -> tuple[int, list[str]]:
        """Return the first row of the headings, and the heading of each column.

        A row above may have names for groups of columns, or the first parts of names.
        """
        row = rows[place]
        labels = [
            without_stored(cell) if row.kinds.get(column) == "date" else cell.rstrip(":")
            for column, cell in enumerate(row.cells)
        ]
        top = place
        while top and place - top + 1 < _MAX_HEADING_ROWS and not rows[top].follows_gap:
            joined = self._under(rows[top - 1], labels)
            if joined is None:
                break
            labels = joined
            top -= 1
        return top, labels

    def _under(self, above: Row, labels: Sequence[str]) -> list[str] | None:
        """Return the headings below a row of further headings; None if it has none."""
        columns = sorted(above.kinds)
        named = {column for column, label in enumerate(labels) if label}
        if NUMBER in above.kinds.values() or any(above.cells[at].endswith(":") for at in columns):
            return None
        if columns[0] >= len(labels) or (len(columns) == 1 and columns[0] <= min(named)):
            # A title.
            return None
        ends = [column - 1 for column in columns[1:]] + [max(len(labels), columns[-1] + 1) - 1]
        merged = {column: self._across.get((above.number, column)) for column in columns}
        spans = {
            column: range(column, (merged[column] or column if any(merged.values()) else end) + 1)
            for column, end in zip(columns, ends, strict=True)
        }
        groups = {at for at, span in spans.items() if len(named.intersection(span)) > 1}
        alone = [at for at in columns if at not in groups and at in named]
        is_repeated = all(above.cells[at] == labels[at] for at in alone)
        is_group = bool(groups) and (any(merged.values()) or columns[0] not in alone)
        if not (is_repeated or is_group or named == {*columns}):
            return None
        found = [*labels, *[""] * (columns[-1] + 1 - len(labels))]
        for column, span in spans.items():
            name = above.cells[column]
            for at in span:
                if at < len(found) and found[at] != name and (found[at] or at == column):
                    found[at] = f"{name} {found[at]}".strip()
        return found

    def _write_labelled(self, row: Row) -> None:
        labels = self._labels
        if not labels or (row.follows_gap and len(labels) > 1 and len(row.kinds) == 1):
            # A title, or a note.
            self._write(row, row_text(row.cells))
            return
        # A row of totals has values that are not of their columns.
        is_dated = self._kinds.get(0, NUMBER) != NUMBER
        doubtful = row.kinds if row.follows_gap else range(int(is_dated))
        texts = []
        for column, cell in enumerate(row.cells):
            label = labels[column] if column < len(labels) else ""
            if not cell:
                continue
            kind = self._kinds.get(column) if column in doubtful else None
            is_labelled = label and (kind is None or is_alike(kind, row.kinds[column]))
            texts.append(f"{label}: {cell}" if is_labelled else cell)
        self._write(row, CELL_SEPARATOR.join(texts))

    def _write(self, row: Row, text: str) -> None:
        self.count(text)
        self.length += len(text)
        self._lines.append((row.number, text))


def extracted_sheets(sheets: Iterable[tuple[str, LabelledRows, str]]) -> Extracted:
    """Return a workbook of sheets: the name of each, its rows, and what else is on it."""
    parts, warnings = [], []
    for name, rows, more in sheets:
        text = f"{rows.text()}\n\n{more}"
        parts.append((name, f"{name}\n\n{text}" if text.strip() else ""))
        warnings.append(rows.warning(f"the sheet {name[:80]!r}"))
    text, pages = join_pages("sheet", parts)
    return Extracted(text, pages=pages, warnings=tuple(filter(None, warnings)))


_DELIMITERS: Final = (",", ";", "\t", "|")

_SAMPLE_ROWS: Final = 50
_SAMPLE_CHARACTERS: Final = 100_000

_MIN_REGULAR_SHARE: Final = 0.8
"""Minimum share of rows in a sample that have as many cells as most; else it is no table."""

_MAX_ROWS_ABOVE: Final = 15  # rows above a table, which are not counted if the table has headings

_MAX_LINES_OF_ROW: Final = 200
"""Maximum number of lines of a row: after a quotation mark that is never closed, all lines are one
cell."""

_MAX_GROWTH: Final = 20  # length of the text with headings, as a multiple of the file's


def extract_delimited(source: Source) -> Extracted:
    """Extract the rows, each on the line where it ends in the file, with the headings of columns.

    A file without regular rows is extracted as plain text.
    """
    text = decode(source.data, source.file, source.options.encoding)
    table = LabelledRows(source.options.max_rows)
    try:
        delimiter, is_regular = ("\t", True) if source.media_type == TSV else _delimiter(text)
        last = 0
        for cells, line in _rows(text, delimiter) if delimiter else ():
            if line - last > _MAX_LINES_OF_ROW and table.total < table.max_rows:
                return extract_plain_text(source)
            last = line
            # A cell may have lines of its own.
            table.add([" ".join(cell.split()) for cell in cells], line, len(cells))
            if table.length > _MAX_GROWTH * len(text):
                return extract_plain_text(source)
    except csv.Error:
        return extract_plain_text(source)
    rows = table.lines()
    if not rows or not (is_regular or table.has_headings):
        return extract_plain_text(source)
    lines: list[str] = []
    for line, shown in rows:
        lines += [""] * (line - len(lines) - 1)
        lines.append(shown)
    warning = table.warning()
    lines += [] if warning else [""] * (last - len(lines))
    return Extracted(
        text="\n".join(lines),
        is_own_text=True,
        warnings=(warning,) if warning else (),
    )


def _rows(text: str, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row, and the number of the line that it ends on, from 1."""
    # For the whole process, where others read tables, too.
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    # Not splitlines, whose other separators are part of the text.
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for cells in reader:
        yield cells, reader.line_num


def _delimiter(text: str) -> tuple[str | None, bool]:
    """Return the delimiter that divides most rows into the same number of cells; None if none.

    The second value says whether these are most of all rows, not only of those below some others.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    best = (0.0, 0, "")
    for delimiter in _DELIMITERS:
        try:
            rows = [cells for cells, _ in islice(_rows(sample, delimiter), _SAMPLE_ROWS)]
        except csv.Error:
            continue
        widths = [len(cells) for cells in rows if any(cells)]
        for start in range(min(len(widths), _MAX_ROWS_ABOVE + 1)):
            below = widths[start:]
            width, count = Counter(below).most_common(1)[0]
            if width > 1 and count >= _MIN_REGULAR_SHARE * len(below) and count > bool(start):
                best = max(best, (round(count / len(widths), 1), width, delimiter))
                break
    return best[2] or None, best[0] >= _MIN_REGULAR_SHARE
