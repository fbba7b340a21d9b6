"""Extraction of tables in text files, .csv and .tsv: each row with the headings of its columns."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final

from idx.extraction.media_types import TSV
from idx.extraction.office.labelled_rows import LabelledRows
from idx.extraction.text.decoding import decode
from idx.extraction.text.plain_text import extract_plain_text
from idx.extraction.types import Extracted, Source

_DELIMITERS: Final = (",", ";", "\t", "|")

_SAMPLE_ROWS: Final = 50
_SAMPLE_CHARACTERS: Final = 100_000

_MIN_REGULAR_SHARE: Final = 0.8
"""Minimum share of rows in a sample that have as many cells as most; else it is no table."""

_MAX_ROWS_ABOVE: Final = 15
"""Maximum number of rows above a table, which are not counted if the table has headings."""

_MAX_LINES_OF_ROW: Final = 200
"""Maximum number of lines of a row: after a quotation mark that is never closed, all lines are one
cell."""

_MAX_GROWTH: Final = 20
"""Maximum length of the text with headings, as a multiple of the file's."""


def extract_delimited(source: Source) -> Extracted:
    """Extract the rows, each on the line where it ends in the file, with the headings of columns.

    A file without regular rows is extracted as plain text.

    Raises:
        SourceFileError: the bytes are not text.
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
    warning = table.warning("it")
    lines += [] if warning else [""] * (last - len(lines))
    return Extracted(
        text="\n".join(lines),
        media_type=source.media_type,
        is_own_text=True,
        warnings=(warning,) if warning else (),
    )


def _rows(text: str, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row, and the number of the line that it ends on, from 1.

    Raises:
        csv.Error: it cannot be divided into rows.
    """
    csv.field_size_limit(max(len(text), 1))
    # Not splitlines, whose other separators are part of the text.
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter)
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
