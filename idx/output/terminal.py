"""Capabilities of stdout: width, styles and encodable characters."""

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from shared.control_characters import visible, visible_line, without_directions

if TYPE_CHECKING:
    from rich.console import Console

_UNLIMITED_WIDTH: Final = 1_000_000
"""Width of lines that must not wrap, in columns; rich requires a width."""

_MIN_LAYOUT_WIDTH: Final = 20
"""Minimum width of the layout, in columns; text is unreadable in less."""


def width() -> int | None:
    """Return the layout width in columns: that of ``COLUMNS``, otherwise of the terminal.

    Returns:
        None in a pipe without ``COLUMNS``, where lines are not wrapped.
    """
    columns = os.environ.get("COLUMNS", "")
    if (columns.isdecimal() and int(columns)) or sys.stdout.isatty():
        return max(_MIN_LAYOUT_WIDTH, shutil.get_terminal_size().columns)
    return None


def console() -> "Console":
    """Return a console on stdout, with colours if they are enabled."""
    from rich.console import Console

    return Console(width=width() or _UNLIMITED_WIDTH, highlight=False)


def shows_styles(out: "Console") -> bool:
    """Check whether the console can distinguish bold text."""
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
    """Return a sign, or its substitute if stdout cannot encode it."""
    try:
        sign.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return otherwise
    return sign
