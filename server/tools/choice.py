"""Which tools a server offers."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from server.settings import ServerSettings
from server.tools import TOOLS, ToolEntry
from shared.errors import ServerOptionError


def chosen_tools(settings: ServerSettings) -> dict[str, ToolEntry]:
    """The tools that a server offers.

    Raises:
        ServerOptionError: there is no such tool or group, it needs ``--admin``, or no tool is left.
    """
    left_out = _names(settings.exclude_tools)
    administration = _members(TOOLS)["admin"]
    wanted = _names(settings.tools) or set(TOOLS) - (set() if settings.admin else administration)
    if not settings.admin and wanted & administration:
        named = ", ".join(choice for choice in settings.tools if _names([choice]) & administration)
        raise ServerOptionError(
            f"--tools {named}: the administration tools need --admin, and --root for the "
            "folders that may be crawled"
        )
    chosen = {name: tool for name, tool in TOOLS.items() if name in wanted - left_out}
    if not chosen:
        raise ServerOptionError("no tool is left to offer; exclude fewer tools")
    return chosen


def _names(choices: Iterable[str]) -> set[str]:
    members = _members(TOOLS)
    names: set[str] = set()
    for choice in choices:
        if choice not in members:
            near = get_close_matches(choice, members, 1)
            hint = f"did you mean {near[0]!r}" if near else f"there are {', '.join(members)}"
            raise ServerOptionError(f"there is no tool or group of tools {choice[:60]!r}; {hint}")
        names |= members[choice]
    return names


def _members(tools: Mapping[str, ToolEntry]) -> dict[str, set[str]]:
    """The tools of each group, and each tool by itself."""
    groups: dict[str, set[str]] = {}
    for name, tool in tools.items():
        groups.setdefault(tool.group, set()).add(name)
    return groups | {name: {name} for name in tools}
