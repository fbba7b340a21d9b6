"""Extraction of binary workbooks of Excel: .xls of 1997 to 2003, and .xlsb."""

import datetime as dt
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from idx.errors import SourceFileError
from idx.extraction.office.labelled_rows import LabelledRows
from idx.extraction.office.number_format import number_text
from idx.extraction.office.workbook import sheet_called
from idx.extraction.text.cleaning import join_pages
from idx.extraction.types import Extracted, Source

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

_Value = int | float | str | bool | dt.date | dt.time | dt.timedelta


def extract_binary_workbook(source: Source) -> Extracted:
    """Extract a workbook by sheets, including hidden ones, each value with its column's heading.

    Notes and texts in drawings are not read.

    Raises:
        SourceFileError: it needs a password.
        ValueError: it is damaged.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    warnings: list[str] = []
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(source.data))
        sheets = [*_sheets(book, source, warnings)]
    except PasswordError as error:
        raise SourceFileError(source.file, "protected by a password") from error
    except CalamineError as error:
        raise ValueError(str(error)) from error
    text, pages = join_pages("sheet", sheets)
    return Extracted(text, source.media_type, pages=pages, warnings=tuple(warnings))


def _sheets(
    book: "CalamineWorkbook", source: Source, warnings: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each sheet in order, and add warnings about sheets cut."""
    for name in book.sheet_names:
        rows = LabelledRows(source.options.max_rows)
        sheet = book.get_sheet_by_name(name)
        # Rows are from the top of the sheet, columns from the first one with a value.
        first = sheet.start[1] if sheet.start else 0
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
            rows.merge(top + 1, left - first, bottom + 1, right - first)
        for row in sheet.iter_rows():
            rows.add([*map(_text, row)])
        text = rows.text()
        if warning := rows.warning(sheet_called(name)):
            warnings.append(warning)
        yield name, f"{name}\n\n{text}" if text else ""


def _text(value: _Value) -> str:
    """Return a value as text, as in other workbooks."""
    match value:
        case bool():
            return str(value).upper()
        case int() | float():
            return number_text(str(value))
        case dt.datetime() if value.time() == dt.time():
            return value.date().isoformat()
        case dt.datetime():
            return value.isoformat(" ", "seconds")
        case dt.timedelta():
            minutes, seconds = divmod(int(value.total_seconds()), 60)
            hours, minutes = divmod(minutes, 60)
            return f"{hours}:{minutes:02}:{seconds:02}"
        case _:
            return " ".join(str(value).split())
