"""Extraction of Excel workbooks: .xlsx and its variants, binary ones, and those of 2003 in XML."""

import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from idx.errors import SourceFileError
from idx.extraction.types import Extracted, Source
from idx.markup.markup import MarkupText, Package, Role, local_name
from idx.office.date_format import EPOCH, duration_text, locale_of
from idx.office.labelled_rows import LabelledRows, extracted_sheets
from idx.office.number_format import Format, format_of, number_text
from idx.office.open_xml import OfficeOpenFile, relationship_id
from idx.office.table_headings import Number
from idx.text.decoding import without_surrogates
from shared.analysis.detection import detect_language

if TYPE_CHECKING:
    from lxml import etree
    from python_calamine import CalamineWorkbook

_RELATED: Final = ("drawing", "chart", "diagramData", "comments")

_THREAD_PREAMBLE: Final = re.compile(
    r"\[[^\]\n]{1,60}\][^\[\]\n]{0,600}linkid=870924\s*[^:\n]{1,40}:\s*"
)
"""Preamble of the copy of a conversation in a note, for programs that only show notes."""

_CELL: Final = re.compile(r"([A-Z]{1,3})(\d{0,7})")

_WHOLE_NUMBER: Final = re.compile(r"[1-9]\d{0,6}")

_MERGED: Final = re.compile(
    rb"<(?:\w+:)?mergeCell [^>]{0,100}?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']"
)
_MAX_MERGED_TAG: Final = 200
_MAX_MERGED: Final = 50_000

_INLINE: Final = re.compile(rb"<(?:\w+:)?t(?: [^>]*)?>([^<]{1,200})<")
_LANGUAGE_TEXTS: Final = 300  # texts by which the language of a workbook is detected

_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")

_SHARED_ROLES: Final = {"si": Role.PAGE, "t": Role.TEXT, "rPh": Role.HIDDEN}


@dataclass(slots=True)
class _Sheet:
    """Collector of the rows of a sheet; a target for `parse_xml`.

    Values become text by the type of their cells, numbers by the style.
    """

    by_type: Mapping[str, Callable[[str], str]]
    by_style: Mapping[str, Callable[[str], str]]
    rows: LabelledRows
    _cells: list[str] = field(default_factory=list)
    _number: int = 0
    _column: int = 0
    _empty: int = 0
    _text: Callable[[str], str] = str
    _value: list[str] = field(default_factory=list)
    _is_value: bool = False
    _is_phonetic: bool = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        match local_name(tag):
            case "c":
                named = _CELL.match(attributes.get("r", ""))
                column = _column_number(named[1]) if named else self._column + 1
                self._empty += max(column - self._column - 1, 0)
                self._column = column
                kind = attributes.get("t", "n")
                self._text = self.by_type.get(kind) or self.by_style.get(
                    attributes.get("s", "0"), number_text
                )
                self._value = []
            case "v" | "t":
                self._is_value = not self._is_phonetic
            case "rPh":
                self._is_phonetic = True
            case "row":
                self._number = _whole_number(attributes.get("r", "")) or self._number + 1

    def end(self, tag: str) -> None:
        match local_name(tag):
            case "v" | "t":
                self._is_value = False
            case "rPh":
                self._is_phonetic = False
            case "c":
                self._end_cell()
            case "row":
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
        if self._cells and self.rows.is_full:
            return
        value = "".join(self._value)
        text = self._text(value) if value else ""
        if not isinstance(text, Number):
            text = " ".join(text.split())
        if not text:
            self._empty += 1
            return
        if self._empty:
            self._cells.extend([""] * min(self._empty, self.rows.max_gap))
            self._empty = 0
        self._cells.append(text)


def extract_xlsx(source: Source) -> Extracted:
    """Extract a workbook by sheets, including hidden ones: the name, rows and notes of each.

    Each value of a row has the heading of its column. Formulas appear as the values stored by the
    program, and dates in ISO 8601.
    """
    file = OfficeOpenFile(Package(source))
    return file.described(extracted_sheets(_sheets(file, source.options.max_rows)))


