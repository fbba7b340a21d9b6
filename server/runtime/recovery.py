"""The end of a server whose Java does not recover from a lack of memory.

A call that needs more memory than there is fails by itself, and what it took is free again. If it
is not, every later call would fail as well, while the process looks alive: then it ends with an
exit code that says that starting it again helps.
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

EXIT_CODE: Final = os.EX_TEMPFAIL
"""75: a failure that passes (sysexits.h)."""

SECONDS_TO_RECOVER: Final = 20.0
"""How long Java may lack memory: longer than any call that takes much of it may run."""

_PAUSE_SECONDS: Final = 0.5


class Recovery:
    """Sees to it that the process ends if Java stays unusable after it lacked memory.

    Args:
        searcher: the searcher of the server, as soon as there is one.
    """

    def __init__(self, searcher: "Future[Searcher]") -> None:
        self._searcher = searcher
        self._looking = threading.Lock()
        self._has_worked = False
        self._lacked_memory = False

    def look_at(self, error: BaseException | None) -> None:
        """Look at how a call ended; the calling thread must be attached to Java.

        Args:
            error: what it raised; None if it was answered.
        """
        if error is None:
            self._has_worked = True
        elif isinstance(error, JavaHeapError):
            self._lacked_memory = True
            # With a heap that was too small from the beginning it would never end.
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
            time.sleep(_PAUSE_SECONDS)

    def _can_answer(self) -> bool:
        try:
            self._searcher.result().statistics()
        except (JavaHeapError, LuceneError):
            return False
        except McpLuceneError:
            # There may be no index any more, which has nothing to do with memory.
            pass
        return True


def _end(reason: str) -> None:
    """End the process, once the answers that are on their way are out."""
    time.sleep(_PAUSE_SECONDS)
    print(
        f"Error: {reason}, and every call would fail: the server ends with exit code {EXIT_CODE}; "
        "start it again, and allow Java more memory with IDX_JAVA_HEAP or the setting java_heap",
        file=sys.stderr,
    )
    drain_stderr()
    os._exit(EXIT_CODE)
