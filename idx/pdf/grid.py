"""Pages of a PDF that pdfplumber reads better than PDFium, found by their lines, shades and text.

It takes a tenth of the time that PDFium needs for the text of the page; pdfplumber takes more than
thirty times as long.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from ctypes import c_float, c_int
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from idx.pdf.text import fill_colour

_TOLERANCE: Final = 3.0  # distance within which two ends meet, in points; the same as pdfplumber's
_MIN_LINE_POINTS: Final = 6.0  # length of a line; shorter ones are parts of letters or dashes

_MAX_RULE: Final = 2.0
_MAX_HAIRLINE: Final = 1.0
"""Width of a filled area that is a rule, in points. One wider than a hairline is a shade if it has
the colour of one, as the narrow columns of reports."""

_MIN_LINES_EACH_WAY: Final = 3  # lines in each direction, which enclose two rows and two columns
_MIN_ROWS: Final = 2  # rows with text in several cells of a ruled table, as in `read_table_pages`

_MIN_SHADED_ROWS: Final = 4
_MIN_BROKEN_ROWS: Final = 3
_MIN_TWO_LINES: Final = 14.0
"""Number of rows of a shaded table, and of those of a page that PDFium breaks into lines, at least,
and height of two lines, in points. Fewer shaded rows are headings, and rows of a line are as well
read by PDFium."""

_PADDING: Final = 1.0  # distance of the text of a cell from its border, in points, at least
_MAX_CELLS: Final = 3_000  # cells of a page whose text is looked for

_MAX_SEGMENTS: Final = 10_000
"""Maximum number of lines and curves of a page; drawings have more and take pdfplumber minutes."""

_MAX_LEVELS: Final = 6  # of form objects (parts that are drawn as a unit), and of the page

_Point = tuple[float, float]
_Box = tuple[float, float, float, float]

Layout = tuple[int, ...]
"""Places of the columns of the tables of a page, by which pages of the same kind are known."""


@dataclass(slots=True)
class _Lines:
    """Lines of one direction: for each position across it, the extent from first begin to last end.

    Gaps are considered drawn, because many programs draw rules cell by cell.
    """

    extents: dict[int, _Point] = field(default_factory=dict)

    def add(self, place: float, one_end: float, other_end: float) -> None:
        begin, end = sorted((one_end, other_end))
        if end - begin >= _MIN_LINE_POINTS:
            key = round(place / _TOLERANCE)
            known = self.extents.get(key, (begin, end))
            self.extents[key] = (min(known[0], begin), max(known[1], end))

    def places(self) -> Iterator[tuple[float, float, float]]:
        """Yield the position, begin and end of each line, extended by the tolerance."""
        for key, (begin, end) in self.extents.items():
            yield key * _TOLERANCE, begin - _TOLERANCE, end + _TOLERANCE


@dataclass(frozen=True, slots=True)
class _Shape:
    """Part of a path that is drawn without lifting the pen: its corners, and what only fills it."""

    corners: list[_Point]
    fill: tuple[int, ...] | None

    @property
    def box(self) -> _Box:
        across, upwards = zip(*self.corners, strict=True)
        return min(across), min(upwards), max(across), max(upwards)


@dataclass(slots=True)
class _Rows:
    """Rows of shaded cells: the cells by bottom and top, in units of the tolerance."""

    cells: dict[tuple[int, int], set[_Box]] = field(default_factory=lambda: defaultdict(set))

    def add(self, box: _Box) -> None:
        left, bottom, right, top = map(round, box)
        place = round(box[1] / _TOLERANCE), round(box[3] / _TOLERANCE)
        self.cells[place].add((left, bottom, right, top))

    def tables(self) -> Iterator[list[set[_Box]]]:
        """Yield the rows of each table, from the top; between two may be one without shade."""
        table: list[set[_Box]] = []
        last, height = 0, 0
        for (bottom, top), cells in sorted(self.cells.items(), key=lambda row: row[0][::-1])[::-1]:
            if len(cells) > 1:
                if table and last - top > max(height, top - bottom):
                    yield table
                    table = []
                table.append(cells)
                last, height = bottom, top - bottom
        yield table


def table_layout(page: Any) -> Layout | None:
    """Return the layout of a page with tables that pdfplumber reads better than PDFium, or None.

    They have rules around cells with text, in two columns and two rows at least. Or their cells are
    shaded, and several of their rows have more than a line. Pages with more than 10,000 lines and
    curves are drawings.
    """
    shapes = _shapes(page)
    if shapes is None:
        return None
    rules, shades = _divided(shapes)
    columns, rows = _grid(rules)
    tables = [table for table in shades.tables() if len(table) >= _MIN_SHADED_ROWS]
    high = [row for table in tables for row in table if _is_high(row)]
    may_be_broken = _MIN_BROKEN_ROWS <= len(high) <= _MAX_CELLS
    if not columns and not may_be_broken:
        return None
    with closing(page.get_textpage()) as letters:
        if _has_cells(letters, columns, rows):
            return tuple(map(round, columns))
        if may_be_broken and sum(_is_broken(letters, row) for row in high) >= _MIN_BROKEN_ROWS:
            return tuple(sorted({round(cell[0]) for row in high for cell in row}))
    return None


def _divided(shapes: Sequence[_Shape]) -> tuple[list[_Shape], _Rows]:
    rules, rows, colours = [], _Rows(), set()
    for shape in shapes:
        left, bottom, right, top = box = shape.box
        if shape.fill is None or min(right - left, top - bottom) <= _MAX_RULE:
            rules.append(shape)
        else:
            rows.add(box)
            colours.add(shape.fill)
    return [rule for rule in rules if rule.fill not in colours or _is_hairline(rule.box)], rows


def _is_hairline(box: _Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) <= _MAX_HAIRLINE


def _grid(rules: Sequence[_Shape]) -> tuple[list[float], list[float]]:
    """Return the places of vertical lines that each meet enough horizontal ones, and of those."""
    upright, level = _Lines(), _Lines()
    for rule in rules:
        for (x, y), (next_x, next_y) in pairwise(rule.corners):
            if abs(x - next_x) <= 1:
                upright.add(x, y, next_y)
            elif abs(y - next_y) <= 1:
                level.add(y, x, next_x)
    across = [*level.places()]
    columns: list[float] = []
    rows: set[float] = set()
    for x, bottom, top in upright.places():
        met = [y for y, left, right in across if left <= x <= right and bottom <= y <= top]
        if len(met) >= _MIN_LINES_EACH_WAY:
            columns.append(x)
            rows.update(met)
    return (sorted(columns), sorted(rows)) if len(columns) >= _MIN_LINES_EACH_WAY else ([], [])


def _has_cells(letters: Any, columns: Sequence[float], rows: Sequence[float]) -> bool:
    """Check whether cells between lines have text, in more than one column of several rows."""
    if len(columns) * len(rows) > _MAX_CELLS:
        return True
    found = 0
    for bottom, top in pairwise(rows):
        cells = ((left, bottom, right, top) for left, right in pairwise(columns))
        found += sum(bool(_lines_in(letters, cell)) for cell in cells) > 1
        if found >= _MIN_ROWS:
            return True
    return False


def _is_high(cells: set[_Box]) -> bool:
    return max(top - bottom for _, bottom, _, top in cells) >= _MIN_TWO_LINES


def _is_broken(letters: Any, cells: set[_Box]) -> bool:
    """Check whether a row has text in several cells, and more than one line in one of them."""
    lines = [*filter(None, (_lines_in(letters, cell) for cell in cells))]
    return len(lines) > 1 and max(lines) > 1


def _lines_in(letters: Any, cell: _Box) -> int:
    left, bottom, right, top = cell
    if min(right - left, top - bottom) <= 2 * _PADDING:
        return 0
    inner = (left + _PADDING, bottom + _PADDING, right - _PADDING, top - _PADDING)
    return sum(bool(line.strip()) for line in letters.get_text_bounded(*inner).splitlines())


def _shapes(page: Any) -> list[_Shape] | None:
    """Return all that is drawn on a page, in its units; None for a drawing of too many lines."""
    from pypdfium2 import raw

    shapes: list[_Shape] = []
    segments = 0
    fill, is_stroked = c_int(), c_int()
    for path in page.get_objects([raw.FPDF_PAGEOBJ_PATH], _MAX_LEVELS):
        segments += raw.FPDFPath_CountSegments(path)
        if segments > _MAX_SEGMENTS:
            return None
        raw.FPDFPath_GetDrawMode(path, fill, is_stroked)
        if fill.value or is_stroked.value:
            colour = None if is_stroked.value else fill_colour(path) or ()
            shapes += (_Shape(corners, colour) for corners in _corners(path))
    return shapes


def _corners(path: Any) -> Iterator[list[_Point]]:
    """Yield the corners of each part of a path between which straight lines are drawn."""
    from pypdfium2 import raw

    matrix, around = path.get_matrix(), path.container
    while around is not None:
        matrix, around = matrix.multiply(around.get_matrix()), around.container
    x, y = c_float(), c_float()
    corners: list[_Point] = []
    for index in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        # The segment that closes a path has the type of a line, too.
        if raw.FPDFPathSegment_GetType(segment) != raw.FPDF_SEGMENT_LINETO:
            if len(corners) > 1:
                yield corners
            corners = []
        corners.append(matrix.on_point(x.value, y.value))
    if len(corners) > 1:
        yield corners
