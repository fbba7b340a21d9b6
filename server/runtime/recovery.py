"""Exit of a server whose Java does not recover from a lack of memory.

A call that needs more memory than is available fails by itself, and its memory is free again. If it
is not, every later call would fail as well while the process looks alive. In that case the process
ends with an exit code that says that a restart helps.
"""

import os
import sys
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from server.pipes.stderr_queue import drain_stderr
from shared.errors import JavaHeapError, LuceneError, McpLuceneError

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

EXIT_CODE: Final = 75
"""Exit code for a temporary failure (``EX_TEMPFAIL`` of sysexits.h)."""

SECONDS_TO_RECOVER: Final = 20.0
"""Maximum time that Java may lack memory, in seconds: longer than a call that uses much of it can
run."""

_RECHECK_SECONDS: Final = 0.5


class Recovery:
    """A monitor that ends the process if Java stays unusable after it lacked memory.

    Args:
        searcher: the future of the server's searcher.
    """

    def __init__(self, searcher: "Future[Searcher]") -> None:
        self._searcher = searcher
        self._looking = threading.Lock()
        self._has_worked = False
        self._lacked_memory = False

    def look_at(self, error: BaseException | None) -> None:
        """Examine the outcome of a call; the calling thread must be attached to Java.

        Args:
            error: the exception that the call raised; None if it succeeded.
        """
        if error is None:
            self._has_worked = True
        elif isinstance(error, JavaHeapError):
            self._lacked_memory = True
            # A heap that was too small from the beginning would cause endless restarts.
            if self._has_worked and self._looking.acquire(blocking=False):
                try:
                    self._wait_for_memory()
                finally:
                    self._looking.release()
        elif self._lacked_memory and isinstance(error, LuceneError):
            from shared.storage.lucene_errors import lacks_a_class

            if lacks_a_class(error):
                _end("Java cannot load its classes since it lacked memory")

    def _wait_for_memory(self) -> None:
        until = time.monotonic() + SECONDS_TO_RECOVER
        while not self._can_answer():
            if time.monotonic() >= until:
                _end(f"Java has lacked memory for {SECONDS_TO_RECOVER:g} seconds")
            time.sleep(_RECHECK_SECONDS)

    def _can_answer(self) -> bool:
        try:
            self._searcher.result().statistics()
        except (JavaHeapError, LuceneError):
            return False
        except McpLuceneError:
            # The index may be missing, which has nothing to do with memory.
            pass
        return True


def _end(reason: str) -> None:
    """End the process, after a pause in which running responses are sent."""
    time.sleep(_RECHECK_SECONDS)
    print(
        f"Error: {reason}, and every call would fail: the server ends with exit code {EXIT_CODE}; "
        "start it again, and allow Java more memory with IDX_JAVA_HEAP or the setting java_heap",
        file=sys.stderr,
    )
    drain_stderr()
    os._exit(EXIT_CODE)
