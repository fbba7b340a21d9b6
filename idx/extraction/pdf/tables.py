"""The text of the pages of a PDF with their tables, each row of one on a line of its own."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from idx.extraction.text.cleaning import CELL_SEPARATOR, normalize

if TYPE_CHECKING:
    from pdfplumber.page import Page
    from pdfplumber.pdf import PDF

_WORD_GAP: Final = 0.15
"""Width of a space between two words, in sizes of the letter before it."""

_FEWEST: Final = 2
"""Rows of a table, and cells with text in such a row; fewer are a box, or the grid of a chart."""

_UPRIGHT: Final = "ltr"

_NEXT_LINE: Final = {_UPRIGHT: "ttb", "rtl": "btt", "btt": "ltr", "ttb": "rtl"}
"""Where the next line stands, for each direction of the letters; text is turned, not mirrored."""

_Letter = dict[str, Any]
_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page as pdfplumber reads it.

    Attributes:
        text: its text; the rows of a table stand where its first letter does.
        has_tables: whether there is any table.
    """

    text: str
    has_tables: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A ruled table: where it and its cells stand, and its rows as lines."""

    box: _Box
    cells: tuple[_Box, ...]
    text: str


def read_table_pages(
    data: bytes, password: str | None, numbers: Sequence[int], count: int, seconds: float
) -> Iterator[tuple[int, TablePage | Exception]]:
    """Read pages of a PDF with pdfplumber.

    Args:
        data: the bytes of the file.
        password: what opens it; None if it needs none.
        numbers: the pages to read, from 1.
        count: how many pages the file has for who numbered them.
        seconds: after how many of them no other page is begun.

    Yields:
        the number of each page, and what is on it, or the error that kept pdfplumber from
        reading it: `TimeoutError` where the time was over.
    """
    if not numbers:
        return
    import pdfplumber

    missing = set(numbers)
    until = time.monotonic() + seconds
    error: Exception = TimeoutError("half of --timeout was over")
    try:
        with pdfplumber.open(BytesIO(data), pages=list(numbers), password=password) as pdf:
            _check_numbers(pdf, count)
            for page in pdf.pages:
                if time.monotonic() > until:
                    break
                missing.discard(page.page_number)
                yield page.page_number, _read(page)
                # Each page caches its layout; a long document would keep all of them.
                page.close()
    except MemoryError:
        raise
    except Exception as failure:  # noqa: BLE001 - a damaged file may raise anything in its reader
        error = failure
    for number in sorted(missing):
        yield number, error


def _check_numbers(pdf: "PDF", count: int) -> None:
    """Make sure that a number stands for the same page here as elsewhere.

    pdfplumber leaves out pages that are damaged, or in the list twice, and counts on.

    Raises:
        ValueError: it does not.
    """
    from pdfminer.pdfpage import PDFPage

    found = sum(1 for _ in PDFPage.create_pages(pdf.doc))
    if found != count:
        raise ValueError(f"it finds {found:,} of {count:,} pages")


def _read(page: "Page") -> TablePage | Exception:
    try:
        return _read_page(page)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        return error


def _read_page(page: "Page") -> TablePage:
    if _has_doubled_letters(page.chars):
        page = page.dedupe_chars()
    letters = page.chars
    upright = sum(_direction(letter) == _UPRIGHT for letter in letters)
    # The columns of a page that lies on its side would be taken for its rows.
    tables = _tables(page) if upright > len(letters) / 2 else []
    waiting = set(tables)
    texts = []
    # The letters come as the page was written, which keeps columns apart, as PDFium does.
    for (table, direction), run in groupby(
        letters, lambda letter: (_table_around(letter, tables), _direction(letter))
    ):
        if table is None:
            texts.append(_flowing_text(list(run), direction))
        elif table in waiting:
            waiting.remove(table)
            texts.append(table.text)
    return TablePage("\n".join(filter(str.strip, texts)), bool(tables))


def _has_doubled_letters(letters: Iterable[_Letter]) -> bool:
    """Whether letters are printed twice, as some programs do to make them bold.

    Taking them away takes longer than reading the page.
    """
    places = [
        (letter["text"], round(letter["x0"]), round(letter["top"]))
        for letter in letters
        if not letter["text"].isspace()
    ]
    return len(set(places)) < len(places)


def _tables(page: "Page") -> list[_Table]:
    """The tables of a page. Of those within each other, only the innermost."""
    found: list[_Table] = []
    for table in sorted(page.find_tables(), key=lambda table: _area(table.bbox)):
        rows = [
            [
                " ".join(normalize(cell).split())
                for cell in row
                # A cell that lies over several columns or rows is there once.
                if cell is not None
            ]
            for row in table.extract(x_tolerance_ratio=_WORD_GAP)
        ]
        if sum(sum(map(bool, row)) >= _FEWEST for row in rows) < _FEWEST:
            continue
        if any(_overlap(table.bbox, other.box) for other in found):
            continue
        text = "\n".join(CELL_SEPARATOR.join(row) for row in rows if any(row))
        found.append(_Table(table.bbox, tuple(table.cells), text))
    return found


def _table_around(letter: _Letter, tables: Iterable[_Table]) -> _Table | None:
    x = (letter["x0"] + letter["x1"]) / 2
    y = (letter["top"] + letter["bottom"]) / 2
    for table in tables:
        if _holds(table.box, x, y) and any(_holds(cell, x, y) for cell in table.cells):
            return table
    return None


def _direction(letter: _Letter) -> str:
    """Where the next letter of a word is to be expected, as pdfplumber calls it."""
    along, upwards, *_ = letter["matrix"]
    if abs(along) >= abs(upwards):
        return _UPRIGHT if along >= 0 else "rtl"
    return "btt" if upwards > 0 else "ttb"


def _flowing_text(letters: list[_Letter], direction: str) -> str:
    """Letters of one direction, in their order, as lines of words."""
    from pdfplumber.utils.text import chars_to_textmap

    return chars_to_textmap(
        letters,
        use_text_flow=True,
        x_tolerance_ratio=_WORD_GAP,
        char_dir=direction,
        line_dir=_NEXT_LINE[direction],
        char_dir_render=_UPRIGHT,
        line_dir_render=_NEXT_LINE[_UPRIGHT],
    ).as_string


def _holds(box: _Box, x: float, y: float) -> bool:
    left, top, right, bottom = box
    return left <= x < right and top <= y < bottom


def _overlap(box: _Box, other: _Box) -> bool:
    return max(box[0], other[0]) < min(box[2], other[2]) and max(box[1], other[1]) < min(
        box[3], other[3]
    )


def _area(box: _Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
