"""The renderer: worker processes that stay warm."""

import asyncio
import time
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self, TypeVar
from weakref import WeakValueDictionary

from server.answers.errors import PageNotShownError, ServerBusyError
from server.pictures.worker import PageRequest, Picture, Unrendered, render_page, warm_up
from shared.errors import McpLuceneError
from shared.settings.current import settings
from shared.settings.defaults import default_workers
from shared.system import EXIT_CODE_AFTER_TIME
from shared.workers import CHECK_INTERVAL_SECONDS, end_pool, new_pool, schedule

if TYPE_CHECKING:
    from pebble import ProcessPool

_MAX_WORKERS: Final = 2  # worker processes; each takes about 60 MB

_MEGABYTE: Final = 1_000_000

_LEFT_SECONDS: Final = 1.0
"""Time that a worker has to end a page that nobody waits for, in seconds; a new one takes longer to
start than most pages."""

_GRACE_SECONDS: Final = 5.0  # beyond a task's limit, for its worker to be replaced
FAILURE_SECONDS: Final = 300.0  # until a page that took too much time or memory is tried again

_MAX_KNOWN_FAILURES: Final = 1_000

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits of extraction, and the password for protected files, from the settings."""

    seconds: float  # for a page
    memory_bytes: int  # of a worker
    max_bytes: int  # of a file
    password: str | None


class Renderer:
    """Renderer of pages; a context manager that ends its worker processes.

    The processes start with `prepare` or the first page, and are replaced when they crash or take
    too long. All methods belong to the event loop's thread, with which the processes end. Where
    there are several tokens, each may have half of the processes.
    """

    def __init__(self, *, is_shared: bool = False) -> None:
        self._workers = min(_MAX_WORKERS, default_workers())
        self._share = max(1, self._workers // 2) if is_shared else self._workers
        # An entry lives as long as a page of its holder is rendered or waits.
        self._shares: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()
        self._pool: ProcessPool | None = None
        self._failures: dict[tuple[object, str, int], tuple[Unrendered, float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            end_pool(self._pool)
            self._pool = None

    async def prepare(self) -> None:
        """Start the worker processes if none run, so that a first page need not wait for them.

        A failure is that of the first page, too, which reports it.
        """
        if self._pool is None:
            with suppress(McpLuceneError):
                await self._run(self._limits.seconds, warm_up)

    async def render(
        self, request: PageRequest, name: str, budget: float, holder: Hashable = None
    ) -> Picture:
        """Render a page of a PDF within a time, in seconds; the name is for messages.

        A page that took too much is not tried again soon.
        """
        seconds = min(budget, self._limits.seconds)
        try:
            async with asyncio.timeout(budget + _GRACE_SECONDS):
                result = await self._in_share(holder, request, seconds)
        except TimeoutError as error:
            raise ServerBusyError(budget) from error
        if isinstance(result, Unrendered):
            raise PageNotShownError(name, result.reason)
        return result

    async def _in_share(
        self, holder: Hashable, request: PageRequest, seconds: float
    ) -> Picture | Unrendered:
        limits = self._limits
        async with self._shares.setdefault(holder, asyncio.Semaphore(self._share)):
            # It may have failed meanwhile.
            page = (request.folder, request.path, request.page)
            failure, until = self._failures.pop(page, (None, 0.0))
            if failure and time.monotonic() < until:
                self._failures[page] = failure, until
                return failure
            result = await self._run(
                *(seconds, render_page, request, limits.password, limits.max_bytes), seconds
            )
            if isinstance(result, Unrendered) and result.is_costly:
                self._failures[page] = result, time.monotonic() + FAILURE_SECONDS
                if len(self._failures) > _MAX_KNOWN_FAILURES:
                    del self._failures[next(iter(self._failures))]
            return result

    async def _run(
        self, seconds: float, task: Callable[..., _Result], *arguments: object
    ) -> _Result | Unrendered:
        """Have a worker run a task; a pool that gave up is replaced once."""
        try:
            with suppress(BrokenExecutor):
                return await self._task(seconds, task, *arguments)
            if self._pool is not None:
                end_pool(self._pool)
                self._pool = None
            return await self._task(seconds, task, *arguments)
        except Exception as error:
            if (reason := self._failure(error, seconds)) is None:
                raise
            return Unrendered(reason, is_costly=True)

    async def _task(
        self, seconds: float, task: Callable[..., _Result], *arguments: object
    ) -> _Result:
        if self._pool is None:
            self._pool = new_pool(self._workers, self._limits.memory_bytes, warm_up)
        pool = self._pool
        scheduled = schedule(pool, task, seconds, *arguments)
        future = asyncio.wrap_future(scheduled)
        # Retrieved even if nobody waits any more, or asyncio would log it.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            while not (await asyncio.wait([future], timeout=CHECK_INTERVAL_SECONDS))[0]:
                if not pool.active:
                    raise BrokenExecutor("the pool of workers gave up")
        except asyncio.CancelledError:
            # A task that runs costs its worker, too.
            seconds = _LEFT_SECONDS if scheduled.running() else 0
            asyncio.get_running_loop().call_later(seconds, scheduled.cancel)
            raise
        return future.result()

    @cached_property
    def _limits(self) -> _Limits:
        values = {setting.name: setting.value for setting in settings()}
        password = values["pdf_password"]
        return _Limits(
            seconds=values["timeout"],
            memory_bytes=values["max_memory"] * _MEGABYTE,
            max_bytes=int(values["max_size"] * _MEGABYTE),
            password=password.get_secret_value() if password else None,
        )

    def _failure(self, error: Exception, seconds: float) -> str | None:
        """Return the reason of a failed task; None for an error of another kind."""
        from pebble import ProcessExpired

        too_long = f"took more than {seconds:g} seconds to render"
        too_much = (
            f"takes more than {self._limits.memory_bytes / _MEGABYTE:,.0f} MB of memory to render"
        )
        match error:
            case TimeoutError():
                return too_long
            case ProcessExpired(exitcode=exitcode) if exitcode == EXIT_CODE_AFTER_TIME:
                return too_long
            case MemoryError():
                return too_much
            case ProcessExpired(exitcode=exitcode):
                return (
                    f"crashed its renderer (exit code {exitcode}): it may be damaged, or it "
                    f"{too_much}"
                )
        return None
