"""The parts that a file itself is divided into: pages, slides, sheets."""

from dataclasses import dataclass
from typing import Literal

Unit = Literal["page", "slide", "sheet"]
"""What a part is called in the file's own program."""


@dataclass(frozen=True, slots=True)
class Section:
    """One page, slide or sheet of a text.

    Attributes:
        unit: what it is; all sections of a text are of the same kind.
        label: the number of a page or a slide, from 1 as they are counted in the file, or the
            name of a sheet.
        start: the character of the text where it begins; it ends where the next one begins. A
            section without text begins where the next one does.
    """

    unit: Unit
    label: int | str
    start: int
