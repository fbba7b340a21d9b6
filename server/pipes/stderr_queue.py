"""A queue in front of stderr, so that no thread ever waits for whoever reads it.

A pipe that nobody reads is full after 64 KB, and from then on each write to it waits: the event
loop would stand still with all its clients. Everything that Python writes to stderr goes through
the queue: logs, warnings and tracebacks. What finds it full is dropped, and counted.
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
"""Messages that wait to be read; further ones are dropped."""

_SECONDS_TO_DRAIN: Final = 0.5
"""How long the end of the process waits for what is still in the queue."""

_MAX_LINE_LENGTH: Final = 100_000
"""A line that is longer is passed on in parts."""


class QueuedStderr(io.TextIOBase):
    """A text stream that takes everything at once and writes it to another one by a thread.

    Args:
        stream: where it is written to, by way of its descriptor.
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
        """Makes a line that says how many messages were dropped."""
        # A daemon: the process ends even while a write to a full pipe waits.
        threading.Thread(target=self._write_out, name="stderr", daemon=True).start()

    @property
    def dropped(self) -> int:
        """The number of messages that were dropped."""
        return self._dropped

    @property
    def encoding(self) -> str:  # type: ignore[override] # of a class that is written in C
        """The encoding of the stream that is written to."""
        return self._encoding

    @property
    def errors(self) -> str:  # type: ignore[override] # as above
        """What becomes of characters that the encoding does not have."""
        return "backslashreplace"

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def isatty(self) -> bool:
        """Whether it ends at a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor that is written to."""
        return self._descriptor

    def write(self, text: str) -> int:
        """Take a text; it is passed on when its line ends."""
        with self._lock:
            self._line += text
            if self._line.endswith("\n") or len(self._line) > _MAX_LINE_LENGTH:
                self._pass_on()
        return len(text)

    def drain(self, seconds: float = _SECONDS_TO_DRAIN) -> None:
        """Wait until everything is written, but not for long."""
        with self._lock:
            if self._line:
                self._pass_on()
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(lambda: not self._queue.unfinished_tasks, seconds)

    def _pass_on(self) -> None:
        message, self._line = self._line, ""
        try:
            if self._unreported:
                # Where messages are missing.
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
                # Whoever shares the pipe may have set it to fail rather than wait.
                select.select([], [self._descriptor], [])
            except OSError:
                # Nobody will read it any more.
                with self._lock:
                    self._dropped += 1
                return


def _report(count: int) -> str:
    return f"Dropped {quantity(count, 'message')} because nobody read stderr\n"


@contextmanager
def queued_stderr() -> Iterator[None]:
    """Put the queue in front of stderr for the length of a block."""
    stream = sys.stderr
    # A stream that was closed before the process began is None, whatever its type says.
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
    """Wait a moment until what was written to stderr is out, before the process ends at once."""
    if isinstance(sys.stderr, QueuedStderr):
        sys.stderr.drain()


def dropped_messages() -> int:
    """The number of messages to stderr that were dropped, since nobody read them."""
    return sys.stderr.dropped if isinstance(sys.stderr, QueuedStderr) else 0
