"""What goes to stdout, and what to stderr: the answer, and everything else."""

import json
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import typer

from idx.control_characters import visible_line


def print_json(answer: Any) -> None:
    """Print an answer of `shared`, or plain data, as one JSON value."""
    from shared.results import plain

    value = plain(answer) if is_dataclass(answer) else answer
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def say(text: str) -> None:
    """Print a message for people on stderr, on one line."""
    typer.echo(visible_line(text), err=True)


def say_created(index_path: Path | str) -> None:
    """Print on stderr that a command created the index it writes to."""
    say(f"Created an index at {index_path}")


def tell(text: str) -> None:
    """Print a line of the answer on stdout."""
    typer.echo(visible_line(text))


def warn(text: str) -> None:
    """Print a warning on stderr."""
    say(f"Warning: {text}")
