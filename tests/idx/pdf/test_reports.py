"""Tables of reports, which have shades and underlines in place of rules."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from idx.pdf import tables
from tests.idx.extraction.pdf_files import FOUR_CELLS, by_hand, extract, pages_by_hand

ROWS = [
    ["Revenue", "$", "948", "930"],
    ["Cost of sales", "", "(36)", "(45)"],
    ["Interest", "", "9", "8"],
    ["Taxes", "", "33", "52"],
    ["Net income", "$", "870", "5"],
]
LINES = [" ".join(filter(None, row)) for row in ROWS]
COLUMNS = (20, 130, 145, 200)

Write = Callable[[Sequence[Sequence[str]]], str]


def text(x: float, y: float, words: str) -> str:
    return f"BT /F1 8 Tf {x} {y} Td ({words.replace('(', '[').replace(')', ']')}) Tj ET "


def plain(rows: Sequence[Sequence[str]], height: int = 14) -> str:
    return "".join(
        text(x + 3, 284 - height * number, cell)
        for number, row in enumerate(rows, start=1)
        for x, cell in zip(COLUMNS, row, strict=True)
    )


def shades(rows: Sequence[Sequence[str]], height: int = 14) -> str:
    """A shade for each cell, a narrow one between two, and an underline, as in annual reports."""
    return "".join(
        f"{'.8 .93 1' if number % 2 else '1 1 1'} rg {x} {280 - height * number} {width} {height} "
        f"re f {x + width} {280 - height * number} 1.35 {height} re f "
        f"0 0 0 rg {x} {280 - height * number} {width} .7 re f "
        for number, _ in enumerate(rows, start=1)
        for x, width in ((20, 108), (130, 13), (145, 53), (200, 60))
    )


def bands(rows: Sequence[Sequence[str]]) -> str:
    """A shade behind every other row, and rules below the sums."""
    return "".join(
        f".9 g 20 {280 - 14 * number} 240 14 re f 0 G 145 {280 - 14 * number} m 198 "
        f"{280 - 14 * number} l S 200 {280 - 14 * number} m 260 {280 - 14 * number} l S 0 g "
        for number in range(1, len(rows) + 1, 2)
    )


def scaled(rows: Sequence[Sequence[str]]) -> str:
    """Letters of a large font made small, by which PDFium takes two lines for one."""
    return (
        "".join(
            f"BT /F1 352 Tf .025 0 0 .025 {x} {280 - 8 * number} Tm ({cell}) Tj ET "
            for number, row in enumerate(rows)
            for x, cell in zip(COLUMNS, row, strict=True)
            if cell
        )
        .replace("((", "([")
        .replace("))", "])")
    )


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda rows: shades(rows) + plain(rows), id="shaded cells"),
        pytest.param(lambda rows: bands(rows) + plain(rows), id="shaded rows and underlines"),
        pytest.param(plain, id="nothing drawn"),
        pytest.param(scaled, id="a font made small"),
    ],
)
def test_rows_in_line_are_lines_without_pdfplumber(tmp_path: Path, write: Write) -> None:
    file = by_hand(tmp_path / "10-K.pdf", pages_by_hand([5], write(ROWS)))
    for name in [name for name in sys.modules if name.partition(".")[0] == "pdfplumber"]:
        del sys.modules[name]
    lines = extract(file).text.replace("[", "(").replace("]", ")").splitlines()
    assert [line for line in LINES if line not in lines] == []
    assert "pdfplumber" not in sys.modules


WRAPPED = [
    ("Jon Lind", "Senior Vice President,|Supply Chain", "2018"),
    ("Kris Lud", "Senior Vice President,|Human Resources", "2017"),
    ("Moj Poul", "Vice President,|Safety and Graphics", "2016"),
    ("Mike Vale", "Vice President,|Health Care", "2015"),
]


def wrapped(rows: Sequence[Sequence[str]]) -> str:
    drawn = shades([["", "", "", ""] for _ in rows], 24)
    for number, (name, position, year) in enumerate(rows, start=1):
        top = 280 - 24 * (number - 1)
        drawn += text(148, top - 9, name) + text(203, top - 9, year)
        for place, part in enumerate(position.split("|")):
            drawn += text(23, top - 9 - 9 * place, part)
    return drawn


def test_shaded_rows_of_several_lines_are_lines(tmp_path: Path) -> None:
    file = by_hand(tmp_path / "a.pdf", pages_by_hand([5], wrapped(WRAPPED)))
    broken = extract(file, "pdfium").text.splitlines()
    whole = extract(file).text.splitlines()
    for name, position, year in WRAPPED:
        words = {*name.split(), *position.replace("|", " ").split(), year}
        assert not any(words <= {*line.split()} for line in broken)
        assert any(words <= {*line.split()} for line in whole)


GRID = "".join(
    f"145 {280 - 14 * number} 53 14 re S 200 {280 - 14 * number} 60 14 re S "
    for number in range(1, 6)
)
"""Cells of the column of numbers; the labels before them have none."""


def test_labels_stay_with_their_numbers_where_only_some_cells_are_drawn(tmp_path: Path) -> None:
    file = by_hand(tmp_path / "a.pdf", pages_by_hand([5], GRID + plain(ROWS)))
    lines = extract(file).text.replace("[", "(").replace("]", ")").splitlines()
    assert [line for line in LINES if line not in lines] == []


def test_a_layout_that_gained_nothing_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    read = tables._read  # noqa: SLF001 - it is counted only

    def counted(page: Any) -> tables.TablePage | Exception:
        tried.append(page.page_number)
        return read(page)

    monkeypatch.setattr(tables, "_read", counted)
    numbers = [*range(5, 11)]
    objects = pages_by_hand(numbers, GRID + plain(ROWS))
    objects[3], gains = objects[3], pages_by_hand([5], FOUR_CELLS)[3]
    objects[20] = gains
    objects[9] = "<</Type/Page/Parent 2 0 R/Contents 20 0 R>>"
    text = extract(by_hand(tmp_path / "a.pdf", objects)).text
    assert tried == [1, 2, 5]
    assert "c00 | c01\nc10 | c11" in text
