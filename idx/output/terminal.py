"""The width, the colours and the characters that stdout can show."""

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from shared.control_characters import visible, visible_line, without_directions

if TYPE_CHECKING:
    from rich.console import Console

_UNLIMITED: Final = 1_000_000
"""Columns of a line that is never wrapped: rich always has a width."""

_NARROWEST: Final = 20
"""Columns to lay out for at least; no text can be read in less."""


def width() -> int | None:
    """The columns to lay out for: those of ``COLUMNS``, else of the terminal.

    Returns:
        None in a pipe without ``COLUMNS``, where lines are as long as they are.
    """
    columns = os.environ.get("COLUMNS", "")
    if (columns.isdecimal() and int(columns)) or sys.stdout.isatty():
        return max(_NARROWEST, shutil.get_terminal_size().columns)
    return None


def console() -> "Console":
    """The console on stdout, with colours where they are wanted."""
    from rich.console import Console

    return Console(width=width() or _UNLIMITED, highlight=False)


def shows_styles(out: "Console") -> bool:
    """Whether bold text can be told from other text."""
    return out.is_terminal and out.color_system is not None


def line_for_stdout(text: str) -> str:
    """A name, a path or a message on one line of stdout.

    Marks of the direction of writing stay in a pipe only, where a program may take the path.
    """
    return visible_line(text, keep_directions=not sys.stdout.isatty())


def prose_for_stdout(text: str) -> str:
    """A text of a document on stdout; a terminal gets it without marks of the direction."""
    kept = without_directions(text) if sys.stdout.isatty() else text
    return visible(kept, keep_directions=True)


def symbol(sign: str, otherwise: str) -> str:
    """A sign, or what stands for it where stdout cannot encode it."""
    try:
        sign.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return otherwise
    return sign
