"""Processes that read files, so that what goes wrong in a file costs that file only.

A document is a program of sorts, written by anyone: it may crash its reader, never end, or fill
the memory. Each process reads one file at a time under limits on time and memory, and is replaced
when it dies. The processes are spawned, never forked: their parent may run a Java virtual machine.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from idx.crawl.location import Location
from idx.errors import ReadersDiedError
from idx.extraction.types import ExtractionOptions, ReadFile, Unreadable

_BATCH: Final = 32
_BATCH_BYTES: Final = 64_000
"""Files, and bytes of them, that go to a process at once; more of either go by themselves. Small
files take less time to read than to be handed over one by one."""

_AHEAD: Final = 4
"""Batches for each process that wait for it or for the writer."""

_BYTES_AHEAD: Final = 64_000_000
"""Bytes of all files that are read ahead; a single larger file is still read."""

_SECONDS_BETWEEN_CHECKS: Final = 1.0
"""A pool that gives up says so to all that wait for it, but for a task that it was just taking."""

_MOST_BREAKS: Final = 3
"""How often in a row all processes may die before a file is read."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take.

    Attributes:
        seconds: time.
        memory_bytes: address space of the process.
    """

    seconds: float
    memory_bytes: int


class FileToRead(Protocol):
    """Something that names a file."""

    @property
    def location(self) -> Location:
        """The file."""

    @property
    def size(self) -> int:
        """Its bytes, as far as they are known."""


Item = TypeVar("Item", bound=FileToRead)
Waiting = dict[Future[list[Any]], list[Item]]
"""The batches that processes work on or have done."""

Work = Callable[..., list[Any]]
"""What a process does with a batch: a function of `idx.extraction.worker`."""


class ExtractionPool:
    """A pool of processes that read files; a context manager that ends them.

    Args:
        workers: processes, from 1; they start with the first file.
        limits: what a file may take.
        options: how files are read.
    """

    def __init__(self, workers: int, limits: Limits, options: ExtractionOptions) -> None:
        self._workers = workers
        self._limits = limits
        self._options = options
        self._pool: ProcessPool | None = None
        self._breaks = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def read(self, files: Iterable[Item]) -> Iterator[tuple[Item, ReadFile | Unreadable]]:
        """Read files, as many at a time as there are processes.

        Args:
            files: what is to be read; taken as it is needed.

        Yields:
            Each of them with what was read of it, in the order in which they are done.

        Raises:
            ReadersDiedError: the processes end as soon as they start.
        """
        # With all formats, which a run that reads nothing does without.
        from idx.extraction.worker import read_files

        return self._do(read_files, files)

    def hashes(self, files: Iterable[Item]) -> Iterator[tuple[Item, str | Unreadable]]:
        """Hash the bytes of files, in the same way.

        It is not done in this process, which a file that cannot be read to its end would stop: one
        behind a network drive that does not answer, or one that the system never ends.
        """
        from idx.extraction.worker import hash_files

        return self._do(hash_files, files)

    def _do(self, work: Work, files: Iterable[Item]) -> Iterator[tuple[Item, Any]]:
        waiting: Waiting[Item] = {}
        for batch in _batches(files):
            while waiting and self._is_full(waiting.values(), batch):
                yield from self._done(work, waiting)
            self._schedule(work, batch, waiting)
        while waiting:
            yield from self._done(work, waiting)

    def _schedule(self, work: Work, batch: list[Item], waiting: "Waiting[Item]") -> None:
        seconds = self._limits.seconds
        arguments = ([item.location for item in batch], self._options, seconds)
        # The first call starts the processes. They run no module of the folder that this one was
        # started in, which may be the one to index.
        os.environ["PYTHONSAFEPATH"] = "1"
        # Ctrl-C goes to all of a group, but they take as many signals as this thread does now; the
        # tracker would have it take them again.
        resource_tracker.ensure_running()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._pool = self._pool or self._new_pool()
            task = self._pool.schedule(work, args=arguments, timeout=seconds)
        except RuntimeError:
            # The pool has given up, with everything that waits for it.
            task = None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if task is None:
            self._start_again(work, waiting)
            self._schedule(work, batch, waiting)
        else:
            waiting[task] = batch

    def _is_full(self, waiting: Collection[list[Item]], batch: list[Item]) -> bool:
        size = sum(map(_size, waiting)) + _size(batch)
        return len(waiting) >= self._workers * _AHEAD or size > _BYTES_AHEAD

    def _done(self, work: Work, waiting: "Waiting[Item]") -> Iterator[tuple[Item, Any]]:
        """Wait for a batch, but not for ever, and take those that are done."""
        done = wait(waiting, _SECONDS_BETWEEN_CHECKS, FIRST_COMPLETED).done
        if not done and self._pool is not None and not self._pool.active:
            self._start_again(work, waiting)
        for task in done:
            error = task.exception()
            if isinstance(error, BrokenProcessPool):
                self._start_again(work, waiting)
                return
            if task not in waiting:
                # Asked again of another pool meanwhile.
                continue
            self._breaks = 0
            batch = waiting.pop(task)
            if error is None:
                yield from zip(batch, task.result(), strict=True)
            elif len(batch) > 1:
                # One of them did it: each by itself tells which.
                for item in batch:
                    self._schedule(work, [item], waiting)
            else:
                yield batch[0], self._failure(error)

    def _start_again(self, work: Work, waiting: "Waiting[Item]") -> None:
        """Replace the pool, which gives up when an idle process dies, and ask again."""
        self._breaks += 1
        if self._breaks == _MOST_BREAKS:
            raise ReadersDiedError(self._limits.memory_bytes)
        self._end()
        batches = [*waiting.values()]
        waiting.clear()
        for batch in batches:
            self._schedule(work, batch, waiting)

    def _new_pool(self) -> ProcessPool:
        from idx.extraction.worker import prepare

        return ProcessPool(
            max_workers=self._workers,
            context=multiprocessing.get_context("spawn"),
            initializer=prepare,
            initargs=(self._limits.memory_bytes,),
        )

    def _end(self) -> None:
        if self._pool is not None:
            # The pool takes away what a process needs to start before it ends the process; one that
            # is still starting would print a traceback.
            for process in multiprocessing.active_children():
                process.kill()
            self._pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves it out
            self._pool.join()
            self._pool = None

    def _failure(self, error: BaseException) -> Unreadable:
        """Why a process could not read a file."""
        match error:
            case TimeoutError():
                return Unreadable("failed", self._too_long())
            case MemoryError():
                return Unreadable("failed", self._too_much_memory())
            case ProcessExpired(exitcode=exitcode) if exitcode == -signal.SIGXCPU:
                return Unreadable("failed", self._too_long())
            case ProcessExpired(exitcode=exitcode):
                return Unreadable(
                    "failed",
                    f"crashed its reader (exit code {exitcode}): it may be damaged, or "
                    f"it {self._too_much_memory()}",
                )
        return Unreadable(
            "failed",
            f"its reader met an error of its own, which should be reported: "
            f"{type(error).__name__}: {error}",
        )

    def _too_long(self) -> str:
        return f"was not read within {self._limits.seconds:g} seconds; allow more with --timeout"

    def _too_much_memory(self) -> str:
        return (
            f"took more than {self._limits.memory_bytes / 1e6:,.0f} MB of memory to read; allow "
            "more with --max-memory"
        )


def _size(batch: Iterable[FileToRead]) -> int:
    return sum(item.size for item in batch)


def _batches(files: Iterable[Item]) -> Iterator[list[Item]]:
    """Files in their order, as many together as are small."""
    batch: list[Item] = []
    for item in files:
        if batch and (len(batch) == _BATCH or _size(batch) + item.size > _BATCH_BYTES):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch
