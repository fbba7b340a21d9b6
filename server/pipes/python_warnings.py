"""Python warnings as log records, instead of text on stderr."""

import logging
import warnings
from typing import Final, TextIO

_LOG: Final = logging.getLogger("py.warnings")


def log_warnings() -> None:
    """Log Python warnings, each with its source location."""
    warnings.showwarning = _log


def _log(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001 - as Python calls it
    line: str | None = None,
) -> None:
    text = warnings.formatwarning(message, category, filename, lineno, line).strip()
    record = (_LOG.name, logging.WARNING, filename, lineno, text, (), None)
    _LOG.handle(_LOG.makeRecord(*record, func=category.__name__))
