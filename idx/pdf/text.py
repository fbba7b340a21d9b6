"""Text of a PDF page as read by PDFium, and text that a reader of the page does not see."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from ctypes import c_double, c_float, c_int, c_uint
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

from idx.pdf.letters import REMOVED, with_accents, with_directions, with_ligatures

_HYPHENS: Final = re.compile("[\ufffe\x02]")
"""PDFium's substitutes for a hyphen at the end of a line and the line break after it."""

_Point = tuple[float, float]

_LINE: Final = re.compile(r"\S(?:[^\r\n]*\S)?")
_GAP: Final = re.compile(r"(?<=\S) +(?=\S)")
_MAX_SHIFT: Final = 1.5
_MIN_LINE_DISTANCE: Final = 3.0
"""Distance of what stands on one line, at most, and of two lines, at least, in points."""

_MAX_SAMPLED_LETTERS: Final = 15  # letters sampled for their direction


def read_text(page: Any) -> str:
    """Return the text of a page in the order of its content, with hyphens at line ends kept.

    The page is rotated if its lines do not run from left to right: PDFium mixes up vertical lines.
    """
    with closing(page.get_textpage()) as letters:
        rotation = _rotation_to_upright(letters)
        if rotation in {None, page.get_rotation()}:
            return _text(letters, is_turned=page.get_rotation() != 0)
    page.set_rotation(rotation)
    with closing(page.get_textpage()) as letters:
        return _text(letters, is_turned=True)


def _text(letters: Any, *, is_turned: bool) -> str:
    text: str = letters.get_text_range()
    # Otherwise places in the text are not those on the page.
    is_placed = not is_turned and len(text) == letters.count_chars()
    if is_placed:
        text = with_accents(letters, with_ligatures(letters, text))
    if not is_turned and _is_in_pieces(text.replace(REMOVED, "")):
        joined = _joined(letters, text)
        text = text if _is_in_pieces(joined) else joined
    else:
        if is_placed:
            text = _with_rows(letters, with_directions(letters, text))
        text = _HYPHENS.sub("-\n", text)
    return text.replace(REMOVED, "")


def _with_rows(letters: Any, text: str) -> str:
    """Return the text of a page with each line as it stands, which matters most in tables.

    PDFium begins a line with a single letter or digit that is drawn by itself, such as a cell in a
    row, and often none after a blank.
    """
    pieces: list[str] = []
    done = last = 0
    last_end: _Point = (0, 0)
    for line in _LINE.finditer(text):
        begin, end = (_origin(letters, place) for place in (line.start(), line.end() - 1))
        if last and begin[0] > last_end[0] and abs(begin[1] - last_end[1]) < _MAX_SHIFT:
            pieces += (text[done:last], " ")
            done = line.start()
        for gap in _GAP.finditer(text, *line.span()) if _is_lower(end, begin) else ():
            before, after = (_origin(letters, place) for place in (gap.start() - 1, gap.end()))
            if after[0] < before[0] and _is_lower(after, before):
                pieces += (text[done : gap.start()], "\n")
                done = gap.end()
        last, last_end = line.end(), end
    return "".join((*pieces, text[done:]))


def _origin(letters: Any, place: int) -> _Point:
    from pypdfium2 import raw

    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(letters, place, x, y)
    return x.value, y.value


def _is_lower(origin: _Point, other: _Point) -> bool:
    return origin[1] < other[1] - _MIN_LINE_DISTANCE


_MIN_PIECES: Final = 8
_MAX_SHARE_OF_PIECES: Final = 0.4
"""Number of words of a page whose words are in pieces, at least, and share of words of one or two
letters on any other page, at most; in English they are a quarter."""

_LENGTH_OF_PIECE: Final = 2


def _is_in_pieces(text: str) -> bool:
    """Check whether words are in pieces, such as ``H e re i s so me`` for "Here is some".

    PDFium takes the space between letters that are set apart, or each by itself, for one between
    words. Scripts without upper case, such as Chinese, have short words.
    """
    lengths = [
        len(word) for word in text.split() if word.isalpha() and word.lower() != word.upper()
    ]
    short = sum(length <= _LENGTH_OF_PIECE for length in lengths)
    return len(lengths) >= _MIN_PIECES and short > _MAX_SHARE_OF_PIECES * len(lengths)


