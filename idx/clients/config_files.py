"""Configuration files of MCP clients, changed with their comments and layout kept."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from idx import configuration as toml
from idx.clients.catalogue import Client, ClientConfigurationError, Entry, Launch, launch_in
from shared.files.access import IrregularFileError, locked, read_of_owner, write_atomically
from shared.messages import reason_of

# An unterminated string extends to the end; otherwise the search would retry at its next quote.
_STRING: Final = r'"(?:[^"\\]|\\.)*+(?:"|.*)'
_COMMENT: Final = re.compile(rf"{_STRING}|(?P<comment>//[^\r\n]*|/\*.*?\*/)|/\*.*", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_INDENTED_KEY: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)

_decode: Final = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class _Member:
    """Key and value in an object, as positions in the text."""

    key: str
    key_start: int
    start: int
    end: int


def parse(text: str) -> dict[str, Any]:
    """Parse an object; blank text is an empty object."""
    if not text.strip():
        return {}
    try:
        value = json.loads(_strict(text))
    except RecursionError as error:
        raise ValueError("values are nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    if not isinstance(value, dict):
        raise ValueError("there is no object in braces")  # noqa: TRY004 - an error of the text
    return value


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value set at a path, adding missing objects on the way."""
    if not text.strip():
        text = f"{{}}{_newline(text)}"
    strict = _strict(text)
    start = _after_blanks(strict, 0)
    for depth, key in enumerate(path):
        members, close = _members(strict, start)
        found = [member for member in members if member.key == key]
        if not found:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _with_member(text, start, members, close, key, value)
        # The last of several equal keys is the effective one.
        start, end = found[-1].start, found[-1].end
    return text[:start] + _formatted(text, value, _indentation(text, start)) + text[end:]


def _with_member(
    text: str, start: int, members: list[_Member], close: int, key: str, value: Any
) -> str:
    """Return a text with a member added at the end of the object between `start` and `close`."""
    newline = _newline(text)
    outer = _indentation(text, start)
    inner = outer + _unit(text)
    if members and not text[: members[-1].key_start].rpartition("\n")[2].strip():
        inner = _indentation(text, members[-1].key_start)
    member = f"{json.dumps(key)}: {_formatted(text, value, inner)}"
    # After the comments that follow the last member.
    end = len(text[:close].rstrip())
    if "\n" in (rest := text[end:close]):
        # Blanks at the end of a line may be part of a comment.
        end += len(rest.partition("\n")[0].rstrip("\r"))
    blanks = text[end:close]
    if "\n" not in blanks:
        blanks = newline + outer
    if not members:
        return f"{text[:end]}{newline}{inner}{member}{blanks}{text[close:]}"
    last = members[-1].end
    ends_in_comma = "," in _without_comments(text)[last:close]
    before = text[:last] + ("" if ends_in_comma else ",") + text[last:end]
    return f"{before}{newline}{inner}{member}{',' if ends_in_comma else ''}{blanks}{text[close:]}"


def _members(strict: str, start: int) -> tuple[list[_Member], int]:
    """Return the members of the object at a position, and the position of its closing brace."""
    members = []
    position = _after_blanks(strict, start + 1)
    while strict[position] != "}":
        key, colon = _decode(strict, position)
        value = _after_blanks(strict, _after_blanks(strict, colon) + 1)
        _, end = _decode(strict, value)
        members.append(_Member(key, position, value, end))
        position = _after_blanks(strict, end)
        if strict[position] == ",":
            position = _after_blanks(strict, position + 1)
    return members, position


def _strict(text: str) -> str:
    """Return the text as strict JSON, with everything else replaced by blanks."""
    return _TRAILING_COMMA.sub(
        lambda match: " " if match[0] == "," else match[0], _without_comments(text)
    )


def _without_comments(text: str) -> str:
    return _COMMENT.sub(
        lambda match: re.sub(r"[^\r\n]", " ", match[0]) if match["comment"] else match[0], text
    )


def _formatted(text: str, value: Any, indentation: str) -> str:
    """Return a value formatted for the text, without an indentation of its first line."""
    written = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return written.replace("\n", _newline(text) + indentation)


def _after_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _indentation(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = _INDENTED_KEY.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


_PARSERS: Final = {"json": parse, "toml": toml.parse}
_EDITORS: Final = {"json": with_value, "toml": toml.with_value}
"""Functions that parse and change a text, by format."""

_MAX_CLIENT_FILE_BYTES: Final = 100_000_000  # some clients store conversations in their file

_BYTE_ORDER_MARK: Final = "\ufeff"  # byte order mark that some editors write before the text


@dataclass(frozen=True, slots=True)
class Written:
    outcome: Literal["added", "changed", "unchanged", "printed"]
    backup: str | None = None
    replaced: Entry | None = None


def example(client: Client, name: str, launch: Launch) -> str:
    text = _EDITORS[client.format]("", (*client.keys, name), client.shape(launch))
    return text if text.endswith("\n") else f"{text}\n"


def servers(client: Client, file: Path) -> Mapping[str, Any]:
    """Return the servers in a client's file by name; empty if the file does not exist."""
    _, _, says = _read(client, file)
    return _table(client, file, says)


def write(client: Client, file: Path, name: str, launch: Launch) -> Written:
    """Add this server to a client's file, or replace its entry.

    The entry is replaced as a whole, for what it says beside the command, such as variables, may be
    anybody's: the file of a project comes with it. The rest of the file is kept. It is replaced
    atomically, after a backup next to it; another program that changes it at the same time waits.
    """
    try:
        with locked(file):
            return _write(client, file, name, launch)
    except OSError as error:
        raise _refusal(client, file, f"cannot be written: {reason_of(error)}") from error


def _write(client: Client, file: Path, name: str, launch: Launch) -> Written:
    mark, before, says = _read(client, file)
    table = _table(client, file, says)
    present = table.get(name)
    known = launch_in(present)
    if present is not None and not (known and known.starts_this_server):
        raise _refusal(client, file, f"another server is called {name}", "choose another --name")
    wanted = client.shape(launch)
    if wanted == present:
        return Written("unchanged")
    try:
        text = _EDITORS[client.format](before, (*client.keys, name), wanted)
        done = _table(client, file, _PARSERS[client.format](text))
    except ValueError:
        done = {}
    if done != {**table, name: wanted}:
        raise _refusal(client, file, "its layout cannot be changed safely")
    backup = _back_up(file)
    write_atomically(file, (mark + text).encode())
    return Written("added" if present is None else "changed", backup, present)


def _read(client: Client, file: Path) -> tuple[str, str, dict[str, Any]]:
    """Return the byte order mark of a file, if any, the text behind it, and what that says."""
    try:
        whole = read_of_owner(file, _MAX_CLIENT_FILE_BYTES).decode()
        text = whole.removeprefix(_BYTE_ORDER_MARK)
        return whole[: len(whole) - len(text)], text, _PARSERS[client.format](text)
    except FileNotFoundError:
        return "", "", {}
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
        file, reason, f"{help_}; to print the entry: idx mcp-config {client.id}"
    )


def _back_up(file: Path) -> str | None:
    if not file.exists():
        return None
    stem = f"{file.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    names = (f"{stem}{f'-{number}' if number else ''}.bak" for number in count())
    backup = next(path for path in map(file.with_name, names) if not path.exists())
    return str(shutil.copy2(file, backup))
