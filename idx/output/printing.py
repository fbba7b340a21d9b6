"""What goes to stdout, and what to stderr: the answer, and everything else."""

import json
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Final

import typer

_SHOWN: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}

_SHOWN_ON_ONE_LINE: Final = _SHOWN | {0x0A: "\\n", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def visible(text: str) -> str:
    """The text with control characters as escapes of Python; tabs and ends of lines stay."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def visible_line(text: str) -> str:
    """The text with all control characters as escapes of Python, on one line."""
    return text.translate(_SHOWN_ON_ONE_LINE)


def print_json(answer: Any) -> None:
    """Print an answer of `shared`, or plain data, as one JSON value."""
    from shared.model.search_results import plain

    value = plain(answer) if is_dataclass(answer) else answer
    tell_json(value, indent=2)


def tell_json(value: Any, *, indent: int | None = None) -> None:
    """Print plain data as JSON on stdout, with escapes for what its encoding does not have."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
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
    _print(visible_line(text))


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
