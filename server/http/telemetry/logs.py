"""The log of the HTTP server: one line on stderr for each event.

An event is a name and fields of known meaning. Data from clients and results, such as arguments,
texts, tokens and query strings, are never fields. Log records of libraries are shown as their
format string without the arguments, or by their source location if the arguments cannot be
separated; exceptions are shown by type and source location, without their message.
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from starlette.requests import ClientDisconnect

from server.pipes.python_warnings import log_warnings
from server.pipes.stderr_queue import QueuedStderr
from server.settings import LogLevel

LOG: Final = logging.getLogger("mcp_lucene")
"""Logger of events: the message is the name, ``extra`` holds the fields."""

_MAX_FIELD_CHARACTERS: Final = 200
"""Maximum length of a field's value, in characters: clients choose their own names."""

_STANDARD_ATTRIBUTES: Final = frozenset(vars(logging.makeLogRecord({})))
"""Attributes of every log record; all others are fields."""


def log_to_stderr(level: LogLevel, *, as_json: bool) -> None:
    """Log events at a level and above, and warnings of libraries."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = _EventFormatter(as_json=as_json)
    handler.setFormatter(formatter)
    handler.addFilter(_is_not_disconnect)
    # Replaces the logging configuration of the SDK.
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    # Its log records repeat headers, and the requests that it rejects are logged as requests.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)
    LOG.setLevel(level.upper())
    log_warnings()
    if isinstance(sys.stderr, QueuedStderr):
        sys.stderr.report = partial(_dropped, formatter)


def _dropped(formatter: logging.Formatter, count: int) -> str:
    """Return a log line about dropped messages."""
    fields = {"messages": count, "reason": "nobody read stderr"}
    event = (LOG.name, logging.WARNING, __file__, 0, "messages_dropped", (), None)
    return f"{formatter.format(LOG.makeRecord(*event, extra=fields))}\n"


def _is_not_disconnect(record: logging.LogRecord) -> bool:
    """Check whether a log record reports more than a disconnected client."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


class _EventFormatter(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Format a log record as JSON, or as ``TIME LEVEL EVENT FIELD=VALUE …``."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        level = record.levelname.lower()
        event, fields = _event(record)
        if self._as_json:
            line = {"time": time, "level": level, "event": event, **fields}
            return _json(line)
        shown = (f"{name}={_quoted(value)}" for name, value in fields.items())
        return " ".join((time, level.upper(), event, *shown))


def _event(record: logging.LogRecord) -> tuple[str, dict[str, Any]]:
    if record.name == LOG.name:
        event = record.getMessage()
        own = {
            name: value for name, value in vars(record).items() if name not in _STANDARD_ATTRIBUTES
        }
        fields = {name: _short(value) for name, value in own.items() if value is not None}
    else:
        event = "library"
        fields = {"logger": record.name}
        if record.args:
            # The arguments of the message may be anything, such as data from a client.
            fields["message"] = _short(str(record.msg).strip())
        else:
            # The arguments may already be in the message, so only the source location is safe to
            # log.
            fields["at"] = [f"{record.pathname}:{record.lineno} {record.funcName}"]
    if record.exc_info and record.exc_info[0]:
        fields["error"] = record.exc_info[0].__name__
        fields["at"] = [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(record.exc_info[2])
        ]
    return event, fields


def _short(value: Any) -> Any:
    return value[:_MAX_FIELD_CHARACTERS] if isinstance(value, str) else value


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    plain = text.isprintable() and text and not set(text) & set(' "=')
    return text if plain else _json(text)


def _json(value: Any) -> str:
    """Serialize to JSON with letters of all languages unescaped and terminal controls escaped.

    JSON itself escapes only the control characters of ASCII. Those of C1 and marks that change the
    direction of writing are escaped here.
    """
    return "".join(
        part if part.isprintable() else json.dumps(part)[1:-1]
        for part in json.dumps(value, ensure_ascii=False)
    )
