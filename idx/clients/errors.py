"""Errors of the configuration files of clients."""

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


class PageServerError(McpLuceneError):
    """The server of the search page did not start, or ended by itself; its message says why."""


class ClientConfigurationError(McpLuceneError):
    """The configuration file of an MCP client cannot be used; it was not changed.

    Args:
        file: the file.
        reason: the problem.
        help_: the remedy.
    """

    def __init__(self, file: Path, reason: str, help_: str) -> None:
        super().__init__(f"{decodable(str(file))}: {reason}; nothing was changed: {help_}")
        self.file = file
        self.reason = reason
