"""The tools that a server offers to everyone without an option."""

from typing import Final

from server.tools.table import TOOLS

OFFERED: Final = [name for name, tool in TOOLS.items() if tool.group in {"search", "browse"}]
