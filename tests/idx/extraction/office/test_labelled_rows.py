"""Rows with the headings of their columns, in CSV files and sheets."""

from pathlib import Path

import pytest
import xlsxwriter  # type: ignore[import-untyped]

from idx.extraction.formats import extract
from idx.extraction.office.labelled_rows import LabelledRows
from idx.extraction.types import ExtractionOptions
from tests.idx.extraction.conftest import Read


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([["city", "year"], ["Oslo", "2024"]], "city | year\ncity: Oslo | year: 2024"),
        (
            [["Rain"], ["", "city", "mm"], ["a", "Oslo"]],
            "Rain\n | city | mm\na | city: Oslo",
        ),
        ([["Oslo", "2024"], ["city", "name"], ["a", "b"]], "Oslo | 2024\ncity | name\na | b"),
        ([["a", "a"], ["b", "c"]], "a | a\nb | c"),
        ([["x", "12 %"], ["b", "c"]], "x | 12 %\nb | c"),
        (
            [["k:", "v:"], ["c", "d"], ["a", "b", "beyond"]],
            "k: | v:\nk: c | v: d\nk: a | v: b | beyond",
        ),
        ([["a", *[""] * 20, "b"], ["c", "d"]], f"a{' | ' * 21}b\nc | d"),
    ],
)
def test_the_first_row_of_names_has_the_headings(rows: list[list[str]], text: str) -> None:
    table = LabelledRows(100)
    for row in rows:
        table.add(row)
    assert table.text() == text


CSV = 'city;"wind\nspeed";note\r\nOslo;7;"a ""calm"" day"\r\n\r\nRome;9;\r\n'


def test_rows_of_csv_are_on_their_lines(read: Read) -> None:
    extracted = read("a.csv", CSV)
    assert extracted.text.split("\n") == [
        "",
        "city | wind speed | note",
        'city: Oslo | wind speed: 7 | note: a "calm" day',
        "",
        "city: Rome | wind speed: 9",
        "",
    ]
    assert extracted.is_own_text


@pytest.mark.parametrize(
    "text",
    ["Dear Ana,\nas you said, and I agree,\nbye\n", "one\ntwo\n", 'a,"b\n' + "c,d\n" * 300, "\n"],
)
def test_what_is_no_table_stays_as_it_is(read: Read, text: str) -> None:
    assert read("a.csv", text).text == text


def test_many_rows_are_cut_with_a_warning(tmp_path: Path) -> None:
    options = ExtractionOptions(max_rows=3)
    file = tmp_path / "a.csv"
    file.write_text("city,year\n" + "Oslo,2024\n" * 1_000)
    extracted = extract(file, options)
    assert extracted.text.rstrip("\n").split("\n") == [
        "city | year",
        *["city: Oslo | year: 2024"] * 2,
    ]
    book = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(book) as written:
        sheet = written.add_worksheet("Rain")
        for row in range(9):
            sheet.write_row(row, 0, ["city", "year"] if row == 0 else ["Oslo", row])
    assert extract(book, options).warnings == (
        "the sheet 'Rain' has 9 rows; only the first 3 are indexed, more with --max-rows",
    )
    assert extracted.warnings == (
        "it has 1,001 rows; only the first 3 are indexed, more with --max-rows",
    )
