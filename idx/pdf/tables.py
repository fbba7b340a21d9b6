"""Text of PDF pages with tables, each table row on its own line."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import combinations, groupby, islice
from typing import TYPE_CHECKING, Any, Final

from idx.text.cleaning import CELL_SEPARATOR, normalize

if TYPE_CHECKING:
    from pdfplumber.page import Page
    from pdfplumber.pdf import PDF

_WORD_GAP: Final = 0.15
"""Width of a space between two words, as a fraction of the size of the preceding letter."""

_MIN_TABLE_ROWS: Final = 2
"""Minimum number of rows with text in a table, and of cells with text in such a row.

Smaller grids are boxes, or belong to charts.
"""

_UPRIGHT: Final = "ltr"

_NEXT_LINE: Final = {_UPRIGHT: "ttb", "rtl": "btt", "btt": "ltr", "ttb": "rtl"}
"""Direction of the lines for each direction of the letters; text is rotated, not mirrored."""

_Letter = dict[str, Any]
_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class TablePage:
    """Page as read by pdfplumber."""

    text: str
    has_tables: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Ruled table: its bounding box, its cells, and its rows as lines."""

    box: _Box
    cells: tuple[_Box, ...]
    text: str


def read_table_pages(
    data: bytes,
    password: str | None,
    numbers: Sequence[int],
    count: int,
    until: float,
    is_needed: Callable[[int], bool],
) -> Iterator[tuple[int, TablePage | Exception]]:
    """Read pages of a PDF with pdfplumber, and yield each with its content or its error.

    No page is started after `until`: it has a `TimeoutError`. `is_needed` says, when a page's
    turn comes, whether it is still to be read; `count` is the number of pages according to PDFium.
    """
    if not numbers:
        return
    import pdfplumber

    missing = set(numbers)
    error: Exception = TimeoutError("half of --timeout had passed")
    try:
        with pdfplumber.open(BytesIO(data), pages=list(numbers), password=password) as pdf:
            _check_numbers(pdf, count)
            for page in pdf.pages:
                if time.monotonic() > until:
                    break
                missing.discard(page.page_number)
                if not is_needed(page.page_number):
                    continue
                yield page.page_number, _read(page)
                # Each page caches its layout, which would accumulate in a long document.
                page.close()
    except MemoryError:
        raise
    except Exception as failure:  # noqa: BLE001 - a damaged file may cause any error
        error = failure
    for number in sorted(missing):
        yield number, error


def _check_numbers(pdf: "PDF", count: int) -> None:
    """Check that pages have the same numbers in pdfplumber as in PDFium.

    pdfplumber skips pages that are damaged or listed twice, without leaving a gap in the numbers.
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
    # On a page turned sideways, columns would be taken for rows.
    tables = _tables(page) if upright > len(letters) / 2 else []
    waiting = set(tables)
    texts = []
    # Letters arrive in the order of the page's content, which keeps columns apart, as in PDFium.
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
    """Check whether letters are printed twice, as some programs do for bold text.

    Removing duplicates takes longer than reading the page.
    """
    places = [
        (letter["text"], round(letter["x0"]), round(letter["top"]))
        for letter in letters
        if not letter["text"].isspace()
    ]
    return len(set(places)) < len(places)


def _tables(page: "Page") -> list[_Table]:
    from pdfplumber.utils.geometry import calculate_area

    found: list[_Table] = []
    for table in sorted(page.find_tables(), key=lambda table: calculate_area(table.bbox)):
        rows = [
            [
                " ".join(normalize(cell).split())
                for cell in row
                # A merged cell appears once.
                if cell is not None
            ]
            for row in table.extract(x_tolerance_ratio=_WORD_GAP)
        ]
        if sum(sum(map(bool, row)) >= _MIN_TABLE_ROWS for row in rows) < _MIN_TABLE_ROWS:
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
    """Return the direction of the text at a letter, in pdfplumber's notation."""
    along, upwards, *_ = letter["matrix"]
    if abs(along) >= abs(upwards):
        return _UPRIGHT if along >= 0 else "rtl"
    return "btt" if upwards > 0 else "ttb"


def _flowing_text(letters: list[_Letter], direction: str) -> str:
    """Join letters of one direction to lines of words, in their order."""
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


_MIN_ROWS: Final = 3  # rows in a band; two words in each of two cells are often one row
_MIN_SHARE_OF_PAIRS: Final = 0.6  # share of the rows of a band that the plain text has as lines

_MAX_LOST_WORDS: Final = 3
_MAX_LOST_SHARE: Final = 0.02
"""Maximum number and share of a page's words that may stand otherwise in its tables."""

_MAX_TORN_ROWS: Final = 2  # lines with numbers that a page's tables have in pieces

_NUMBER: Final = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]")
_DIGITS: Final = frozenset("0123456789")


def merges_rows(tables: str, plain: str) -> bool:
    """Check whether a row of a page's tables is several lines of its plain text."""
    lines: list[set[str]] | None = None
    for row in tables.split("\n"):
        cells = [cell.split() for cell in row.split(CELL_SEPARATOR.strip())]
        long = [cell for cell in cells if len(cell) >= _MIN_ROWS]
        for one, other in combinations(long, 2):
            has_numbers = any(
                all(not _DIGITS.isdisjoint(word) for word in cell) for cell in (one, other)
            )
            if len(one) != len(other) or not has_numbers:
                continue
            lines = lines or [set(line.split()) for line in plain.split("\n")]
            pairs = [*zip(one, other, strict=True)]
            found = sum(any({*pair} <= line for line in lines) for pair in pairs)
            on_one_line = any({*one, *other} <= line for line in lines)
            if found >= _MIN_SHARE_OF_PAIRS * len(pairs) and not on_one_line:
                return True
    return False


def tears_rows(tables: str, plain: str) -> bool:
    """Check whether lines of the plain text with numbers are in pieces, as labels without them.

    Where only some cells of a table are drawn, the others come apart from them.
    """
    rows = [{*row.split()} for row in normalize(tables).split("\n")]
    lines = ({*line.split()} for line in normalize(plain).split("\n") if _NUMBER.search(line))
    torn = (line for line in lines if len(line) > 1 and not any(line <= row for row in rows))
    return len([*islice(torn, _MAX_TORN_ROWS + 1)]) > _MAX_TORN_ROWS


def loses_words(tables: str, plain: str) -> bool:
    """Check whether words of a page are in pieces, such as ``11,062 .6`` for ``11,062.6``."""
    words = Counter(normalize(plain).split())
    lost = words - Counter(normalize(tables.replace(CELL_SEPARATOR.strip(), " ")).split())
    return lost.total() > max(_MAX_LOST_WORDS, _MAX_LOST_SHARE * words.total())
