"""Pool of worker processes for reading files, which confines failures to single files.

Each worker process reads one file at a time under limits on time and memory, and is replaced when
it dies; see `shared.workers`. Files that OCR shall read come last.
"""

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from pebble import ProcessExpired

from idx.errors import ReadersDiedError
from idx.extraction.programs import tesseract_version
from idx.extraction.types import OCR_TIME_FACTOR, ExtractionOptions, ReadFile, Unreadable
from shared import system
from shared.files.location import Location
from shared.workers import CHECK_INTERVAL_SECONDS, end_pool, new_pool, schedule

if TYPE_CHECKING:
    from pebble import ProcessPool

_MAX_BATCH_FILES: Final = 32
_MAX_BATCH_BYTES: Final = 64_000
"""Maximum number of files in a batch for a worker process, and their total size in bytes.

A larger file is a batch by itself. Passing small files on one by one would take longer than reading
them.
"""

_MAX_BATCHES_AHEAD: Final = 4  # batches for each worker that wait for it or for the writer

_MAX_BYTES_AHEAD: Final = 64_000_000
"""Maximum total size of files read ahead, in bytes; a single larger file is still read."""

_MAX_POOL_FAILURES: Final = 3
"""Number of consecutive failures of the pool, without a file read, that end the run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading one file: time, and address space of the worker process."""

    seconds: float
    memory_bytes: int


class FileToRead(Protocol):
    """File to be read by the pool."""

    @property
    def location(self) -> Location: ...

    @property
    def size(self) -> int: ...  # in bytes, as far as it is known


Item = TypeVar("Item", bound=FileToRead)
Waiting = dict[Future[list[Any]], list[Item]]
"""Batches that are submitted or done but not yet returned."""

Work = Callable[[list[Location]], list[Any]]
"""Task of a worker process for a batch: a function of `idx.extraction.worker` with its options."""


