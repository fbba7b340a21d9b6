"""MCP clients, the files that they are configured in, and the command line of the server there."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from shared.errors import McpLuceneError
from shared.messages import decodable


class ProgramMissingError(McpLuceneError):
    """A program of this distribution is not where it was installed."""


class ClientConfigurationError(McpLuceneError):
    """The configuration file of an MCP client cannot be used; it was not changed."""

    def __init__(self, file: Path, reason: str, help_: str) -> None:
        super().__init__(f"{decodable(str(file))}: {reason}; nothing was changed: {help_}")
        self.file = file
        self.reason = reason


PROGRAM: Final = "mcp-lucene"  # name of the program that clients start

FLAGS: Final = frozenset(
    (
        *("--admin", "--fence", "--http", "--insecure", "--json-logs", "--no-normalize"),
        *("--no-share", "--normalize", "--share", "--until-stdin-ends"),
    )
)
"""Options of the server that take no value."""

Entry = dict[str, Any]  # value of a server's name in a client's file

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
        is_value = False
        for argument in self.arguments:
            if not is_value and not argument.startswith("-"):
                return argument
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
        places = " or ".join(dict.fromkeys(folders))
        raise ProgramMissingError(
            f"there is no program {PROGRAM} in {places}; install mcp-lucene again"
        )
    return Path(found).absolute()


Scope = Literal["user", "project"]
"""Scope of a file: the user, everywhere, or the folder of a project."""

Format = Literal["json", "toml"]

_FOLDERS: Final = {
    "APPLICATIONS": ("$XDG_CONFIG_HOME", "~/Library/Application Support", "$APPDATA"),
    "CONFIG": ("$XDG_CONFIG_HOME", "~/.config", "$APPDATA"),
    "HOME_CONFIG": ("~/.config", "~/.config", "$APPDATA"),
}
"""Folders that may begin a path: those on Linux and all other systems, on macOS and on Windows."""

_VARIABLES: Final = {
    "$XDG_CONFIG_HOME": "~/.config",
    "$APPDATA": "~/AppData/Roaming",
    "$CODEX_HOME": "~/.codex",
    "$COPILOT_HOME": "~/.copilot",
}
"""Default values of the variables that may begin a path."""


def _path(written: str) -> Path:
    """Return the path that one of the catalogue stands for."""
    first, _, rest = written.partition("/")
    if first in _FOLDERS:
        others, macos, windows = _FOLDERS[first]
        first = {"darwin": macos, "win32": windows}.get(sys.platform, others)
    if first in _VARIABLES:
        first = os.environ.get(first.removeprefix("$")) or _VARIABLES[first]
    return Path.cwd() / Path(first, rest).expanduser()


@dataclass(frozen=True, slots=True)
class Client:
    """Program with an MCP client.

    A path begins with ``~``, a known folder or a variable, or is relative to the folder of a
    project. Of several in a scope, separated by blanks, the first existing one is used, or else the
    first. `keys` lead to the table of servers; `documentation` describes the file.
    """

    id: str
    title: str
    documentation: str
    files: Mapping[Scope, str]
    keys: tuple[str, ...] = ("mcpServers",)
    format: Format = "json"
    shape: Shape = plain

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Scopes with a file, the usual one first."""
        return tuple(self.files)

    def paths(self, scope: Scope) -> list[Path]:
        return [_path(written) for written in self.files.get(scope, "").split()]

    def file(self, scope: Scope) -> Path:
        paths = self.paths(scope)
        return next((path for path in paths if os.path.lexists(path)), paths[0])


def _in_both(path: str) -> dict[Scope, str]:
    """Return a file that has the same path in the home folder and in that of a project."""
    return {"user": f"~/{path}", "project": path}


_CLIENTS: Final = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        # The path on Linux comes from the MCP SDK alone, namely its command mcp install.
        {"user": "APPLICATIONS/Claude/claude_desktop_config.json"},
    ),
    Client(
        "claude-code",
        "Claude Code",
        "https://code.claude.com/docs/en/mcp",
        {"user": "~/.claude.json", "project": ".mcp.json"},
        shape=typed,
    ),
    Client("cursor", "Cursor", "https://cursor.com/docs/mcp", _in_both(".cursor/mcp.json")),
    Client(
        "vscode",
        "VS Code",
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        {"user": "APPLICATIONS/Code/User/mcp.json", "project": ".vscode/mcp.json"},
        keys=("servers",),
        shape=typed,
    ),
    Client(
        "windsurf",
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        {"user": "~/.codeium/windsurf/mcp_config.json"},
    ),
    Client(
        "zed",
        "Zed",
        "https://zed.dev/docs/ai/mcp",
        # Windows does not distinguish the case of its own Zed.
        {"user": "CONFIG/zed/settings.json"},
        keys=("context_servers",),
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        "https://geminicli.com/docs/tools/mcp-server",
        _in_both(".gemini/settings.json"),
    ),
    Client(
        "codex-cli",
        "Codex CLI",
        "https://developers.openai.com/codex/mcp",
        {"user": "$CODEX_HOME/config.toml", "project": ".codex/config.toml"},
        keys=("mcp_servers",),
        format="toml",
    ),
    Client(
        "copilot-cli",
        "GitHub Copilot CLI",
        "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        {"user": "$COPILOT_HOME/mcp-config.json", "project": ".mcp.json"},
        shape=with_tools,
    ),
    Client(
        "opencode",
        "OpenCode",
        "https://opencode.ai/docs/mcp-servers",
        {
            "user": "$XDG_CONFIG_HOME/opencode/opencode.json "
            "$XDG_CONFIG_HOME/opencode/opencode.jsonc",
            "project": "opencode.json opencode.jsonc",
        },
        keys=("mcp",),
        shape=one_list,
    ),
    Client(
        "cline",
        "Cline",
        "https://docs.cline.bot/getting-started/config",
        {"user": "~/.cline/data/settings/cline_mcp_settings.json"},
    ),
    Client(
        "roo-code",
        "Roo Code",
        "https://docs.roocode.com/features/mcp/using-mcp-in-roo",
        {"project": ".roo/mcp.json"},
    ),
    Client(
        "continue",
        "Continue",
        "https://docs.continue.dev/customize/deep-dives/mcp",
        {"project": ".continue/mcpServers/mcp.json"},
    ),
    Client(
        "kiro",
        "Kiro",
        "https://kiro.dev/docs/mcp/configuration",
        _in_both(".kiro/settings/mcp.json"),
    ),
    Client(
        "qwen-code",
        "Qwen Code",
        "https://github.com/QwenLM/qwen-code/blob/main/docs/users/features/mcp.md",
        _in_both(".qwen/settings.json"),
    ),
    Client(
        "devin-cli",
        "Devin CLI",
        "https://docs.devin.ai/cli/extensibility/mcp/configuration",
        {"user": "HOME_CONFIG/devin/config.json", "project": ".devin/config.json"},
    ),
)

CLIENTS: Final = {client.id: client for client in _CLIENTS}  # by names on the command line
