"""What goes to stdout, and what to stderr: the answer, and everything else.

On a terminal, or where ``COLUMNS`` is set, lines fit its width; a pipe gets each value whole.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import typer

from shared.errors import McpLuceneError
from shared.messages import quantity, visible, visible_json, visible_line, without_directions

if TYPE_CHECKING:
    from rich.console import Console

    from shared.maintenance.upkeep import Step

_UNLIMITED_WIDTH: Final = 1_000_000  # of lines that must not wrap; rich requires a width
_MIN_LAYOUT_WIDTH: Final = 20  # in columns; text is unreadable in less

SECONDS_BEFORE_ESTIMATE: Final = 30.0  # of a run before it is said how long it will still take
_SECONDS_SAID_IN_MINUTES: Final = 5_400.0


def print_json(answer: Any) -> None:
    """Print an answer of `shared`, or plain data, as one JSON value."""
    from shared.model.search_results import plain

    value = plain(answer) if is_dataclass(answer) else answer
    tell_json(value, indent=2)


def print_done(value: Any, text: str, *, as_json: bool) -> None:
    """Print what a command did: as JSON, or as a line of text."""
    if as_json:
        print_json(value)
    else:
        tell(text)


def tell_json(value: Any, *, indent: int | None = None) -> None:
    """Print plain data as JSON on stdout, with escapes for what its encoding does not have."""
    text = visible_json(json.dumps(value, ensure_ascii=False, indent=indent))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    _print(text)


def check_one_form(*, as_json: bool, plain: bool) -> None:
    if as_json and plain:
        raise typer.BadParameter("give --json or --plain, not both")


def say(text: str) -> None:
    typer.echo(visible_line(text), file=sys.stderr)


def warn(text: str) -> None:
    say(f"Warning: {text}")


def created(index_path: Path | str) -> str:
    return f"Created an index at {index_path}"


def tell(text: str) -> None:
    _print(line_for_stdout(text))


def _print(text: str) -> None:
    # Without a file, typer would write UTF-8 whatever the encoding of stdout.
    typer.echo(text, file=sys.stdout)


class ConfirmationMissingError(McpLuceneError):
    """Standard input is not a terminal, and ``--yes`` was not given."""


def confirm(action: str, *, yes: bool) -> bool:
    """Ask whether to do what cannot be undone, a verb phrase in lower case.

    An empty answer or the end of the input means no.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfirmationMissingError(f"refusing to {action} without a terminal; pass --yes")
    # On stderr, because stdout is reserved for the answer of the command. The question of typer
    # would take Ctrl-C for the end of the input.
    question = visible_line(f"{action[0].upper()}{action[1:]}? [y/N]: ")
    typer.echo(question, file=sys.stderr, nl=False)
    try:
        return input().strip().lower() in {"y", "yes"}
    except EOFError:
        return False


Row = Sequence[str]  # the values of a row of a table


def print_table(columns: Row, rows: Iterable[Row], *, headings: bool = True) -> None:
    """Print rows under headings: aligned and wrapped on a terminal, tab-separated in a pipe."""
    if width() is None:
        for row in [columns, *rows] if headings else rows:
            cells = (line_for_stdout(value).replace("\t", "\\t") for value in row)
            print("\t".join(cells).rstrip("\t"))
        return
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    rule = symbol("─", "-")
    lines = f"    \n    \n {rule}{rule} \n" + "    \n" * 5
    table = Table(
        box=Box(lines, ascii=rule == "-"),
        show_header=headings,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
        border_style="none",
    )
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(line_for_stdout(value)) for value in row))
    out = console()
    with out.capture() as shown:
        out.print(table)
    for line in shown.get().splitlines():
        print(line.rstrip())


def width() -> int | None:
    """Return the layout width in columns: that of ``COLUMNS``, otherwise of the terminal.

    None in a pipe without ``COLUMNS``, where lines are not wrapped.
    """
    columns = os.environ.get("COLUMNS", "")
    if (columns.isdecimal() and int(columns)) or sys.stdout.isatty():
        return max(_MIN_LAYOUT_WIDTH, shutil.get_terminal_size().columns)
    return None


def console() -> "Console":
    from rich.console import Console

    return Console(width=width() or _UNLIMITED_WIDTH, highlight=False)


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


Item = TypeVar("Item")


def counted(items: Iterable[Item], name: str) -> Iterator[Item]:
    """Pass items on and show their number; silent if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} " + name), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items)


def time_left(seconds: float, done: float, total: float) -> str:
    """Say how long a run will still take, by its pace so far; nothing in its first half minute."""
    if seconds < SECONDS_BEFORE_ESTIMATE or not 0 < done < total:
        return ""
    left = seconds * (total - done) / done
    if left < 60:  # noqa: PLR2004 - a minute
        return ", less than a minute left"
    if left < _SECONDS_SAID_IN_MINUTES:
        return f", about {quantity(round(left / 60), 'minute')} left"
    return f", about {quantity(round(left / 3_600), 'hour')} left"


def _told(steps: Iterable["Step"]) -> Iterator["Step"]:
    """Pass on the steps of a run and tell its progress each half minute."""
    began = told = time.monotonic()
    activity = ""
    for step in steps:
        now = time.monotonic()
        if step.activity != activity:
            activity, began = step.activity, now
        if now - told >= SECONDS_BEFORE_ESTIMATE:
            told = now
            left = time_left(now - began, step.done, step.total)
            say(f"{activity}: {step.done:,} of {max(step.total, step.done):,}{left}")
        yield step


def shown(steps: Iterable["Step"]) -> Iterator["Step"]:
    """Pass on the steps of a run and show its progress: a bar on a terminal, else some lines."""
    if not sys.stderr.isatty():
        yield from _told(steps)
        return
    from rich import progress as bar
    from rich.console import Console

    columns = (
        *(bar.TextColumn("{task.description}"), bar.BarColumn(), bar.TaskProgressColumn()),
        bar.TimeRemainingColumn(elapsed_when_finished=True),
    )
    with bar.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("")
        for step in steps:
            total = max(step.total, step.done)
            progress.update(task, description=step.activity, completed=step.done, total=total)
            yield step
