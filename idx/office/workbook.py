"""Extraction of Excel workbooks: .xlsx, .xlsm and their templates, parsed row by row."""

import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from idx.errors import SourceFileError
from idx.extraction.types import Extracted, Source
from idx.markup.markup import MarkupText, Package, Role, RolesByTag
from idx.office import number_format
from idx.office.date_format import duration_text, locale_of
from idx.office.labelled_rows import LabelledRows, extracted_sheets
from idx.office.number_format import number_text
from idx.office.open_xml import OfficeOpenFile, relationship_id
from idx.office.table_headings import Number
from shared.analysis.detection import detect_language

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

_RELATED: Final = ("drawing", "chart", "diagramData", "comments")

_THREAD_PREAMBLE: Final = re.compile(
    r"\[[^\]\n]{1,60}\][^\[\]\n]{0,600}linkid=870924\s*[^:\n]{1,40}:\s*"
)
"""Preamble of the copy of a conversation in a note, for programs that only show notes."""

_CELL: Final = re.compile(r"([A-Z]{1,3})(\d{0,7})")

_ROW_NUMBER: Final = re.compile(r"[1-9]\d{0,6}")

_MERGED: Final = re.compile(
    rb"<(?:\w+:)?mergeCell [^>]{0,100}?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']"
)
_MAX_MERGED_TAG: Final = 200
_MAX_MERGED: Final = 50_000

_INLINE: Final = re.compile(rb"<(?:\w+:)?t(?: [^>]*)?>([^<]{1,200})<")
_LANGUAGE_TEXTS: Final = 300  # texts by which the language of a workbook is detected

_SHARED_ROLES: Final = {"si": Role.PAGE, "t": Role.TEXT, "rPh": Role.HIDDEN}

_SHEET_ROLES: Final = {
    "row": Role.ROW,
    "c": Role.CELL,
    "v": Role.TEXT,
    "t": Role.TEXT,
    # Phonetic guides.
    "rPh": Role.HIDDEN,
}


@dataclass(slots=True)
class _Sheet:
    """Collector of the rows of a sheet; a target for `parse_xml`.

    Values become text by the type of their cells, numbers by the style.
    """

    by_type: Mapping[str, Callable[[str], str]]
    by_style: Mapping[str, Callable[[str], str]]
    rows: LabelledRows
    _roles: RolesByTag = field(default_factory=lambda: RolesByTag(_SHEET_ROLES))
    _cells: list[str] = field(default_factory=list)
    _number: int = 0
    _column: int = 0
    _empty: int = 0
    _text: Callable[[str], str] = str
    _value: list[str] = field(default_factory=list)
    _is_value: bool = False
    _hidden: bool = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        role = self._roles[tag]
        if role is Role.CELL:
            named = _CELL.match(attributes.get("r", ""))
            column = _column_number(named[1]) if named else self._column + 1
            self._empty += max(column - self._column - 1, 0)
            self._column = column
            kind = attributes.get("t", "n")
            self._text = self.by_type.get(kind) or self.by_style.get(
                attributes.get("s", "0"), number_format.number_text
            )
            self._value = []
        elif role is Role.TEXT:
            self._is_value = not self._hidden
        elif role is Role.HIDDEN:
            self._hidden = True
        elif role is Role.ROW:
            written = attributes.get("r", "")
            self._number = int(written) if _ROW_NUMBER.fullmatch(written) else self._number + 1

    def end(self, tag: str) -> None:
        role = self._roles[tag]
        if role is Role.TEXT:
            self._is_value = False
        elif role is Role.HIDDEN:
            self._hidden = False
        elif role is Role.CELL:
            self._end_cell()
        elif role is Role.ROW:
            if self._number > self.rows.next_number:
                # Empty rows are not in the file.
                self.rows.add(())
            self.rows.add(self._cells, self._number)
            self._cells = []
            self._column = self._empty = 0

    def data(self, text: str) -> None:
        if self._is_value:
            self._value.append(text)

    def close(self) -> None: ...

    def _end_cell(self) -> None:
        value = "".join(self._value)
        text = self._text(value) if value else ""
        if not isinstance(text, Number):
            text = " ".join(text.split())
        if not text:
            self._empty += 1
            return
        self._cells.extend([""] * min(self._empty, self.rows.max_gap))
        self._cells.append(text)
        self._empty = 0


def extract_xlsx(source: Source) -> Extracted:
    """Extract a workbook by sheets, including hidden ones: the name, rows and notes of each.

    Each value of a row has the heading of its column. Formulas appear as the values stored by the
    program, and dates in ISO 8601.
    """
    file = OfficeOpenFile(Package(source))
    title, metadata = file.properties()
    found = extracted_sheets(source, _sheets(file, source.options.max_rows))
    return replace(found, title=title, metadata=metadata)


