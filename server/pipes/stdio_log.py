"""The log of a server that is reached by stdio: warnings of libraries, and unforeseen errors."""

import logging
import sys

from server.pipes.python_warnings import log_warnings
from shared.control_characters import visible


def log_to_client() -> None:
    """Log warnings and errors on stderr, which clients show or keep."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_VisibleFormatter("%(levelname)s %(message)s"))
    # Before the SDK does, which leaves alone what is there.
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log_warnings()


class _VisibleFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """A record as text in which nothing steers a terminal."""
        return visible(super().format(record))
