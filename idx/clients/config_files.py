"""A client's file: which servers stand in it, and how this one is added."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from idx.clients import jsonc
from idx.clients.client import Client, Format
from idx.clients.errors import ClientConfigurationError
from idx.clients.launch import Launch, launch_in
from idx.configuration import toml
from shared.files.content import (
    IrregularFileError,
    locked,
    read_of_owner,
    write_atomically,
)
from shared.messages import reason_of

Outcome = Literal["added", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How files of a format are read, and changed without touching the rest."""

    parse: Callable[[str], dict[str, Any]]
    with_value: Callable[[str, Sequence[str], Any], str]


_SYNTAX: Final[dict[Format, _Syntax]] = {
    "json": _Syntax(jsonc.parse, jsonc.with_value),
    "toml": _Syntax(toml.parse, toml.with_value),
}


_STARTING: Final = frozenset({"command", "args"})
"""What of an entry says how the server is started; the rest is the user's once it is there."""

_MAX_BYTES: Final = 100_000_000
"""The longest file of a client that is read; some keep their conversations in it."""

_MARK: Final = "\ufeff"
"""The byte order mark that some editors put before the text."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a client's file.

    Attributes:
        outcome: whether the server was added, changed, or there already.
        backup: a copy of the file as it was before; None if it is new or unchanged.
    """

    outcome: Outcome
    backup: Path | None = None


def example(client: Client, name: str, launch: Launch) -> str:
    """A whole file that holds nothing but this server, which ends in a newline."""
    syntax = _SYNTAX[client.format]
    text = syntax.with_value("", (*client.keys, name), client.shape(launch))
    return text if text.endswith("\n") else f"{text}\n"


def servers(client: Client, file: Path) -> Mapping[str, Any]:
    """The servers in a client's file by their names; none if there is no such file.

    Raises:
        ClientConfigurationError: the file cannot be read as what it should be.
    """
    return _table(client, file, _read(client, file).says)


def write(client: Client, file: Path, name: str, launch: Launch) -> Written:
    """Add this server to a client's file, or change how it is started there.

    What else stands in the file stays, and so does what an entry that is changed says besides. The
    file is replaced as a whole, after a copy of it was made beside it; another program that does so
    at the same time waits.

    Args:
        client: the client.
        file: its file, which is created if it does not exist.
        name: of the server in the file.
        launch: how the server is started.

    Raises:
        ClientConfigurationError: the file cannot be read or written, something in it is wrong,
            or another server has the name.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(file))
        except OSError as error:
            raise _not_written(client, file, error) from error
        return _write(client, file, name, launch)


def _write(client: Client, file: Path, name: str, launch: Launch) -> Written:
    content = _read(client, file)
    table = _table(client, file, content.says)
    present = table.get(name)
    known = launch_in(present)
    if present is not None and not (known and known.is_of_this_server):
        raise _refusal(client, file, f"another server is called {name}", "choose another --name")
    wanted = _wanted(client, launch.with_options_of(known) if known else launch, present or {})
    if wanted == present:
        return Written("unchanged")
    try:
        text = _changed(client, content.text, name, present, wanted)
        done = _table(client, file, _SYNTAX[client.format].parse(text))
    except ValueError:
        done = {}
    if done != {**table, name: wanted}:
        raise _refusal(client, file, "it is laid out in a way that cannot be changed safely")
    try:
        backup = _back_up(file)
        write_atomically(file, (content.mark + text).encode())
    except OSError as error:
        raise _not_written(client, file, error) from error
    return Written("added" if present is None else "changed", backup)


def _wanted(client: Client, launch: Launch, present: Mapping[str, Any]) -> dict[str, Any]:
    """An entry that starts the server, and says besides what the present one does."""
    entry = client.shape(launch)
    return {**entry, **present, **{key: entry[key] for key in _STARTING & entry.keys()}}


def _changed(
    client: Client,
    text: str,
    name: str,
    present: Mapping[str, Any] | None,
    wanted: Mapping[str, Any],
) -> str:
    """A text with an entry, or with what is wanted of the present one and not there."""
    with_value = _SYNTAX[client.format].with_value
    if present is None:
        return with_value(text, (*client.keys, name), wanted)
    for key, value in wanted.items():
        if present.get(key) != value:
            text = with_value(text, (*client.keys, name, key), value)
    return text


@dataclass(frozen=True, slots=True)
class _Content:
    """A client's file: its byte order mark, the text behind it, and what that says."""

    mark: str
    text: str
    says: dict[str, Any]


def _read(client: Client, file: Path) -> _Content:
    try:
        whole = read_of_owner(file, _MAX_BYTES).decode()
        text = whole.removeprefix(_MARK)
        return _Content(whole[: len(whole) - len(text)], text, _SYNTAX[client.format].parse(text))
    except FileNotFoundError:
        return _Content("", "", {})
    except OSError as error:
        raise _refusal(client, file, f"cannot be read: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        raise _refusal(client, file, "is not UTF-8 text") from error
    except IrregularFileError as error:
        raise _refusal(client, file, f"cannot be read: {error}") from error
    except ValueError as error:
        reason = f"is not valid {client.format.upper()}: {error}"
        raise _refusal(client, file, reason, "fix it first, or change it yourself") from error


def _table(client: Client, file: Path, says: Mapping[str, Any]) -> Mapping[str, Any]:
    """The servers in what a file says; none if it says nothing of servers."""
    found: Any = says
    for key in client.keys:
        found = found.get(key, {})
        if not isinstance(found, dict):
            raise _refusal(client, file, f"{key} is not a table of servers", "fix it first")
    table: Mapping[str, Any] = found
    return table


def _refusal(
    client: Client, file: Path, reason: str, help_: str = "change it yourself"
) -> ClientConfigurationError:
    return ClientConfigurationError(
        file, reason, f"{help_}; what belongs there is printed by: idx mcp-config {client.id}"
    )


def _not_written(client: Client, file: Path, error: OSError) -> ClientConfigurationError:
    return _refusal(client, file, f"cannot be written: {reason_of(error)}")


def _back_up(file: Path) -> Path | None:
    """Copy a file to one beside it whose name tells the time; None if there is no file."""
    if not file.exists():
        return None
    stem = f"{file.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    names = (f"{stem}{f'-{number}' if number else ''}.bak" for number in count())
    backup = next(path for path in map(file.with_name, names) if not path.exists())
    shutil.copy2(file, backup)
    return backup
