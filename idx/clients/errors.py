"""What can go wrong with the files of clients."""

from collections.abc import Sequence
from pathlib import Path

from shared.errors import McpLuceneError
from shared.messages import decodable


class ProgramMissingError(McpLuceneError):
    """A program of this distribution is not where it was installed."""

    def __init__(self, program: str, folders: Sequence[str]) -> None:
        super().__init__(
            f"there is no program {program} in {' or '.join(dict.fromkeys(folders))}; install "
            "mcp-lucene again"
        )


class ClientConfigurationError(McpLuceneError):
    """The file in which an MCP client keeps its servers cannot be used; nothing was changed.

    Args:
        file: the file.
        reason: what is wrong with it.
        help_: what to do instead.
    """

    def __init__(self, file: Path, reason: str, help_: str) -> None:
        super().__init__(f"{decodable(str(file))}: {reason}; nothing was changed: {help_}")
        self.file = file
        self.reason = reason
