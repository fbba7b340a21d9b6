"""How a client starts this server, and the forms in which clients write that down."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from idx.clients.errors import ProgramMissingError

PROGRAM: Final = "mcp-lucene"
"""The program that clients start."""

FLAGS: Final = frozenset(
    {
        "--admin",
        "--fence",
        "--http",
        "--insecure",
        "--json-logs",
        "--no-normalize",
        "--normalize",
    }
)
"""Options with which it serves, and which no value follows."""

Entry = dict[str, Any]
"""What stands under the name of a server in a client's file."""

Shape = Callable[["Launch"], Entry]


@dataclass(frozen=True, slots=True)
class Launch:
    """How the server is started.

    Attributes:
        program: the program, as a path.
        arguments: what follows it: the index folder and options.
    """

    program: str
    arguments: tuple[str, ...]

    @property
    def is_of_this_server(self) -> bool:
        """Whether the program is `mcp-lucene`, wherever it is installed."""
        # A path of Windows may stand in a file that is read elsewhere.
        return Path(self.program.replace("\\", "/")).stem == PROGRAM

    @property
    def index_path(self) -> str | None:
        """The index folder; None if the arguments name none."""
        place = _place_of_index(self.arguments)
        return None if place is None else self.arguments[place]

    def with_options_of(self, other: "Launch") -> "Launch":
        """This launch with the options of another one."""
        index = _place_of_index(other.arguments)
        kept = (argument for place, argument in enumerate(other.arguments) if place != index)
        return Launch(self.program, (*self.arguments, *kept))


def _place_of_index(arguments: Sequence[str]) -> int | None:
    """Where the index folder stands among arguments; None if none names it."""
    is_value = False
    for place, argument in enumerate(arguments):
        if not is_value and not argument.startswith("-"):
            return place
        is_value = not is_value and "=" not in argument and argument not in FLAGS
    return None


def plain(launch: Launch) -> Entry:
    """The form of most clients."""
    return {"command": launch.program, "args": [*launch.arguments]}


def typed(launch: Launch) -> Entry:
    """The form of clients that want to be told the transport."""
    return {"type": "stdio", **plain(launch)}


def with_tools(launch: Launch) -> Entry:
    """The form of GitHub Copilot CLI, which is told which tools it may use."""
    return {"type": "local", **plain(launch), "tools": ["*"]}


def one_list(launch: Launch) -> Entry:
    """The form of OpenCode: program and arguments in one list."""
    return {"type": "local", "command": [launch.program, *launch.arguments], "enabled": True}


def launch_in(entry: Any) -> Launch | None:
    """How the server of an entry is started, in whichever form it is written; else None."""
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
    """The program `mcp-lucene` of this installation, absolute.

    Raises:
        ProgramMissingError: it is not where the programs of this Python are.
    """
    folders = [
        str(Path(sys.executable).parent),
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
    ]
    found = shutil.which(PROGRAM, path=os.pathsep.join(folders))
    if found is None:
        raise ProgramMissingError(PROGRAM, folders)
    return Path(found).absolute()
