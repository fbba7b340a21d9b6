"""The thread pool for work with Lucene.

Handlers run on the event loop and submit their work to the pool. Its threads live as long as the
server and stay attached to the Java virtual machine, which the first of them starts. A slow call
keeps its thread, and a new thread replaces that one in the pool, so that fast calls never wait for
slow ones.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from server.log import end_process
from server.settings import Limit
from shared.errors import JavaHeapError, LuceneError, McpLuceneError
from shared.java.cancellation import Cancellation, SearchStoppedError
from shared.settings.defaults import default_workers

if TYPE_CHECKING:
    from shared.model.filters import Collection
    from shared.reading.searcher import Searcher

Answer = TypeVar("Answer")

_MAX_THREADS: Final = 8

MAX_SLOW_CALLS: Final = 8  # slow calls, in addition to the threads for all other calls

MAX_ABANDONED_CALLS: Final = 16
"""Maximum number of calls that continue after cancellation. Beyond it, queries that can take long
are refused, and all others are answered."""

_SLOW_CALL_SECONDS: Final = 0.2  # of a slow call, and between two examinations of running calls
_MIN_SLOW_CALL_SECONDS: Final = 2.0  # before a slow call may be stopped in favour of waiting ones
_ABANDONED_AFTER_SECONDS: Final = 1.0  # for a cancelled call that continues
_DISCONNECT_GRACE_SECONDS: Final = 0.5  # for calls to finish after the client has disconnected


class QueryDisplacedError(McpLuceneError):
    """A slow call was stopped, since too many others were slow as well."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was stopped after {seconds:g} seconds or more, because too many other slow "
            "calls were running; ask for less, or try again later"
        )


@dataclass(eq=False)
class _Call:
    """Work for a thread, and its state; times are None until then."""

    work: Callable[[Searcher], Any]
    cancellation: Cancellation
    within: Limit
    future: Future[Any] = field(default_factory=Future)
    began: float | None = None
    cancelled: float | None = None  # when the cancellation was noticed
    replaced: bool = False  # another thread has replaced its thread in the pool
    displaced: bool = False  # it was stopped in favour of waiting calls

    def is_abandoned(self, now: float) -> bool:
        """Check whether the call continues long after its cancellation."""
        if self.cancelled is None and self.cancellation.cancelled:
            self.cancelled = now
        return self.cancelled is not None and now - self.cancelled >= _ABANDONED_AFTER_SECONDS


