"""The threads of the server that touch Lucene.

Handlers run on the event loop and send their work here. The threads live as long as the server
and stay attached to the Java virtual machine, which the first of them starts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from shared.settings import default_workers

if TYPE_CHECKING:
    from shared.searcher import Searcher

Answer = TypeVar("Answer")

_MAX_THREADS: Final = 8

_SECONDS_TO_FINISH: Final = 0.5
"""How long calls may go on after the client has gone."""


class LucenePool:
    """A searcher and the threads that use it.

    Creating one returns at once: Java starts and the index is opened in the background.

    Args:
        index_path: the index folder; it need not exist yet.
    """

    def __init__(self, index_path: Path) -> None:
        threads = min(_MAX_THREADS, 2 * default_workers())
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="lucene")
        self._searcher = self._threads.submit(_open, index_path)
        self._running: set[Future[Any]] = {self._searcher}

    async def run(self, work: Callable[[Searcher], Answer]) -> Answer:
        """Run work that needs the searcher on one of the threads, and return its answer.

        Raises:
            McpLuceneError: what the work raised, or why Java could not start.
        """
        future = self._threads.submit(self._attached, work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(future)

    def _attached(self, work: Callable[[Searcher], Answer]) -> Answer:
        searcher = self._searcher.result()
        _start_java()
        return work(searcher)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        _, unfinished = wait(self._running, _SECONDS_TO_FINISH)
        # Python would wait for the threads, and a client that is gone needs no answer. The server
        # only reads: there is nothing to save. But if something failed, it must still be told.
        if unfinished and error is None:
            os._exit(0)


def _start_java() -> None:
    """Have Java run, and the calling thread attached to it for as long as it lives."""
    from shared import jvm

    jvm.start("server")


def _open(index_path: Path) -> Searcher:
    _start_java()
    from shared.searcher import Searcher

    searcher = Searcher(index_path, program="server")
    # Only a warm-up: whatever is wrong, the first call will tell its client, and the calls after it
    # must be able to find it mended.
    with suppress(Exception):
        searcher.search("")
    return searcher
