"""Description of an MCP client: the paths of its files and the form of their entries."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from idx.clients.launch import Shape, plain

Scope = Literal["user", "project"]
"""Scope of a file: the user, everywhere, or the folder of a project."""

Format = Literal["json", "toml"]

_FOLDERS: Final = {
    "$XDG_CONFIG_HOME": "~/.config",
    "$APPDATA": "~/AppData/Roaming",
    "$CODEX_HOME": "~/.codex",
    "$COPILOT_HOME": "~/.copilot",
}
"""Default values of the variables that may begin a path."""


@dataclass(frozen=True, slots=True)
class Location:
    """Paths of a file; relative ones are relative to the folder of a project.

    Attributes:
        linux: the path on Linux, and on other systems without their own. It may begin with ``~`` or
            one of the known variables.
        macos: the path on macOS.
        windows: the path on Windows.
    """

    linux: str
    macos: str | None = None
    windows: str | None = None

    @property
    def path(self) -> Path:
        """Absolute path of the file on this machine."""
        own = {"darwin": self.macos, "win32": self.windows}.get(sys.platform)
        first, _, rest = (own or self.linux).partition("/")
        if first in _FOLDERS:
            first = os.environ.get(first.removeprefix("$")) or _FOLDERS[first]
        return Path.cwd() / Path(first, rest).expanduser()


@dataclass(frozen=True, slots=True)
class Client:
    """Program with an MCP client.

    Attributes:
        id: its name on the command line.
        title: its name for display.
        documentation: the page that describes the file.
        files: the locations of its file; of several in a scope, the first existing one is used, or
            else the first.
        keys: the keys that lead to the table of servers.
        format: the format of the file; JSON may have comments and trailing commas.
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
        """Scopes with a file, the usual one first."""
        return tuple(self.files)

    def file(self, scope: Scope) -> Path:
        """Return the file of a scope, which need not exist."""
        paths = [location.path for location in self.files[scope]]
        return next((path for path in paths if os.path.lexists(path)), paths[0])
