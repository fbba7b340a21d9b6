"""The width, the colours and the characters that stdout can show."""

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

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


def symbol(sign: str, otherwise: str) -> str:
    """A sign, or what stands for it where stdout cannot encode it."""
    try:
        sign.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return otherwise
    return sign