class LucenePool:
    """A searcher and the threads that use it.

    Creating one returns at once: Java starts and the index is opened in the background.
    """

    def __init__(self, index_path: Path, collections: Sequence[Collection] = ()) -> None:
        self._lock = threading.Lock()
        self._waiting: SimpleQueue[_Call | None] = SimpleQueue()
        self._running: set[_Call] = set()
        self._threads: set[threading.Thread] = set()
        self._is_closed = False
        self._searcher: Future[Searcher] = Future()
        self._recovery = _Recovery(self._searcher)
        self._start(partial(_resolve, self._searcher, partial(_open, index_path, collections)))
        self._model: Future[Any] = Future()
        self._start(partial(_resolve, self._model, self._load_model))
        for _ in range(min(_MAX_THREADS, 2 * default_workers())):
            self._start(self._serve)

    @property
    def running_calls(self) -> int:
        """Number of calls that occupy a thread."""
        with self._lock:
            return len(self._running)

    @property
    def abandoned_calls(self) -> int:
        """Number of calls that continue a second or more after their cancellation."""
        now = time.monotonic()
        with self._lock:
            return sum(call.is_abandoned(now) for call in self._running)

    async def run(
        self,
        work: Callable[[Searcher], Answer],
        cancellation: Cancellation | None = None,
        *,
        within: Limit,
    ) -> Answer:
        """Run work with the searcher on one of the threads, and return its result.

        Calls of the work to the searcher end early on cancellation. `within` has no default, so
        that nobody who works for a client forgets the collections from `ServerState.limit`.
        """
        call = _Call(work, cancellation or Cancellation(), within)
        call.cancellation.allows_costly = self.abandoned_calls < MAX_ABANDONED_CALLS
        self._waiting.put(call)
        self._schedule_check(call)
        try:
            answer: Answer = await asyncio.wrap_future(call.future)
        except asyncio.CancelledError:
            call.cancellation.cancel()
            raise
        except SearchStoppedError as error:
            if call.displaced:
                raise QueryDisplacedError(_MIN_SLOW_CALL_SECONDS) from error
            raise
        return answer

    def _schedule_check(self, call: _Call) -> None:
        asyncio.get_running_loop().call_later(_SLOW_CALL_SECONDS, self._check_call, call)

    def _check_call(self, call: _Call) -> None:
        """Examine a running call repeatedly until it has finished or been replaced."""
        if call.future.done():
            return
        now = time.monotonic()
        with self._lock:
            if call in self._running and now - (call.began or now) >= _SLOW_CALL_SECONDS:
                self._replace(call, now)
        if not call.replaced:
            self._schedule_check(call)

    def _replace(self, call: _Call, now: float) -> None:
        """Start a thread in place of a slow call's thread, or displace the longest call."""
        slow = [other for other in self._running if other.replaced]
        abandoned = [other for other in slow if other.is_abandoned(now)]
        if call.is_abandoned(now):
            may_be_replaced = len(abandoned) < MAX_ABANDONED_CALLS
        else:
            may_be_replaced = len(slow) - len(abandoned) < MAX_SLOW_CALLS
        if may_be_replaced:
            call.replaced = True
            self._start(self._serve)
        elif not self._waiting.empty():
            longest = min(
                (other for other in self._running if not other.cancellation.cancelled),
                key=lambda other: other.began or now,
                default=call,
            )
            if now - (longest.began or now) >= _MIN_SLOW_CALL_SECONDS:
                longest.displaced = True
                longest.cancellation.cancel()

    def _start(self, target: Callable[[], None]) -> None:
        if not self._is_closed:
            # Python waits at its exit for threads that are not daemons, however long they take.
            thread = threading.Thread(target=self._run, args=(target,), name="lucene", daemon=True)
            self._threads.add(thread)
            thread.start()

    def _run(self, target: Callable[[], None]) -> None:
        try:
            target()
        finally:
            from shared.java import vm

            # A thread that ends attached leaks its Java thread.
            vm.detach()
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _load_model(self) -> None:
        """Load the sentence model of the index, if it has one, beside the first calls."""
        # The first search reports any error.
        with suppress(Exception):
            searcher = self._searcher.result()
            # Attached like the other threads, so that all Java objects are freed before it ends.
            _start_java()
            searcher.load_model()

    def _serve(self) -> None:
        """Answer calls until another thread has replaced this one or the pool is closed."""
        while (call := self._waiting.get()) is not None:
            if not call.future.set_running_or_notify_cancel():
                continue
            with self._lock:
                self._running.add(call)
            _resolve(call.future, partial(self._answer, call))
            self._recovery.look_at(call.future.exception())
            with self._lock:
                self._running.discard(call)
                is_replaced = call.replaced
            if is_replaced:
                return

    def _answer(self, call: _Call) -> Any:
        searcher = self._searcher.result()
        _start_java()
        call.began = time.monotonic()
        if call.within is not None:
            searcher = searcher.within(call.within)
        return call.work(searcher.until(call.cancellation))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._is_closed = True
            threads, running = set(self._threads), set(self._running)
        with suppress(Empty):
            while True:
                waiting = self._waiting.get_nowait()
                if waiting is not None:
                    waiting.future.cancel()
        for _ in threads:
            self._waiting.put(None)
        answers = {call.future for call in running}
        wait({self._searcher, self._model, *answers}, _DISCONNECT_GRACE_SECONDS)
        for call in running:
            call.cancellation.cancel()
        wait(answers, _DISCONNECT_GRACE_SECONDS)


def _resolve(future: Future[Any], work: Callable[[], Any]) -> None:
    """Run work and store its result or exception in the future."""
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - raised by the result of the future
        future.set_exception(error)
    else:
        future.set_result(result)


def _start_java() -> None:
    """Start Java, and attach the calling thread to it permanently."""
    from shared.java import vm

    vm.start("server")


def _open(index_path: Path, collections: Sequence[Collection]) -> Searcher:
    _start_java()
    from shared.java import startup_cache
    from shared.reading.searcher import Searcher
    from shared.storage import lucene_errors

    startup_cache.train_in_background()

    lucene_errors.load_classes()
    searcher = Searcher(index_path, program="server", collections=collections)
    # Only a warm-up: the first call reports any error to its client, and later calls must be able
    # to find it fixed.
    with suppress(Exception):
        searcher.search("")
    return searcher


EXIT_CODE: Final = 75  # exit code for a temporary failure (``EX_TEMPFAIL`` of sysexits.h)

SECONDS_TO_RECOVER: Final = 20.0  # longer than a call that uses much memory can run

_RECHECK_SECONDS: Final = 0.5


class _Recovery:
    """Ends the process if Java stays unusable after it lacked memory.

    A call that needs more memory than is available fails by itself, and its memory is free again.
    If it is not, every later call would fail as well while the process looks alive.
    """

    def __init__(self, searcher: Future[Searcher]) -> None:
        self._searcher = searcher
        self._looking = threading.Lock()
        self._has_worked = False
        self._lacked_memory = False

    def look_at(self, error: BaseException | None) -> None:
        """Examine the error of a call; the calling thread must be attached to Java."""
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
    end_process(EXIT_CODE)