def _sheets(file: OfficeOpenFile, max_rows: int) -> Iterator[tuple[str, LabelledRows, str]]:
    links = file.relationships(file.main)
    book = file.package.tree(file.main)
    from_1904 = any(
        properties.get("date1904") in {"1", "true"} for properties in book.iter("{*}workbookPr")
    )
    texts = _shared_texts(file)
    by_type: dict[str, Callable[[str], str]] = {
        "s": partial(_shared_text, texts),
        "b": lambda value: "TRUE" if value == "1" else "FALSE",
        **dict.fromkeys(("str", "inlineStr", "e", "d"), _unescaped),
    }
    by_style: Mapping[str, Format] | None = None
    for element in book.iter("{*}sheet"):
        link = links.get(relationship_id(element))
        rows = LabelledRows(max_rows, file.package.count)
        related = ""
        if link and link.part in file.package:
            if link.kind == "worksheet":
                inline = _note_merged(file.package, link.part, rows)
                if by_style is None:
                    language = _language_of_texts(islice(chain(texts, inline), _LANGUAGE_TEXTS))
                    by_style = _styles(file, language, from_1904=from_1904)
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


def _language_of_texts(texts: Iterable[str]) -> str | None:
    """Return the language of a workbook's texts, if it is known for certain."""
    return detect_language("\n".join(texts), surely=True)


def _shared_texts(file: OfficeOpenFile) -> list[str]:
    part = file.related_part(file.main, "sharedStrings")
    if not part:
        return []
    target = MarkupText(_SHARED_ROLES)
    file.package.parse(part, target)
    return [_unescaped("".join(pieces)) for _, pieces in target.pages]


def _unescaped(text: str) -> str:
    """Return a text with the characters that Excel escapes, such as line breaks (``_x000D_``)."""
    if "_x" not in text:
        return text
    return without_surrogates(_ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text))


def _shared_text(texts: list[str], number: str) -> str:
    """Return the text of a number in a cell; empty for an unknown number."""
    place = int(number) if number.isdecimal() else len(texts)
    return texts[place] if place < len(texts) else ""


def _styles(file: OfficeOpenFile, language: str | None, *, from_1904: bool) -> dict[str, Format]:
    part = file.related_part(file.main, "styles")
    if not part:
        return {}
    tree = file.package.tree(part)
    patterns = {
        element.get("numFmtId", ""): element.get("formatCode", "")
        for element in tree.iter("{*}numFmt")
    }
    locale = locale_of([*patterns.values()], language, from_1904=from_1904)
    formats = (cell for cells in tree.iter("{*}cellXfs") for cell in cells.iter("{*}xf"))
    by_id: dict[str, Format] = {}
    styles = {}
    for number, cell in enumerate(formats):
        named = cell.get("numFmtId", "0")
        if named not in by_id:
            format_id = int(named) if named.isdecimal() else 0
            by_id[named] = format_of(format_id, patterns.get(named), locale)
        styles[str(number)] = by_id[named]
    return styles


def _whole_number(written: str) -> int:
    return int(written) if _WHOLE_NUMBER.fullmatch(written) else 0


@cache
def _column_number(letters: str) -> int:
    """Return the number of a column, counted from 1: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


_PROTECTED: Final = re.compile(
    rb"\x09\x08(?:\x08\0.{8}|\x10\0.{16})(?:\x86\0\0\0)?\x2f\0", re.DOTALL
)
"""Beginning of an encrypted workbook ([MS-XLS]): BOF, perhaps WriteProtect, and FilePass."""

_Value = int | float | str | bool | dt.date | dt.time | dt.timedelta


def extract_binary_workbook(source: Source) -> Extracted:
    """Extract a workbook by sheets, including hidden ones, each value with its column's heading.

    Notes and texts in drawings are not read.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(source.data))
        return extracted_sheets(_binary_sheets(book, source.options.max_rows))
    except CalamineError as error:
        if _PROTECTED.search(source.data):
            raise SourceFileError(source.file, "protected by a password") from error
        raise ValueError(str(error)) from error
    except BaseException as error:
        # A panic of Rust, which would end the reading of all files in the same archive.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"the library that reads it fails: {error}") from error


def _binary_sheets(
    book: "CalamineWorkbook", max_rows: int
) -> Iterator[tuple[str, LabelledRows, str]]:
    from python_calamine import SheetTypeEnum

    for name, kind in ((each.name, each.typ) for each in book.sheets_metadata):
        rows = LabelledRows(max_rows)
        if kind == SheetTypeEnum.ChartSheet:
            # It has no rows, and the library fails at some.
            yield name, rows, ""
            continue
        sheet = book.get_sheet_by_name(name)
        # Rows are from the top of the sheet, columns from the first one with a value.
        first = sheet.start[1] if sheet.start else 0
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
            rows.merge(top + 1, left - first, bottom + 1, right - first)
        for row in sheet.iter_rows():
            texts = map(_text, row)
            rows.add([next(filter(None, texts), "")] if rows.is_full else [*texts])
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


