"""What is known of a client: where its file is, and how a server stands in it."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from idx.clients.launch import Shape, plain

Scope = Literal["user", "project"]
"""A file of the user, which holds everywhere, or one of the folder that a project lies in."""

Format = Literal["json", "toml"]

_FOLDERS: Final = {
    "$XDG_CONFIG_HOME": "~/.config",
    "$APPDATA": "~/AppData/Roaming",
    "$CODEX_HOME": "~/.codex",
    "$COPILOT_HOME": "~/.copilot",
}
"""What a variable at the beginning of a path stands for if the environment does not have it."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a file is; relative paths are meant from the folder of a project.

    Attributes:
        linux: the path on Linux, and on the others if they have none of their own. It may begin
            with ``~`` or with one of the known variables.
        macos: the path on macOS.
        windows: the path on Windows.
    """

    linux: str
    macos: str | None = None
    windows: str | None = None

    @property
    def path(self) -> Path:
        """The file on this machine, absolute."""
        own = {"darwin": self.macos, "win32": self.windows}.get(sys.platform)
        first, _, rest = (own or self.linux).partition("/")
        if first in _FOLDERS:
            first = os.environ.get(first.removeprefix("$")) or _FOLDERS[first]
        return Path.cwd() / Path(first, rest).expanduser()


@dataclass(frozen=True, slots=True)
class Client:
    """A program with an MCP client.

    Attributes:
        id: its name on the command line.
        title: its name for people.
        documentation: the page that describes the file.
        keys: the keys that lead to the table of servers.
        files: where the file is; of several, the first that exists is used, else the first.
        format: how the file is written; JSON may have comments and trailing commas.
        shape: the form of an entry.
    """

    id: str
    title: str
    documentation: str
    files: Mapping[Scope, tuple[Location, ...]]
    keys: tuple[str, ...] = ("mcpServers",)
    format: Format = "json"
    shape: Shape = plain

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that it has a file for, the usual one first."""
        return tuple(self.files)

    def file(self, scope: Scope) -> Path:
        """The file of a scope, whether it exists or not."""
        paths = [location.path for location in self.files[scope]]
        return next((path for path in paths if os.path.lexists(path)), paths[0])
