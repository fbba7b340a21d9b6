"""The tools that a server offers to everyone: all but those that need ``--admin``."""

from typing import Final

from server.tools.table import TOOLS

OFFERED: Final = [name for name, tool in TOOLS.items() if tool.group != "admin"]
