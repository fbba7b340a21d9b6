"""The log of a server that is reached by HTTP: a line on stderr for each event.

An event is a name and fields of known meaning. What clients send and what is found for them, such
as arguments, texts, tokens and query strings, is never a field. What libraries log is shown as
they wrote it, without what they put in, or by its place where that cannot be told apart; and an
exception by its type and place, without its words.
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
"""Takes events: the message is the name, ``extra`` the fields."""

_MAX_CHARACTERS: Final = 200
"""Of the value of a field: a client names itself as it likes."""

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({})))
"""What every record has; the rest are fields."""


def log_to_stderr(level: LogLevel, *, as_json: bool) -> None:
    """Log events of a level and above, and the warnings of libraries."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = _EventFormatter(as_json=as_json)
    handler.setFormatter(formatter)
    handler.addFilter(_is_worth_telling)
    # In the place of what the SDK has set up.
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    # It repeats headers, and what it refuses is told as a request.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)
    LOG.setLevel(level.upper())
    log_warnings()
    if isinstance(sys.stderr, QueuedStderr):
        sys.stderr.report = partial(_dropped, formatter)


def _dropped(formatter: logging.Formatter, count: int) -> str:
    """A line about messages that were dropped."""
    fields = {"messages": count, "reason": "nobody read stderr"}
    event = (LOG.name, logging.WARNING, __file__, 0, "messages_dropped", (), None)
    return f"{formatter.format(LOG.makeRecord(*event, extra=fields))}\n"


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Whether more happened than that a client has gone."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


class _EventFormatter(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """A record as a line: JSON, or ``TIME LEVEL EVENT FIELD=VALUE …``."""
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
        own = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        fields = {name: _short(value) for name, value in own.items() if value is not None}
    else:
        event = "library"
        fields = {"logger": record.name}
        if record.args:
            # The arguments of the message may be anything, such as what a client sent.
            fields["message"] = _short(str(record.msg).strip())
        else:
            # They may be in the message already: only its place is known to say nothing of them.
            fields["at"] = [f"{record.pathname}:{record.lineno} {record.funcName}"]
    if record.exc_info and record.exc_info[0]:
        fields["error"] = record.exc_info[0].__name__
        fields["at"] = [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(record.exc_info[2])
        ]
    return event, fields


def _short(value: Any) -> Any:
    return value[:_MAX_CHARACTERS] if isinstance(value, str) else value


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    plain = text.isprintable() and text and not set(text) & set(' "=')
    return text if plain else _json(text)


def _json(value: Any) -> str:
    """JSON in which letters of all languages stand as they are, but nothing that steers a terminal.

    Beyond the control characters of ASCII, which JSON escapes itself, these are those of C1, and
    marks that turn the direction of writing.
    """
    return "".join(
        part if part.isprintable() else json.dumps(part)[1:-1]
        for part in json.dumps(value, ensure_ascii=False)
    )
