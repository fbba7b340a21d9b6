"""Text of XML files, and of workbooks that Excel 2003 wrote in XML."""

import html
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from idx.extraction.types import Extracted, Source
from idx.markup.markup import local_name
from idx.office.date_format import locale_of
from idx.office.labelled_rows import LabelledRows, extracted_sheets
from idx.office.number_format import Format, format_of
from idx.office.workbook import language_of_texts
from idx.text.decoding import decode
from idx.text.escapes import character, without_escapes
from idx.text.properties import one_line

if TYPE_CHECKING:
    from lxml import etree

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

_DAY: Final = timedelta(days=1)
_EPOCH: Final = datetime(1899, 12, 30)
_COUNT: Final = re.compile(r"[1-9]\d{0,6}")


def is_xml_workbook(data: bytes) -> bool:
    return _NAMESPACE.encode() in data[:_WITHIN].replace(b"\0", b"")


def extract_xml_workbook(source: Source) -> Extracted:
    """Extract a workbook by sheets, each value with its column's heading."""
    sheets: list[tuple[str, LabelledRows]] = []
    patterns: dict[str, str] = {}
    formats: dict[str, Format] = {}
    for event, element in _elements(source.data):
        said = {local_name(str(name)): str(value) for name, value in element.attrib.items()}
        match event, local_name(str(element.tag)):
            case "end", "Style":
                for each in element.iter("{*}NumberFormat"):
                    patterns[said.get("ID", "")] = _attribute(each, "Format")
            case "start", "Worksheet":
                sheets.append((said.get("Name", ""), LabelledRows(source.options.max_rows)))
                if len(sheets) == 1:
                    formats = _formats(patterns, source.data)
            case "end", "Row" if sheets:
                _add_row(sheets[-1][1], element, formats)
                element.clear()
    return extracted_sheets(source, ((name, rows, "") for name, rows in sheets))


def _elements(data: bytes) -> Iterator[tuple[str, "etree._Element"]]:
    from lxml import etree

    names = ("Style", "Worksheet", "Row")
    yield from etree.iterparse(
        io.BytesIO(data),
        events=("start", "end"),
        tag=[f"{{{_NAMESPACE}}}{name}" for name in names],
        resolve_entities=False,
        no_network=True,
    )


def _formats(patterns: Mapping[str, str], data: bytes) -> dict[str, Format]:
    texts = (text.decode(errors="ignore") for text in _DATA.findall(data[:_SAMPLE_BYTES]))
    named = {style: _NAMED_FORMATS.get(each, each) for style, each in patterns.items()}
    locale = locale_of([*named.values()], language_of_texts(texts), from_1904=False)
    return {style: format_of(0, pattern, locale) for style, pattern in named.items()}


def _add_row(rows: LabelledRows, row: "etree._Element", formats: Mapping[str, Format]) -> None:
    number = _count(row, "Index") or rows.next_number
    if number > rows.next_number:
        rows.add(())
    cells: list[str] = []
    column = 0
    for cell in row.iterfind("{*}Cell"):
        column = max((_count(cell, "Index") or column + 1) - 1, column)
        across, down = _count(cell, "MergeAcross"), _count(cell, "MergeDown")
        rows.merge(number, column, number + down, column + across)
        text = _text(cell, formats)
        if text:
            cells += [*[""] * min(column - len(cells), rows.max_gap), text]
        column += 1 + across
    rows.add(cells, number)


def _text(cell: "etree._Element", formats: Mapping[str, Format]) -> str:
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
        days = (datetime.fromisoformat(value) - _EPOCH) / _DAY
    except (ValueError, TypeError):
        return plain
    return style(repr(days)) if style else plain


def _attribute(element: "etree._Element", name: str) -> str:
    return element.get(f"{{{_NAMESPACE}}}{name}", "")


def _count(element: "etree._Element", name: str) -> int:
    written = _attribute(element, name)
    return int(written) if _COUNT.fullmatch(written) else 0


# Attribute values may contain ">"; a comment ends at its own mark only. A document type has no
# other one within it: each character is looked at once, however many begin and do not end.
_MARKUP: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE(?:[^<>\[]|\[(?:[^\]<]|<(?!!DOCTYPE))*+\])*+>"
    r"|</?[A-Za-z_:](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"&#?\w{1,32};")
_TITLE: Final = re.compile(r"<(?:\w+:)?title(?:\s[^<>]*)?>([^<>]{1,400})</")

_MIN_PROSE_SHARE: Final = 0.5
"""Minimum share of text in a file of prose; settings and data have less, and their names are
searched for."""


def extract_xml(source: Source) -> Extracted:
    """Extract the text of XML line by line as in the file; that of a workbook by its sheets.

    References to characters are resolved. If at least half of it is text, tags, comments and
    instructions are left out; else they stay. No entity of a document type is expanded.
    """
    if is_xml_workbook(source.data):
        with suppress(SyntaxError):
            return extract_xml_workbook(source)
    written = decode(source.data, source.file, source.options.encoding)
    marked = sum(
        match.end() - match.start() for match in _MARKUP.finditer(written) if match["data"] is None
    )
    letters = len(written) - marked
    # Indentation is not text.
    blank = sum(len(line) - len(line.strip()) for line in written.split("\n"))
    if letters - blank < _MIN_PROSE_SHARE * (len(written) - blank):
        text = without_escapes(written, source.media_type)
        return Extracted(text, source.media_type, is_own_text=True)
    title = _TITLE.search(written)
    return Extracted(
        text=_REFERENCE.sub(character, _MARKUP.sub(_without_tag, written)),
        media_type=source.media_type,
        is_own_text=True,
        title=one_line(html.unescape(title[1])) if title else None,
    )


def _without_tag(match: re.Match[str]) -> str:
    """Return what stands in place of markup: its line breaks, so that lines keep their numbers."""
    if match["data"] is not None:
        return match["data"]
    breaks = "\n" * match[0].count("\n")
    # Elements that follow each other without text, such as cells, are not one word, while letters
    # within a word, such as in H<sub>2</sub>O, are.
    stands_between = match.string[match.start() - 1 : match.start()] == ">"
    return breaks or (" " if stands_between else "")
