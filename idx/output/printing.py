"""What goes to stdout, and what to stderr: the answer, and everything else."""

import json
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import typer

from idx.output.terminal import line_for_stdout
from shared.control_characters import visible_json, visible_line


def print_json(answer: Any) -> None:
    """Print an answer of `shared`, or plain data, as one JSON value."""
    from shared.model.search_results import plain

    value = plain(answer) if is_dataclass(answer) else answer
    tell_json(value, indent=2)


def tell_json(value: Any, *, indent: int | None = None) -> None:
    """Print plain data as JSON on stdout, with escapes for what its encoding does not have."""
    text = visible_json(json.dumps(value, ensure_ascii=False, indent=indent))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    _print(text)


def check_one_form(*, as_json: bool, plain: bool) -> None:
    """Refuse two forms of the answer at once.

    Raises:
        BadParameter: both are asked for.
    """
    if as_json and plain:
        raise typer.BadParameter("give --json or --plain, not both")


def say(text: str) -> None:
    """Print a message for people on stderr, on one line."""
    typer.echo(visible_line(text), file=sys.stderr)


def created(index_path: Path | str) -> str:
    """The message that a command created the index it writes to."""
    return f"Created an index at {index_path}"


def tell(text: str) -> None:
    """Print a line of the answer on stdout."""
    _print(line_for_stdout(text))


def warn(text: str) -> None:
    """Print a warning on stderr."""
    say(f"Warning: {text}")


def _print(text: str) -> None:
    # Without a file, typer would write UTF-8 whatever the encoding of stdout.
    typer.echo(text, file=sys.stdout)


Row = Sequence[str]
"""The values of a row of a table."""


class Unbroken(str):
    """A value that is never broken over lines, such as a path.

    Where it does not fit into its column, it stands on a line of its own.
    """

    __slots__ = ()