_NAMESPACE: Final = "urn:schemas-microsoft-com:office:spreadsheet"
_WITHIN: Final = 8192  # bytes within which a file tells that it is a workbook

_NAMED_FORMATS: Final = {
    "Fixed": "0.00",
    "Standard": "#,##0.00",
    "Percent": "0.00%",
    "Scientific": "0.00E+00",
    "Currency": "#,##0.00",
    "Euro Currency": '#,##0.00 "€"',
    # The others are of dates, and depend on the machine.
    **dict.fromkeys(("General Date", "Short Date", "Medium Date", "Long Date"), "yyyy-mm-dd"),
    **dict.fromkeys(("Short Time", "Medium Time", "Long Time"), "hh:mm:ss"),
}

_DATA: Final = re.compile(rb"<(?:\w+:)?Data\b[^>]*>([^<]{1,200})<")
_SAMPLE_BYTES: Final = 65_536


def is_xml_workbook(data: bytes) -> bool:
    return _NAMESPACE.encode() in data[:_WITHIN].replace(b"\0", b"")


def extract_xml_workbook(source: Source) -> Extracted:
    """Extract a workbook by sheets, each value with its column's heading."""
    from lxml import etree

    sheets: list[tuple[str, LabelledRows, str]] = []
    patterns: dict[str, str] = {}
    formats: dict[str, Format] = {}
    elements = etree.iterparse(
        io.BytesIO(source.data),
        events=("start", "end"),
        tag=[f"{{{_NAMESPACE}}}{name}" for name in ("Style", "Worksheet", "Row")],
        resolve_entities=False,
        no_network=True,
    )
    for event, element in elements:
        said = {local_name(str(name)): str(value) for name, value in element.attrib.items()}
        match event, local_name(str(element.tag)):
            case "end", "Style":
                for each in element.iter("{*}NumberFormat"):
                    patterns[said.get("ID", "")] = _attribute(each, "Format")
            case "start", "Worksheet":
                sheets.append((said.get("Name", ""), LabelledRows(source.options.max_rows), ""))
                if len(sheets) == 1:
                    formats = _formats(patterns, source.data)
            case "end", "Row" if sheets:
                _add_row(sheets[-1][1], element, formats)
                element.clear()
    return extracted_sheets(sheets)


def _formats(patterns: Mapping[str, str], data: bytes) -> dict[str, Format]:
    texts = (text.decode(errors="ignore") for text in _DATA.findall(data[:_SAMPLE_BYTES]))
    named = {style: _NAMED_FORMATS.get(each, each) for style, each in patterns.items()}
    locale = locale_of([*named.values()], _language_of_texts(texts), from_1904=False)
    return {style: format_of(0, pattern, locale) for style, pattern in named.items()}


def _add_row(rows: LabelledRows, row: "etree._Element", formats: Mapping[str, Format]) -> None:
    number = _count(row, "Index") or rows.next_number
    if number > rows.next_number:
        rows.add(())
    cells: list[str] = []
    column = filled = 0
    for cell in row.iterfind("{*}Cell"):
        column = max((_count(cell, "Index") or column + 1) - 1, column)
        across, down = _count(cell, "MergeAcross"), _count(cell, "MergeDown")
        rows.merge(number, column, number + down, column + across)
        text = _cell_text(cell, formats)
        if text:
            cells += [*[""] * min(column - filled, rows.max_gap), text]
            filled = column + 1
        column += 1 + across
    rows.add(cells, number)


def _cell_text(cell: "etree._Element", formats: Mapping[str, Format]) -> str:
    """Return the value of a cell as displayed."""
    data = cell.find("{*}Data")
    if data is None:
        return ""
    value = "".join(map(str, data.itertext()))
    style = formats.get(_attribute(cell, "StyleID"))
    match _attribute(data, "Type"):
        case "Number" if style:
            return style(value)
        case "Boolean":
            return "TRUE" if value == "1" else "FALSE"
        case "DateTime":
            return _date(value, style)
    return " ".join(value.split())


def _date(value: str, style: Format | None) -> str:
    plain = value.removesuffix("T00:00:00.000")
    try:
        days = (dt.datetime.fromisoformat(value) - EPOCH) / dt.timedelta(1)
    except (ValueError, TypeError):
        return plain
    return style(repr(days)) if style else plain


def _attribute(element: "etree._Element", name: str) -> str:
    return element.get(f"{{{_NAMESPACE}}}{name}", "")


def _count(element: "etree._Element", name: str) -> int:
    return _whole_number(_attribute(element, name))
