"""What a server is told when it starts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_TIME_BUDGET: Final = 10.0


@dataclass(frozen=True)
class ServerSettings:
    """The choices of whoever starts the server.

    Attributes:
        index_path: the index folder; it need not exist yet.
        tools: names or groups of the tools to offer; empty for all.
        exclude_tools: names or groups of tools not to offer after all.
        time_budget: seconds after which a call answers with what it has found, above 0.
    """

    index_path: Path
    tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    time_budget: float = DEFAULT_TIME_BUDGET
