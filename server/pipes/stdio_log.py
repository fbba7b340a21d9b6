"""The log of a stdio server: warnings of libraries, and unexpected errors."""

import logging
import sys

from server.pipes.python_warnings import log_warnings
from shared.control_characters import visible


def log_to_client() -> None:
    """Log warnings and errors to stderr, which clients show or store."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_VisibleFormatter("%(levelname)s %(message)s"))
    # Configured before the SDK, which keeps existing handlers.
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log_warnings()


class _VisibleFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Format a record as text without control characters for terminals."""
        return visible(super().format(record))
