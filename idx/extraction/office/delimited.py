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
    delimiter = "\t" if source.media_type == TSV else _delimiter(text)
    table = LabelledRows(source.options.max_rows)
    lines: list[str] = []
    length = 0
    try:
        for cells, line in _rows(text, delimiter) if delimiter else ():
            # A cell may have lines of its own.
            shown = table.add([" ".join(cell.split()) for cell in cells])
            if table.total > table.max_rows:
                continue
            length += len(shown)
            if line - len(lines) > _MAX_LINES_OF_ROW or length > _MAX_GROWTH * len(text):
                return extract_plain_text(source)
            lines += [""] * (line - len(lines) - 1)
            lines.append(shown)
    except csv.Error:
        return extract_plain_text(source)
    if not lines:
        return extract_plain_text(source)
    warning = table.warning("it")
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


def _delimiter(text: str) -> str | None:
    """Return the delimiter that divides most rows into the same number of cells; None if none."""
    sample = text[:_SAMPLE_CHARACTERS]
    best: tuple[float, int, str] | None = None
    for delimiter in _DELIMITERS:
        try:
            rows = [cells for cells, _ in islice(_rows(sample, delimiter), _SAMPLE_ROWS)]
        except csv.Error:
            continue
        counts = Counter(len(cells) for cells in rows if any(cells))
        if not counts:
            return None
        width, count = counts.most_common(1)[0]
        share = count / counts.total()
        if width > 1 and share >= _MIN_REGULAR_SHARE:
            best = max(best or (0.0, 0, ""), (round(share, 1), width, delimiter))
    return best[2] if best else None
