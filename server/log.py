"""The log of the server on stderr, which no thread waits for.

A pipe that nobody reads is full after 64 KB, and every further write blocks: the event loop would
stop for all clients. So records wait in a queue, and are dropped and counted while it is full.

Over HTTP a line is an event: a name and fields of known meaning. Data from clients and results,
such as arguments, texts, tokens and query strings, are never fields. Log records of libraries are
shown as their format string without the arguments, or by their source location if the arguments
cannot be separated; exceptions are shown by type and source location, without their message.
"""

import atexit
import json
import logging
import os
import sys
import threading
import traceback
import warnings
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any, Final, NoReturn, TextIO

from server.settings import LogLevel
from shared.messages import visible

LOG: Final = logging.getLogger("mcp_lucene")  # the message is an event's name, ``extra`` its fields

MAX_WAITING_RECORDS: Final = 1_000  # records in the queue; further ones are dropped
_DRAIN_TIMEOUT_SECONDS: Final = 0.5  # to wait for the queue when the process ends
_MAX_RECORD_CHARACTERS: Final = 20_000  # of a record; longer ones are cut
_MAX_FIELD_CHARACTERS: Final = 200  # of a field's value: clients choose their own names

_STANDARD_ATTRIBUTES: Final = frozenset(vars(logging.makeLogRecord({})))  # all others are fields

_WARNINGS: Final = logging.getLogger("py.warnings")


class _Queued(QueueHandler):
    """Formats records at once, and passes them to the thread that writes them.

    The garbage collector may run anywhere and log, so a record may be put into the queue while
    another one is: `SimpleQueue.put` may be called in the middle of itself, which a queue with a
    limit of its own does not allow.
    """

    def __init__(self, formatter: logging.Formatter) -> None:
        self.waiting: SimpleQueue[logging.LogRecord] = SimpleQueue()
        super().__init__(self.waiting)
        self.setFormatter(formatter)
        self.dropped = self.unreported = 0
        self.writer = QueueListener(self.waiting, _Writer(self))
        self.writer.start()

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        text = self.format(record)
        if len(text) > _MAX_RECORD_CHARACTERS:
            text = f"{text[:_MAX_RECORD_CHARACTERS]}…"
        return logging.makeLogRecord({"msg": text})

    def enqueue(self, record: logging.LogRecord) -> None:
        if self.waiting.qsize() >= MAX_WAITING_RECORDS:
            self.dropped += 1
            self.unreported += 1
        else:
            self.waiting.put(record)


class _Writer(logging.StreamHandler[TextIO]):
    """Writes records in a thread of its own, and where some are missing, how many."""

    def __init__(self, queued: _Queued) -> None:
        super().__init__(sys.stderr)
        self._queued = queued

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        # Records are dropped only while the queue is full, so they follow all that it has.
        if self._queued.unreported and not self._queued.waiting.qsize():
            missing, self._queued.unreported = self._queued.unreported, 0
            fields = {"messages": missing, "reason": "nobody read stderr"}
            event = (LOG.name, logging.WARNING, __file__, 0, "messages_dropped", (), None)
            super().emit(self._queued.prepare(LOG.makeRecord(*event, extra=fields)))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - as logging says
        # The reader has closed the pipe.
        self._queued.dropped += 1


_handlers: list[_Queued] = []  # the handler of this process, once it logs


def _log(formatter: logging.Formatter) -> None:
    queued = _Queued(formatter)
    _handlers[:] = [queued]
    atexit.register(drain_stderr)
    # Configured before the SDK, which keeps existing handlers.
    logging.basicConfig(handlers=[queued], level=logging.WARNING, force=True)
    warnings.showwarning = _log_warning


def log_over_stdio() -> None:
    """Log warnings of libraries and errors that nobody foresaw, which clients show or store."""
    _log(_VisibleFormatter("%(levelname)s %(message)s"))


def log_over_http(level: LogLevel, *, as_json: bool) -> None:
    """Log events at a level and above, and warnings of libraries."""
    _log(_EventFormatter(as_json=as_json))
    # Its records repeat headers, and the requests that it rejects are logged as requests.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)
    LOG.setLevel(level.upper())


def dropped_messages() -> int:
    return sum(queued.dropped for queued in _handlers)


def drain_stderr() -> None:
    """Wait briefly until the log is written, before the process ends."""
    for queued in _handlers:
        # A write to a full pipe does not end.
        ending = threading.Thread(target=queued.writer.stop, daemon=True)
        ending.start()
        ending.join(_DRAIN_TIMEOUT_SECONDS)
    _handlers.clear()


def end_process(code: int) -> NoReturn:
    """End the process at once, because Python's own end would wait for threads in Java."""
    drain_stderr()
    os._exit(code)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001 - as Python calls it
    line: str | None = None,
) -> None:
    """Log a warning of Python as a record at its own source location."""
    text = warnings.formatwarning(message, category, filename, lineno, line).strip()
    record = (_WARNINGS.name, logging.WARNING, filename, lineno, text, (), None)
    _WARNINGS.handle(_WARNINGS.makeRecord(*record, func=category.__name__))


class _VisibleFormatter(logging.Formatter):
    """Formats a record as text without control characters for terminals."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class _EventFormatter(logging.Formatter):
    """Formats a record as JSON, or as ``TIME LEVEL EVENT FIELD=VALUE …``."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
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