def _sheets(file: OfficeOpenFile, max_rows: int) -> Iterator[tuple[str, LabelledRows, str]]:
    links = file.relationships(file.main)
    parts = {link.kind: link.part for link in links.values()}
    book = file.package.tree(file.main)
    from_1904 = any(
        properties.get("date1904") in {"1", "true"} for properties in book.iter("{*}workbookPr")
    )
    texts = _shared_texts(file, parts.get("sharedStrings"))
    by_type: dict[str, Callable[[str], str]] = {
        "s": _shared_text(texts),
        "b": lambda value: "TRUE" if value == "1" else "FALSE",
        **dict.fromkeys(("str", "inlineStr", "e", "d"), str),
    }
    by_style: Mapping[str, number_format.Format] | None = None
    for element in book.iter("{*}sheet"):
        link = links.get(relationship_id(element))
        rows = LabelledRows(max_rows, file.package.count)
        related = ""
        if link and link.part in file.package:
            if link.kind == "worksheet":
                inline = _note_merged(file.package, link.part, rows)
                if by_style is None:
                    language = language_of_texts(islice(chain(texts, inline), _LANGUAGE_TEXTS))
                    by_style = _styles(file, parts.get("styles"), language, from_1904=from_1904)
                file.package.parse(link.part, _Sheet(by_type, by_style, rows))
            related = file.related_text(link.part, _RELATED)
        yield element.get("name", ""), rows, _THREAD_PREAMBLE.sub("", related)


def _note_merged(package: Package, part: str, rows: LabelledRows) -> list[str]:
    """Note the merged cells of a sheet, which stand behind its rows; return some of its texts."""
    before = b""
    texts: list[str] = []
    number = 0
    for chunk in package.chunks(part):
        if not before:
            texts = [found.decode(errors="ignore") for found in _INLINE.findall(chunk)]
        for match in _MERGED.finditer(before + chunk):
            if match.end() > len(before) and number < _MAX_MERGED:
                number += 1
                left, top, right, bottom = (each.decode() for each in match.groups())
                columns = _column_number(left) - 1, _column_number(right) - 1
                rows.merge(int(top), columns[0], int(bottom), columns[1])
        before = chunk[-_MAX_MERGED_TAG:]
    return texts


def language_of_texts(texts: Iterable[str]) -> str | None:
    """Return the language of a workbook's texts, if it is known for certain."""
    return detect_language("\n".join(texts), surely=True)


def _shared_texts(file: OfficeOpenFile, part: str | None) -> list[str]:
    if part is None or part not in file.package:
        return []
    target = MarkupText(_SHARED_ROLES)
    file.package.parse(part, target)
    return ["".join(pieces) for _, pieces in target.pages]


def _shared_text(texts: list[str]) -> Callable[[str], str]:
    """Return a function from a cell's number to its text; empty for an unknown number."""

    def text(number: str) -> str:
        place = int(number) if number.isdecimal() else len(texts)
        return texts[place] if place < len(texts) else ""

    return text


def _styles(
    file: OfficeOpenFile, part: str | None, language: str | None, *, from_1904: bool
) -> dict[str, number_format.Format]:
    if part is None or part not in file.package:
        return {}
    tree = file.package.tree(part)
    patterns = {
        element.get("numFmtId", ""): element.get("formatCode", "")
        for element in tree.iter("{*}numFmt")
    }
    locale = locale_of([*patterns.values()], language, from_1904=from_1904)
    formats = (cell for cells in tree.iter("{*}cellXfs") for cell in cells.iter("{*}xf"))
    by_id: dict[str, number_format.Format] = {}
    styles = {}
    for number, cell in enumerate(formats):
        named = cell.get("numFmtId", "0")
        if named not in by_id:
            format_id = int(named) if named.isdecimal() else 0
            by_id[named] = number_format.format_of(format_id, patterns.get(named), locale)
        styles[str(number)] = by_id[named]
    return styles


def _column_number(letters: str) -> int:
    """Return the number of a column, counted from 1: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


_Value = int | float | str | bool | dt.date | dt.time | dt.timedelta


def extract_binary_workbook(source: Source) -> Extracted:
    """Extract a workbook by sheets, including hidden ones, each value with its column's heading.

    Notes and texts in drawings are not read.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(source.data))
        return extracted_sheets(source, _binary_sheets(book, source.options.max_rows))
    except PasswordError as error:
        raise SourceFileError(source.file, "protected by a password") from error
    except CalamineError as error:
        raise ValueError(str(error)) from error
    except BaseException as error:
        # A panic of Rust, which would end the reading of all files in the same archive.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"the library that reads it fails: {error}") from error


def _binary_sheets(
    book: "CalamineWorkbook", max_rows: int
) -> Iterator[tuple[str, LabelledRows, str]]:
    for name in book.sheet_names:
        rows = LabelledRows(max_rows)
        sheet = book.get_sheet_by_name(name)
        # Rows are from the top of the sheet, columns from the first one with a value.
        first = sheet.start[1] if sheet.start else 0
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
            rows.merge(top + 1, left - first, bottom + 1, right - first)
        for row in sheet.iter_rows():
            rows.add([*map(_text, row)])
        yield name, rows, ""


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
            return duration_text(str(value / dt.timedelta(1)))
        case _:
            return " ".join(str(value).split())
