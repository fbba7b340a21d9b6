"""Detection of grids of lines on a page of a PDF, as in ruled tables.

It takes a tenth of the time that PDFium needs for the text of the page; pdfplumber takes more than
thirty times as long.
"""

from collections.abc import Iterator
from ctypes import c_float
from dataclasses import dataclass, field
from typing import Any, Final

_TOLERANCE: Final = 3.0
"""Distance within which two ends meet, in points; the same as pdfplumber's."""

_MIN_LINE_POINTS: Final = 6.0
"""Minimum length of a line, in points; shorter ones are parts of letters or dashes."""

_MIN_LINES_EACH_WAY: Final = 3
"""Minimum number of lines in each direction, which enclose two rows and two columns."""

_MAX_SEGMENTS: Final = 10_000
"""Maximum number of lines and curves of a page; drawings have more and take pdfplumber minutes."""

_MAX_FORM_DEPTH: Final = 5
"""Maximum nesting depth of form objects (parts that are drawn as a unit)."""

_Point = tuple[float, float]


@dataclass(slots=True)
class _Lines:
    """Lines of one direction: for each position across it, the extent from first begin to last end.

    Gaps are considered drawn, because many programs draw rules cell by cell.
    """

    extents: dict[int, _Point] = field(default_factory=dict)

    def add(self, place: float, one_end: float, other_end: float) -> None:
        """Add a line, unless it is too short."""
        begin, end = sorted((one_end, other_end))
        if end - begin >= _MIN_LINE_POINTS:
            key = round(place / _TOLERANCE)
            known = self.extents.get(key, (begin, end))
            self.extents[key] = (min(known[0], begin), max(known[1], end))

    def places(self) -> Iterator[tuple[float, float, float]]:
        """Yield the position, begin and end of each line, extended by the tolerance."""
        for key, (begin, end) in self.extents.items():
            yield key * _TOLERANCE, begin - _TOLERANCE, end + _TOLERANCE


def has_grid(page: Any) -> bool:
    """Check whether at least three vertical lines each meet at least three horizontal ones.

    Args:
        page: a page of PDFium.

    Returns:
        Whether they do; False for a page with more than 10,000 lines and curves, which is a
        drawing.
    """
    from pypdfium2 import raw

    objects = (page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, 0)
    return _segments(*objects) <= _MAX_SEGMENTS and _has_grid(*objects)


def _segments(container: Any, count_objects: Any, get_object: Any, depth: int) -> int:
    """Count the lines and curves of a page or a form object, including nested form objects."""
    from pypdfium2 import raw

    segments = 0
    for index in range(count_objects(container)):
        part = get_object(container, index)
        kind = raw.FPDFPageObj_GetType(part)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            segments += raw.FPDFPath_CountSegments(part)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_FORM_DEPTH:
            within = (raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, depth + 1)
            segments += _segments(part, *within)
        if segments > _MAX_SEGMENTS:
            break
    return segments


def _has_grid(container: Any, count_objects: Any, get_object: Any, depth: int) -> bool:
    """Check whether the objects of a page or a form object contain a grid at any depth."""
    from pypdfium2 import raw

    upright, level = _Lines(), _Lines()
    for index in range(count_objects(container)):
        part = get_object(container, index)
        kind = raw.FPDFPageObj_GetType(part)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            for (x, y), (next_x, next_y) in _straight_lines(part):
                if abs(x - next_x) <= 1:
                    upright.add(x, y, next_y)
                elif abs(y - next_y) <= 1:
                    level.add(y, x, next_x)
        elif (
            kind == raw.FPDF_PAGEOBJ_FORM
            and depth < _MAX_FORM_DEPTH
            and _has_grid(part, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, depth + 1)
        ):
            return True
    return _cross(upright, level)


def _cross(upright: _Lines, level: _Lines) -> bool:
    rows = list(level.places())
    met = (
        sum(left <= x <= right and bottom <= y <= top for y, left, right in rows)
        for x, bottom, top in upright.places()
    )
    return sum(count >= _MIN_LINES_EACH_WAY for count in met) >= _MIN_LINES_EACH_WAY


def _straight_lines(path: Any) -> Iterator[tuple[_Point, _Point]]:
    """Yield the straight lines of a path with both ends, transformed by its matrix."""
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(path, matrix)
    x, y = c_float(), c_float()
    here = (0.0, 0.0)
    for index in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        there = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        # The segment that closes a path has this type, too.
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO:
            yield here, there
        here = there
