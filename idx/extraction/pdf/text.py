"""Text of a PDF page as read by PDFium."""

import math
import re
from collections import Counter
from contextlib import closing
from typing import Any, Final

_HYPHENS: Final = re.compile("[\ufffe\x02]")
"""PDFium's substitutes for a hyphen at the end of a line and the line break after it."""

_MAX_SAMPLED_LETTERS: Final = 15
"""Maximum number of letters sampled for their direction."""


def read_text(page: Any) -> str:
    """Return the text of a page in the order of its content, with hyphens at line ends kept.

    Args:
        page: a page of PDFium; it is rotated if its lines do not run from left to right, because
            PDFium mixes up vertical lines.
    """
    with closing(page.get_textpage()) as letters:
        rotation = _rotation_to_upright(letters)
        if rotation in {None, page.get_rotation()}:
            return _text(letters)
    page.set_rotation(rotation)
    with closing(page.get_textpage()) as letters:
        return _text(letters)


def _text(letters: Any) -> str:
    return _HYPHENS.sub("-\n", letters.get_text_range())


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