class ExtractionPool:
    """Pool of worker processes that read files; a context manager that ends them."""

    def __init__(self, workers: int, limits: Limits, options: ExtractionOptions) -> None:
        self._workers = workers
        self._limits = limits
        self._options = options
        self._pool: ProcessPool | None = None
        self._pool_failures = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def read(self, files: Iterable[Item]) -> Iterator[tuple[Item, ReadFile | Unreadable]]:
        """Read files, as many at a time as there are workers, in the order of completion."""
        # The module imports all formats, which a run without files to read does not need.
        from idx.extraction.worker import read_files

        return self._each(partial(read_files, options=self._options), files)

    def read_scans(
        self, files: Sequence[Item]
    ) -> Iterator[tuple[int, tuple[Item, ReadFile | Unreadable] | None]]:
        """Read files like `read`, each by itself, with their pictures of text.

        Yields the number of pages read so far, and the file that was read, each second without one
        None.
        """
        from idx.extraction.worker import read_files

        with tempfile.TemporaryDirectory(prefix="idx-", ignore_cleanup_errors=True) as folder:
            counter = Path(folder, "pages")
            counter.touch()
            ocr = self._options.ocr
            if ocr is not None:
                # A few large files are to keep all processors busy, too.
                at_once = max(1, ocr.at_once // max(len(files), 1))
                version = tesseract_version(ocr.program)
                ocr = replace(ocr, version=version, is_due=True, at_once=at_once, counter=counter)
            options = replace(self._options, ocr=ocr)
            task = partial(read_files, options=options, seconds=self._limits.seconds)
            for done in self._process(task, ([file] for file in files)):
                yield counter.stat().st_size, done
        if ocr and ocr.cache:
            ocr.cache.trim()

    def hashes(self, files: Iterable[Item]) -> Iterator[tuple[Item, str | Unreadable]]:
        """Hash the content of files, like `read`.

        Workers do this, because a file that cannot be read to its end would block this process: one
        on a network drive that does not respond, or one without an end, such as some special files.
        """
        from idx.extraction.worker import hash_files

        return self._each(hash_files, files)

    def _each(
        self, work: Callable[..., list[Any]], files: Iterable[Item]
    ) -> Iterator[tuple[Item, Any]]:
        task = partial(work, seconds=self._limits.seconds)
        return (done for done in self._process(task, batches(files)) if done)

    def _process(
        self, work: Work, batches: Iterable[list[Item]]
    ) -> Iterator[tuple[Item, Any] | None]:
        waiting: Waiting[Item] = {}
        for batch in batches:
            while waiting and self._is_full(waiting.values(), batch):
                yield from self._completed(work, waiting)
            self._schedule(work, batch, waiting)
        while waiting:
            yield from self._completed(work, waiting)

    def _schedule(self, work: Work, batch: list[Item], waiting: "Waiting[Item]") -> None:
        locations = [item.location for item in batch]
        try:
            self._pool = self._pool or new_pool(self._workers, self._limits.memory_bytes)
            task = schedule(self._pool, work, self._limits.seconds, locations)
        except BrokenExecutor:
            # It takes all waiting tasks with it.
            self._restart(work, waiting)
            self._schedule(work, batch, waiting)
        else:
            waiting[task] = batch

    def _is_full(self, waiting: Collection[list[Item]], batch: list[Item]) -> bool:
        size = sum(map(_size, waiting)) + _size(batch)
        return len(waiting) >= self._workers * _MAX_BATCHES_AHEAD or size > _MAX_BYTES_AHEAD

    def _completed(self, work: Work, waiting: "Waiting[Item]") -> Iterator[tuple[Item, Any] | None]:
        """Wait for a batch with a timeout, and yield the results of completed ones, else None."""
        done = wait(waiting, CHECK_INTERVAL_SECONDS, FIRST_COMPLETED).done
        if not done and self._pool is not None and not self._pool.active:
            self._restart(work, waiting)
        if not done:
            yield None
        for task in done:
            error = task.exception()
            if isinstance(error, BrokenExecutor):
                self._restart(work, waiting)
                return
            if task not in waiting:
                # The batch has been resubmitted to another pool.
                continue
            self._pool_failures = 0
            batch = waiting.pop(task)
            if error is None:
                yield from zip(batch, task.result(), strict=True)
            elif len(batch) > 1:
                # One file caused the error; reading each one separately shows which.
                for item in batch:
                    self._schedule(work, [item], waiting)
            else:
                yield batch[0], self._failure(error)

    def _restart(self, work: Work, waiting: "Waiting[Item]") -> None:
        """Replace the pool, which gives up when an idle worker dies, and resubmit the batches."""
        self._pool_failures += 1
        if self._pool_failures == _MAX_POOL_FAILURES:
            raise ReadersDiedError(self._limits.memory_bytes)
        self.end()
        again = [*waiting.values()]
        waiting.clear()
        for batch in again:
            self._schedule(work, batch, waiting)

    def end(self) -> None:
        if self._pool is not None:
            end_pool(self._pool)
            self._pool = None

    def _failure(self, error: BaseException) -> Unreadable:
        too_much_memory = (
            f"took more than {self._limits.memory_bytes / 1e6:,.0f} MB of memory to read; allow "
            "more with --max-memory"
        )
        match error:
            case TimeoutError() | ProcessExpired(exitcode=system.EXIT_CODE_AFTER_TIME):
                seconds = f"{self._limits.seconds:g} seconds"
                reason = f"was not read within {seconds}; allow more with --timeout"
            case MemoryError():
                reason = too_much_memory
            case ProcessExpired(exitcode=exitcode):
                reason = (
                    f"crashed its reader (exit code {exitcode}): it may be damaged, or "
                    f"it {too_much_memory}"
                )
            case _:
                return Unreadable.unforeseen(error)
        return Unreadable("failed", reason)


def _size(batch: Iterable[FileToRead]) -> int:
    return sum(item.size for item in batch)


def batches(files: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield files in order, with small ones grouped into what one worker reads at a time."""
    batch: list[Item] = []
    for item in files:
        if batch and (
            len(batch) == _MAX_BATCH_FILES or _size(batch) + item.size > _MAX_BATCH_BYTES
        ):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def scans_pool(workers: int, limits: Limits, options: ExtractionOptions) -> ExtractionPool:
    """Return a pool for `read_scans`, whose files take more time."""
    return ExtractionPool(
        workers,
        replace(limits, seconds=limits.seconds * OCR_TIME_FACTOR),
        replace(options, member_seconds=options.member_seconds * OCR_TIME_FACTOR),
    )
