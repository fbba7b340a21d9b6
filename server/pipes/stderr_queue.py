"""A queue for stderr, so that no thread blocks while nobody reads it.

A pipe that nobody reads is full after 64 KB, and every further write blocks: the event loop would
stop for all clients. Everything that Python writes to stderr goes through the queue: logs, warnings
and tracebacks. Messages are dropped and counted while the queue is full.
"""

import io
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Full, Queue
from typing import Final, TextIO

from shared.messages import quantity

MAX_WAITING_MESSAGES: Final = 1_000
"""Maximum number of messages in the queue; further ones are dropped."""

_SECONDS_TO_DRAIN: Final = 0.5
"""Maximum time to wait for the queue when the process ends, in seconds."""

_MAX_LINE_LENGTH: Final = 100_000
"""Maximum length of a line, in characters; longer ones are split."""


class QueuedStderr(io.TextIOBase):
    """A text stream that accepts everything immediately, and writes it in a thread.

    Args:
        stream: the underlying stream, written to by its file descriptor.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self._queue: Queue[str] = Queue(MAX_WAITING_MESSAGES)
        self._lock = threading.Lock()
        self._line = ""
        self._dropped = 0
        self._unreported = 0
        self.report: Callable[[int], str] = _report
        """Function that returns the log line about the number of dropped messages."""
        # A daemon thread, so that the process can end during a write to a full pipe.
        threading.Thread(target=self._write_out, name="stderr", daemon=True).start()

    @property
    def dropped(self) -> int:
        """Number of dropped messages."""
        return self._dropped

    @property
    def encoding(self) -> str:  # type: ignore[override] # of a class that is written in C
        """Encoding of the underlying stream."""
        return self._encoding

    @property
    def errors(self) -> str:  # type: ignore[override] # as above
        """Error handler for characters outside the encoding."""
        return "backslashreplace"

    def writable(self) -> bool:
        """Return True, since the stream is writable."""
        return True

    def isatty(self) -> bool:
        """Check whether the underlying stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the underlying file descriptor."""
        return self._descriptor

    def write(self, text: str) -> int:
        """Accept a text; it enters the queue when its line ends."""
        with self._lock:
            self._line += text
            if self._line.endswith("\n") or len(self._line) > _MAX_LINE_LENGTH:
                self._pass_on()
        return len(text)

    def drain(self, seconds: float = _SECONDS_TO_DRAIN) -> None:
        """Wait until the queue is written, up to a timeout in seconds."""
        with self._lock:
            if self._line:
                self._pass_on()
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(lambda: not self._queue.unfinished_tasks, seconds)

    def _pass_on(self) -> None:
        message, self._line = self._line, ""
        try:
            if self._unreported:
                # The report appears where the messages are missing.
                self._queue.put_nowait(self.report(self._unreported))
                self._unreported = 0
            self._queue.put_nowait(message)
        except Full:
            self._dropped += 1
            self._unreported += 1

    def _write_out(self) -> None:
        while True:
            self._write(self._queue.get())
            with self._lock:
                unreported = self._unreported if self._queue.empty() else 0
                self._unreported -= unreported
            if unreported:
                self._write(self.report(unreported))
            self._queue.task_done()

    def _write(self, message: str) -> None:
        data = message.encode(self._encoding, "backslashreplace")
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                # Another process that shares the pipe may have made it non-blocking.
                select.select([], [self._descriptor], [])
            except OSError:
                # The reader has closed the pipe.
                with self._lock:
                    self._dropped += 1
                return


def _report(count: int) -> str:
    return f"Dropped {quantity(count, 'message')} because nobody read stderr\n"


@contextmanager
def queued_stderr() -> Iterator[None]:
    """Replace `sys.stderr` with the queue within a block."""
    stream = sys.stderr
    # Despite its type, a stream that was closed before the process started is None.
    if not stream:
        yield
        return
    sys.stderr = queued = QueuedStderr(stream)
    try:
        yield
    finally:
        queued.drain()
        sys.stderr = stream


def drain_stderr() -> None:
    """Wait briefly until stderr is written, before an immediate exit of the process."""
    if isinstance(sys.stderr, QueuedStderr):
        sys.stderr.drain()


def dropped_messages() -> int:
    """Return the number of messages to stderr that were dropped."""
    return sys.stderr.dropped if isinstance(sys.stderr, QueuedStderr) else 0