_MAX_LETTERS_PER_SPACE: Final = 12
"""Number of letters for each space, at most, in a text that has spaces between its words."""

_COLUMN_GAP: Final = 1.0
"""Distance of two letters that belong to different columns, as a fraction of their height."""


@dataclass(frozen=True, slots=True)
class _Letter:
    """Letter of a page, with its box, which is as wide as it advances."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    def gap_after(self, other: "_Letter") -> float | None:
        """Return the distance to a letter before it, by their height; None on another line."""
        height = max(self.top - self.bottom, other.top - other.bottom, _MIN_SIZE)
        is_level = abs(self.bottom - other.bottom) < height / 2
        gap = (self.left - other.right) / height
        return gap if is_level and gap > -_COLUMN_GAP else None


def _joined(letters: Any, plain: str) -> str:
    """Return the text of a page with spaces where letters are farther apart than within words."""
    found = [*_letters(letters, plain)]
    pairs = [*pairwise(found)]
    gaps = [
        gap
        for one, other in pairs
        if not (one.text.isspace() or other.text.isspace())
        and (gap := other.gap_after(one)) is not None
    ]
    has_spaces = sum(each.text.isspace() for each in found) * _MAX_LETTERS_PER_SPACE > len(found)
    least = _COLUMN_GAP if has_spaces else _largest_step(gaps)
    text = [each.text for each in found[:1]]
    for one, other in pairs:
        gap = other.gap_after(one)
        text.append("\n" if gap is None else " " if gap > least else "")
        text.append(other.text)
    return _HYPHENS.sub("-", "".join(text))


def _letters(letters: Any, plain: str) -> Iterator[_Letter]:
    """Yield the letters of a page without the spaces and line breaks that PDFium adds."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    count = letters.count_chars()
    for index in range(count):
        text = plain[index] if len(plain) == count else chr(raw.FPDFText_GetUnicode(letters, index))
        if text != REMOVED and raw.FPDFText_IsGenerated(letters, index) != 1:
            raw.FPDFText_GetLooseCharBox(letters, index, box)
            yield _Letter(text, box.left, box.bottom, box.right, box.top)


def _largest_step(gaps: Sequence[float]) -> float:
    """Return the value that divides distances into those within and those between words.

    It is that of the largest variance between both, by Otsu's method.
    """
    ordered = sorted(min(gap, _COLUMN_GAP) for gap in gaps)
    total, below, best, value = sum(ordered), 0.0, 0.0, _COLUMN_GAP
    for count, (one, other) in enumerate(pairwise(ordered), start=1):
        below += one
        above = len(ordered) - count
        variance = count * above * (below / count - (total - below) / above) ** 2
        if variance > best:
            best, value = variance, (one + other) / 2
    return value


