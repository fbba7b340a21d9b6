"""The threads of the server that touch Lucene.

Handlers run on the event loop and send their work here. The threads live as long as the server
and stay attached to the Java virtual machine, which the first of them starts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

if TYPE_CHECKING:
    from shared.searcher import Searcher

Answer = TypeVar("Answer")

_MAX_THREADS: Final = 8


class LucenePool:
    """A searcher and the threads that use it.

    Creating one returns at once: Java starts and the index is opened in the background.

    Args:
        index_path: the index folder; it need not exist yet.
    """

    def __init__(self, index_path: Path) -> None:
        self._threads = ThreadPoolExecutor(
            min(_MAX_THREADS, 2 * (os.cpu_count() or 1)),
            thread_name_prefix="lucene",
            initializer=_attach,
        )
        self._searcher = self._threads.submit(_open, index_path)

    async def run(self, work: Callable[[Searcher], Answer]) -> Answer:
        """Run work that needs the searcher on one of the threads, and return its answer.

        Raises:
            McpLuceneError: what the work raised, or why Java could not start.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: work(self._searcher.result())
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.submit(self._close).result()
        self._threads.shutdown(cancel_futures=True)

    def _close(self) -> None:
        if self._searcher.exception() is None:
            self._searcher.result().close()


def _attach() -> None:
    from shared import jvm

    jvm.start("server")


def _open(index_path: Path) -> Searcher:
    from shared.errors import McpLuceneError
    from shared.searcher import Searcher

    searcher = Searcher(index_path, program="server")
    # Only a warm-up: the first call will tell its client what is wrong by then.
    with suppress(McpLuceneError):
        searcher.search("")
    return searcher
