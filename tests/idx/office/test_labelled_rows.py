"""Rows with the headings of their columns, in CSV files and sheets."""

from pathlib import Path

import pytest
import xlsxwriter  # type: ignore[import-untyped]

from idx.extraction.types import ExtractionOptions
from idx.office import number_format
from idx.office.date_format import Locale
from idx.office.labelled_rows import LabelledRows
from tests.idx.conftest import Read, extract

CODE = "Code (2006 to 2009)"
QUESTION = "How satisfied were you with the way in which we answered your request?"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([["city", "year"], ["Oslo", "2024"]], "city | year\ncity: Oslo | year: 2024"),
        (
            [["Rain"], ["", "day", "city", "mm"], ["a", "May", "Oslo"]],
            "Rain\n | day | city | mm\na | day: May | city: Oslo",
        ),
        # Names and their values below a title, with nothing that tells them from a table.
        (
            [["Project"], ["Name", "Cats"], ["Begin", "2023-04-17"], ["End", "2023-05-16"]],
            "Project\nName | Cats\nBegin | 2023-04-17\nEnd | 2023-05-16",
        ),
        ([["Oslo", "2024"], ["city", "name"], ["a", "b"]], "Oslo | 2024\ncity | name\na | b"),
        ([["a", "a"], ["b", "c"]], "a | a\nb | c"),
        ([["x", "12 %"], ["b", "c"]], "x | 12 %\nb | c"),
        (
            [["k:", "v:"], ["c", "d"], ["a", "b", "beyond"]],
            "k: | v:\nk: c | v: d\nk: a | v: b | beyond",
        ),
        (
            [["x", "y"], ["a", "b"], ["c", "d"], ["e", "f", "beyond"], ["g", "h"]],
            "x | y\nx: a | y: b\nx: c | y: d\nx: e | y: f | beyond\nx: g | y: h",
        ),
        (
            [
                ["Form", "A"],
                ["Owner", "Ann"],
                ["Cash", "1.5"],
                [],
                ["x", "y", "z"],
                ["p", "q", "1"],
            ],
            "Form | A\nOwner | Ann\nCash | 1.5\nx | y | z\nx: p | y: q | z: 1",
        ),
        (
            [["x", "y"], ["a", "1"], ["b", "2"], [], ["Total", "3"], [], ["note"]],
            "x | y\nx: a | y: 1\nx: b | y: 2\nx: Total | y: 3\nnote",
        ),
        ([["K-1", "Ann", "Ulm"], ["K-2", "Bo", "Rom"]], "K-1 | Ann | Ulm\nK-2 | Bo | Rom"),
        ([["#", "Name"], ["1", "Ann"], ["2", "Bo"]], "# | Name\n#: 1 | Name: Ann\n#: 2 | Name: Bo"),
        (
            [["length", "mass"], ["mm", "kg"], ["1", "2"], ["3", "4"]],
            "length | mass\nmm | kg\nlength mm: 1 | mass kg: 2\nlength mm: 3 | mass kg: 4",
        ),
        (
            [["", "31.12.2023", "31.12.2022"], ["Cash", "5", "6"]],
            " | 31.12.2023 | 31.12.2022\nCash | 31.12.2023: 5 | 31.12.2022: 6",
        ),
        ([["Oslo", "1952"], ["Rome", "1960"]], "Oslo | 1952\nRome | 1960"),
        ([["a", *[""] * 20, "b"], ["c", "d"]], f"a{' | ' * 21}b\nc | d"),
        # A question of a form, and a name with years.
        (
            [[QUESTION, CODE], ["4", "ab"], ["5", "cd"]],
            f"{QUESTION} | {CODE}\n{QUESTION}: 4 | {CODE}: ab\n{QUESTION}: 5 | {CODE}: cd",
        ),
        ([[QUESTION, "Yes"], ["Well?", "No"]], f"{QUESTION} | Yes\nWell? | No"),
        (
            [[QUESTION, CODE], [], ["x", "y"], ["a", "1"], ["b", "2"]],
            f"{QUESTION} | {CODE}\nx | y\nx: a | y: 1\nx: b | y: 2",
        ),
    ],
)
def test_headings_are_the_names_that_the_rows_below_fit(rows: list[list[str]], text: str) -> None:
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


def test_blanks_before_quoted_values_are_none_of_them(read: Read) -> None:
    text = read("a.csv", 'city, note\nOslo, "calm, dry"\nRome, "a\nb"\n').text
    assert text == "city | note\ncity: Oslo | note: calm, dry\n\ncity: Rome | note: a b\n"


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


def test_rows_beyond_the_limit_are_counted_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        day = book.add_format({"num_format": "d. mmmm yyyy"})
        sheet = book.add_worksheet("Rain")
        for number, values in enumerate([[1, 2], [3, 4], [" ", 5], [" ", "  "], [6, 7]]):
            sheet.write_row(number, 0, values, day)
    shown: list[str] = []

    def noted(value: str, *_: object, **__: object) -> str:
        shown.append(value)
        return value

    monkeypatch.setattr(number_format, "date_shown", noted)
    extracted = extract(tmp_path / "a.xlsx", ExtractionOptions(max_rows=2))
    assert extracted.text == "Rain\n\n1 | 2\n3 | 4"
    assert extracted.warnings[0].startswith("the sheet 'Rain' has 4 rows; only the first 2 are")
    # One value of each further row shows that it is not empty.
    assert shown == ["1", "2", "3", "4", "5", "6"]


def test_a_value_that_a_sheet_repeats_is_formatted_once() -> None:
    shown = number_format.format_of(0, "0.0%", Locale())
    assert shown("0.0712") == "7.1% (7.12%)"
    assert shown("0.0712") is shown("0.0712")
