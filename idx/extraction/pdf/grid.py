"""Whether the lines on a page of a PDF form a grid, as those of a ruled table do.

This takes a tenth of the time that PDFium takes for the text of the page; pdfplumber takes more
than thirty times as long.
"""

from collections.abc import Iterator
from ctypes import c_float
from dataclasses import dataclass, field
from typing import Any, Final

_TOLERANCE: Final = 3.0
"""Points between two ends that meet; pdfplumber's."""

_SHORTEST: Final = 6.0
"""Points of a line; shorter ones are parts of letters, or of dashes."""

_FEWEST: Final = 3
"""Lines either way around two rows and two columns."""

_MOST_SEGMENTS: Final = 10_000
"""Lines and curves of one page; one with more is a drawing, with which pdfplumber takes minutes."""

_DEEPEST: Final = 5
"""Form objects (parts that are drawn as a whole) within each other."""

_Point = tuple[float, float]


@dataclass(slots=True)
class _Lines:
    """Lines of one direction: by their place across it, where the first begins and the last ends.

    What lies between is taken for drawn: rules are drawn cell by cell by many programs.
    """

    extents: dict[int, _Point] = field(default_factory=dict)

    def add(self, place: float, one_end: float, other_end: float) -> None:
        """Add a line, unless it is a short one."""
        begin, end = sorted((one_end, other_end))
        if end - begin >= _SHORTEST:
            key = round(place / _TOLERANCE)
            known = self.extents.get(key, (begin, end))
            self.extents[key] = (min(known[0], begin), max(known[1], end))

    def places(self) -> Iterator[tuple[float, float, float]]:
        """Each line's place, begin and end, as far as they may be with the tolerance."""
        for key, (begin, end) in self.extents.items():
            yield key * _TOLERANCE, begin - _TOLERANCE, end + _TOLERANCE


def has_grid(page: Any) -> bool:
    """Whether at least three upright lines each meet at least three level ones.

    Args:
        page: a page of PDFium.

    Returns:
        whether they do; False for a page with more than 10,000 lines, which is a drawing.
    """
    from pypdfium2 import raw

    objects = (page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, 0)
    return _segments(*objects) <= _MOST_SEGMENTS and _has_grid(*objects)


def _segments(container: Any, count_objects: Any, get_object: Any, depth: int) -> int:
    """Lines and curves of a page or a form object, those of form objects within it included."""
    from pypdfium2 import raw

    segments = 0
    for index in range(count_objects(container)):
        part = get_object(container, index)
        kind = raw.FPDFPageObj_GetType(part)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            segments += raw.FPDFPath_CountSegments(part)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            within = (raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, depth + 1)
            segments += _segments(part, *within)
        if segments > _MOST_SEGMENTS:
            break
    return segments


def _has_grid(container: Any, count_objects: Any, get_object: Any, depth: int) -> bool:
    """Whether there is a grid among the objects of a page or a form object, or deeper in one."""
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
            and depth < _DEEPEST
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
    return sum(count >= _FEWEST for count in met) >= _FEWEST


def _straight_lines(path: Any) -> Iterator[tuple[_Point, _Point]]:
    """The straight lines of a path, both ends of each, as its matrix places them."""
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
        # What closes a path is such a line, too.
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO:
            yield here, there
        here = there