def _rotation_to_upright(letters: Any) -> int | None:
    """Return the clockwise rotation of the page, in degrees, that makes most letters upright.

    None if there are no letters, or most are at another angle.
    """
    from pypdfium2 import raw

    count = letters.count_chars()
    angles = (
        raw.FPDFText_GetCharAngle(letters, index)
        for index in range(0, count, count // _MAX_SAMPLED_LETTERS + 1)
    )
    most = Counter(round(math.degrees(angle)) % 360 for angle in angles if angle >= 0)
    angle = most.most_common(1)[0][0] if most else None
    return None if angle is None or angle % 90 else -angle % 360


_MIN_SIZE: Final = 1.0  # size below which nobody can read a letter, in points

_MIN_ALPHA: Final = 10
_MIN_DIFFERENCE: Final = 6
"""Opacity that can be seen, and difference of a colour from the one behind it, of 255."""

_MIN_BACKGROUND: Final = 20.0
_MIN_LINE_WIDTH: Final = 4.0
"""Area in square points, and width of a line in points, from which something may be behind text."""

_MAX_BACKGROUNDS: Final = 500
_MAX_OBJECTS: Final = 20_000  # numbers of objects of a page that are looked at

_WHITE: Final = (255, 255, 255)

_Box = tuple[float, float, float, float]
_Colour = tuple[int, ...]
_Background = tuple[_Box, _Colour | None]
"""Area that is painted, and its colour; None if that is not known, as that of a picture."""


def take_hidden_text(page: Any) -> list[str]:
    """Return the text of a page that nobody sees, and remove it in memory unless there is no other.

    It lies off the page, has no size, or has the colour that is behind it. Where a picture is, the
    text may be what OCR has read in it, or stand out from it.
    """
    from pypdfium2 import PdfiumError, raw

    objects = [*islice(page.get_objects(), _MAX_OBJECTS)]
    shown = page.get_bbox()
    pictures = [_box(each) for each in objects if each.type == raw.FPDF_PAGEOBJ_IMAGE]
    behind: list[_Background] = []
    hidden = []
    for each in objects:
        with suppress(PdfiumError):
            if each.type != raw.FPDF_PAGEOBJ_TEXT:
                behind += _backgrounds(each)
            elif _is_hidden(each, shown, pictures, behind):
                hidden.append(each)
    if not hidden:
        return []
    with closing(page.get_textpage()) as letters:
        for each in hidden:
            each.textpage = letters
        texts = [f"{each.extract()} " for each in hidden]
    # Where nothing would be left, the page is more likely to be drawn in a way not known here.
    if len(hidden) < sum(each.type == raw.FPDF_PAGEOBJ_TEXT for each in objects):
        for each in hidden:
            page.remove_obj(each)
            each.close()
    return texts


def _box(each: Any) -> _Box:
    """Return the bounds of an object on the page, which may lie in forms."""
    from pypdfium2 import PdfiumError

    try:
        box: _Box = each.get_bounds()
    except PdfiumError:
        return 0, 0, 0, 0
    while (each := each.container) is not None:
        box = each.get_matrix().on_rect(*box)
    return box


def _holds(box: _Box, inner: _Box) -> bool:
    """Check whether a box has the middle of another one."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _backgrounds(each: Any) -> list[_Background]:
    """Return what an object paints, if text may stand on it."""
    from pypdfium2 import raw

    left, bottom, right, top = box = _box(each)
    if each.type == raw.FPDF_PAGEOBJ_FORM or (right - left) * (top - bottom) < _MIN_BACKGROUND:
        return []
    fill, is_stroked, width = c_int(), c_int(), c_float()
    if each.type != raw.FPDF_PAGEOBJ_PATH or not raw.FPDFPath_GetDrawMode(each, fill, is_stroked):
        return [(box, None)]
    if fill.value:
        *colour, alpha = fill_colour(each) or (0, 0, 0, 0)
        return [(box, tuple(colour) if alpha == 255 else None)]  # noqa: PLR2004 - opaque
    raw.FPDFPageObj_GetStrokeWidth(each, width)
    return [(box, None)] if is_stroked.value and width.value >= _MIN_LINE_WIDTH else []


def fill_colour(each: Any) -> _Colour | None:
    """Return the colour that fills an object, with its opacity; None for a pattern."""
    from pypdfium2 import raw

    parts = [c_uint() for _ in range(4)]
    is_plain = raw.FPDFPageObj_GetFillColor(each, *parts)
    return tuple(int(part.value) for part in parts) if is_plain else None


def _size(each: Any) -> float:
    """Return the size of the letters of a text, in points; a dash has a low box of any size."""
    size: float = each.get_font_size()
    while each is not None:
        a, b, c, d, *_ = each.get_matrix().get()
        size, each = size * math.sqrt(abs(a * d - b * c)), each.container
    return size


def _is_hidden(
    each: Any, shown: _Box, pictures: Sequence[_Box], behind: Sequence[_Background]
) -> bool:
    from pypdfium2 import raw

    box = _box(each)
    if box[2] < shown[0] or box[0] > shown[2] or box[3] < shown[1] or box[1] > shown[3]:
        return True
    if box[3] - box[1] < _MIN_SIZE and _size(each) < _MIN_SIZE:
        return True
    mode, colour = raw.FPDFTextObj_GetTextRenderMode(each), fill_colour(each)
    if mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE or (colour and colour[3] < _MIN_ALPHA):
        return not any(_holds(picture, box) for picture in pictures)
    is_filled = mode in (raw.FPDF_TEXTRENDERMODE_FILL, raw.FPDF_TEXTRENDERMODE_FILL_CLIP)
    if colour is None or not is_filled or len(behind) > _MAX_BACKGROUNDS:
        return False
    ground = next((colour for area, colour in reversed(behind) if _holds(area, box)), _WHITE)
    return ground is not None and all(
        abs(one - other) < _MIN_DIFFERENCE for one, other in zip(colour, ground, strict=False)
    )
