"""Command line that starts this server, and its forms in the files of clients."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shared.errors import McpLuceneError
from shared.messages import decodable


class ProgramMissingError(McpLuceneError):
    """A program of this distribution is not where it was installed."""

    def __init__(self, program: str, folders: Sequence[str]) -> None:
        super().__init__(
            f"there is no program {program} in {' or '.join(dict.fromkeys(folders))}; install "
            "mcp-lucene again"
        )


class PageServerError(McpLuceneError):
    """The server of the search page did not start, or ended by itself; its message says why."""


class ClientConfigurationError(McpLuceneError):
    """The configuration file of an MCP client cannot be used; it was not changed."""

    def __init__(self, file: Path, reason: str, help_: str) -> None:
        super().__init__(f"{decodable(str(file))}: {reason}; nothing was changed: {help_}")
        self.file = file
        self.reason = reason


PROGRAM: Final = "mcp-lucene"
"""Name of the program that clients start."""

FLAGS: Final = frozenset(
    {
        "--admin",
        "--fence",
        "--http",
        "--insecure",
        "--json-logs",
        "--no-normalize",
        "--normalize",
        "--until-stdin-ends",
    }
)
"""Options of the server that take no value."""

Entry = dict[str, Any]
"""Value of a server's name in a client's file."""

Shape = Callable[["Launch"], Entry]


@dataclass(frozen=True, slots=True)
class Launch:
    """Command line of the server: its program, and the index folder with options."""

    program: str
    arguments: tuple[str, ...]

    @property
    def starts_this_server(self) -> bool:
        """True if the program is `mcp-lucene`, in any location."""
        # A file may contain a Windows path and be read on another system.
        return Path(self.program.replace("\\", "/")).stem == PROGRAM

    @property
    def index_path(self) -> str | None:
        """Index folder; None if the arguments name none."""
        place = _index_path_position(self.arguments)
        return None if place is None else self.arguments[place]


def _index_path_position(arguments: Sequence[str]) -> int | None:
    is_value = False
    for place, argument in enumerate(arguments):
        if not is_value and not argument.startswith("-"):
            return place
        is_value = not is_value and "=" not in argument and argument not in FLAGS
    return None


def plain(launch: Launch) -> Entry:
    return {"command": launch.program, "args": [*launch.arguments]}


def typed(launch: Launch) -> Entry:
    """Return the entry for clients that require the transport."""
    return {"type": "stdio", **plain(launch)}


def with_tools(launch: Launch) -> Entry:
    """Return the entry for GitHub Copilot CLI, which lists the allowed tools."""
    return {"type": "local", **plain(launch), "tools": ["*"]}


def one_list(launch: Launch) -> Entry:
    """Return the entry for OpenCode, with program and arguments in one list."""
    return {"type": "local", "command": [launch.program, *launch.arguments], "enabled": True}


def launch_in(entry: Any) -> Launch | None:
    """Return the command line in an entry of any form; None if there is none."""
    match entry:
        case {"command": [str(program), *arguments]}:
            pass
        case {"command": str(program), "args": [*arguments]}:
            pass
        case {"command": str(program)}:
            arguments = []
        case _:
            return None
    return Launch(program, tuple(map(str, arguments)))


def installed_program() -> Path:
    """Return the absolute path of this installation's `mcp-lucene`."""
    folders = [
        str(Path(sys.executable).parent),
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
    ]
    found = shutil.which(PROGRAM, path=os.pathsep.join(folders))
    if found is None:
        raise ProgramMissingError(PROGRAM, folders)
    return Path(found).absolute()
