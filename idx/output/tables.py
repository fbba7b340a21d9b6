"""Tables of rows: aligned on a terminal, tab-separated in a pipe."""

from collections.abc import Iterable

from idx.output.printing import Row
from idx.output.terminal import console, line_for_stdout, width


def print_table(columns: Row, rows: Iterable[Row], *, headings: bool = True) -> None:
    """Print rows of text under headings; each row has a value for each column."""
    columns_of_terminal = width()
    if columns_of_terminal is None:
        for row in [columns, *rows] if headings else rows:
            print("\t".join(map(_without_tabs, row)).rstrip("\t"))
        return
    from idx.output.table_layout import aligned

    shown = [[type(value)(line_for_stdout(value)) for value in row] for row in rows]
    out = console()
    for line in aligned(columns if headings else None, shown, columns_of_terminal):
        # The terminal wraps longer lines itself, so that no line break splits a path.
        out.print(line, soft_wrap=True)


def _without_tabs(value: str) -> str:
    return line_for_stdout(value).replace("\t", "\\t")
