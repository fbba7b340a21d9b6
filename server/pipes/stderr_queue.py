"""A queue for stderr, so that no thread blocks while nobody reads it.

A pipe that nobody reads is full after 64 KB, and every further write blocks: the event loop would
stop for all clients. Everything that Python writes to stderr goes through the queue: logs, warnings
and tracebacks. Messages are dropped and counted while the queue is full.
"""

import atexit
import io
import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, TextIO

from shared.messages import quantity, shortened
from shared.system import wait_for_room

MAX_WAITING_MESSAGES: Final = 1_000
"""Maximum number of messages in the queue; further ones are dropped."""

_DRAIN_TIMEOUT_SECONDS: Final = 0.5
"""Maximum time to wait for the queue when the process ends, in seconds."""

_MAX_MESSAGE_LENGTH: Final = 20_000
"""Maximum length of a message, in characters; longer ones are cut."""


class QueuedStderr(io.TextIOBase):
    """A text stream that accepts everything immediately, and writes it in a thread.

    The garbage collector may run anywhere and log, so `write` may be called in the middle of
    itself: its lock is reentrant, and so is `SimpleQueue.put`. Nothing is formatted under the lock.

    Args:
        stream: the underlying stream, written to by its file descriptor.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        # A message with the number of those that were dropped before it.
        self._queue: SimpleQueue[tuple[int, str]] = SimpleQueue()
        self._changed = threading.Condition(threading.RLock())
        self._line = ""
        self._waiting = 0
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
        with self._changed:
            self._line += text
            if self._line.endswith("\n") or len(self._line) > _MAX_MESSAGE_LENGTH:
                self._pass_on()
        return len(text)

    def drain(self) -> None:
        """Wait until the queue is written, up to a timeout."""
        if not self._changed.acquire(timeout=_DRAIN_TIMEOUT_SECONDS):
            return
        try:
            if self._line:
                self._pass_on()
            self._changed.wait_for(lambda: not self._waiting, _DRAIN_TIMEOUT_SECONDS)
        finally:
            self._changed.release()

    def _pass_on(self) -> None:
        line, self._line = self._line, ""
        if self._waiting >= MAX_WAITING_MESSAGES:
            self._dropped += 1
            self._unreported += 1
            return
        # The report appears where the messages are missing.
        missing, self._unreported = self._unreported, 0
        self._waiting += 1
        end = "\n" if line.endswith("\n") else ""
        self._queue.put((missing, shortened(line.removesuffix("\n"), _MAX_MESSAGE_LENGTH) + end))

    def _write_out(self) -> None:
        while True:
            missing, message = self._queue.get()
            if missing:
                self._write(self.report(missing))
            self._write(message)
            with self._changed:
                # Messages that were dropped after the last one of the queue.
                is_last = self._waiting == 1
                missing = self._unreported if is_last else 0
                self._unreported -= missing
            if missing:
                self._write(self.report(missing))
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    def _write(self, message: str) -> None:
        data = message.encode(self._encoding, "backslashreplace")
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                # Another process that shares the pipe may have made it non-blocking.
                wait_for_room(self._descriptor)
            except OSError:
                # The reader has closed the pipe.
                with self._changed:
                    self._dropped += 1
                return


def _report(count: int) -> str:
    return f"Dropped {quantity(count, 'message')} because nobody read stderr\n"


def queue_stderr() -> None:
    """Replace `sys.stderr` with the queue until the process ends, the last traceback included."""
    # Despite its type, a stream that was closed before the process started is None.
    if sys.stderr:
        sys.stderr = QueuedStderr(sys.stderr)
        atexit.register(drain_stderr)


def drain_stderr() -> None:
    """Wait briefly until stderr is written, before the process ends."""
    if isinstance(sys.stderr, QueuedStderr):
        sys.stderr.drain()


def dropped_messages() -> int:
    """Return the number of messages to stderr that were dropped."""
    return sys.stderr.dropped if isinstance(sys.stderr, QueuedStderr) else 0
