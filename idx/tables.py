"""Tables on a terminal; plain, unwrapped columns in a pipe."""

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from idx.control_characters import visible_line

PIPE_WIDTH = 10_000
"""Columns of a line that is not on a terminal: long enough that no value is cut."""


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, headings: bool = True
) -> None:
    """Print rows of text under headings; each row has as many values as there are columns."""
    table = Table(box=box.SIMPLE_HEAD if headings else None, show_header=headings)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible_line(value)) for value in row))
    console().print(table)


def console() -> Console:
    """The console on stdout."""
    return Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH, soft_wrap=True)
