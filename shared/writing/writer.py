"""Lucene's writer of an index, which only one process can hold at a time, and its document queue.

Lucene writes documents while the next ones are prepared.
"""

import errno
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import lucene
from java.io import IOException
from java.lang import IllegalArgumentException
from java.nio.file import NoSuchFileException
from java.util import Arrays
from org.apache.lucene.index import (
    DirectoryReader,
    IndexWriter,
    IndexWriterConfig,
    LogByteSizeMergePolicy,
)
from org.apache.lucene.store import LockObtainFailedException

from shared.analysis.analyzers import writing, writing_analyzer
from shared.analysis.languages import UNDETERMINED
from shared.errors import IndexLockedError, IndexPathError, InvalidDocumentError
from shared.files import index_folder
from shared.java import vm
from shared.model.folders import IndexedFolders
from shared.settings.current import java_heap
from shared.storage import lucene_errors
from shared.storage.commits import commit_data, commit_files, open_last_commit
from shared.storage.integrity import open_directory, verify
from shared.storage.lock import holder
from shared.storage.lucene_errors import lacks_memory
from shared.storage.mapping import Batch
from shared.storage.stored_chunks import document_term

_LOCK_RETRY_SECONDS: Final = 0.05
_MOST_VANISHED: Final = 20  # times in a row that the file of the lock may vanish, a second in all

_LOCKS_UNSUPPORTED: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of fcntl(2) on a file system without locks, such as NFS without its lock daemon."""

BUFFER_MEGABYTES: Final = 64.0
"""Size of the buffer for postings before they become a segment, in MB; with Lucene's 16 MB, writing
takes 15 % longer because of merges."""

_MAX_HEAP_SHARE: Final = 1 / 8
"""Maximum share of Java's heap for this buffer; documents, merges and queries need the rest."""


def open_writer(
    directory: Any, path: Path, wait: float, mode: Any, *, keep_order: bool = False
) -> Any:
    """Open a writer as soon as no other one holds the index."""

    def open_() -> Any:
        config = IndexWriterConfig(writing_analyzer())
        config.setOpenMode(mode)
        config.setRAMBufferSizeMB(min(BUFFER_MEGABYTES, _MAX_HEAP_SHARE * java_heap()))
        if keep_order:
            # The default policy also merges segments that are not adjacent.
            config.setMergePolicy(LogByteSizeMergePolicy())
        return IndexWriter(directory, config)

    return _when_unlocked(open_, path, wait)


@contextmanager
def locked(directory: Any, path: Path, wait: float | None) -> Iterator[Any]:
    """Lock writers out of an index, and lend the lock."""
    with closing(
        _when_unlocked(lambda: directory.obtainLock(IndexWriter.WRITE_LOCK_NAME), path, wait)
    ) as lock:
        yield lock


def _when_unlocked(obtain: Callable[[], Any], path: Path, wait: float | None) -> Any:
    """Return the result of a function as soon as no other process has the lock that it needs."""
    deadline = time.monotonic() + (wait or 0)
    vanished = 0
    while True:
        try:
            return obtain()
        except lucene.JavaError as error:
            # Whoever takes a new index back deletes the file of the lock while Lucene looks at it.
            if (
                NoSuchFileException.instance_(error.getJavaException())
                and vanished < _MOST_VANISHED
            ):
                vanished += 1
            elif not is_locked(error, path):
                raise
            elif time.monotonic() >= deadline:
                raise IndexLockedError(path, holder(path), wait) from error
        time.sleep(_LOCK_RETRY_SECONDS)


def is_locked(error: lucene.JavaError, path: Path) -> bool:
    """Check whether the lock of an index could not be obtained because another process has it."""
    thrown = error.getJavaException()
    if LockObtainFailedException.instance_(thrown):
        return True
    reason = lucene_errors.text(thrown)
    if IOException.instance_(thrown) and reason in map(os.strerror, _LOCKS_UNSUPPORTED):
        raise IndexPathError(
            path,
            f"its file system does not support locks ({reason}), so two writers could destroy the "
            "index: move it to a local disk",
        ) from error
    return False


@contextmanager
def opened(path: Path, program: vm.Program = "batch") -> Iterator[Any]:
    """Lend the Lucene directory of an index folder, for work on the whole index."""
    index_folder.identify(path)
    with (
        vm.attached(program),
        lucene_errors.writing(path),
        closing(open_directory(path)) as directory,
    ):
        yield directory


@contextmanager
def only_writer(
    directory: Any, path: Path, wait: float, mode: Any, *, keep_order: bool = False
) -> Iterator[Any]:
    """Lend the only writer of an index; what it has not committed is rolled back at the end."""
    writer = open_writer(directory, path, wait, mode, keep_order=keep_order)
    try:
        yield writer
    except BaseException:
        writer.rollback()
        clean(directory, path)
        raise
    # This does nothing after a close.
    writer.rollback()


@contextmanager
def exclusive_writer(path: Path, wait: float) -> Iterator[tuple[Any, Any]]:
    """Lend the only writer of an index, with a reader of the last commit."""
    with opened(path) as directory:
        # Checked before waiting for another writer, which would be in vain.
        open_last_commit(directory, path).close()
        with only_writer(directory, path, wait, IndexWriterConfig.OpenMode.APPEND) as writer:
            # Completely, however long it takes: work that replaces all files must start from intact
            # ones.
            verify(path, commit_files(directory), completely=True)
            with closing(open_last_commit(directory, path)) as reader:
                yield writer, reader


def clean(directory: Any, path: Path) -> None:
    """Delete the files that no commit of an index needs, as far as possible.

    A rollback does so, but not after a failed write, which may be due to a lack of space.
    """
    with suppress(lucene.JavaError, IndexLockedError):
        open_writer(directory, path, 0, IndexWriterConfig.OpenMode.APPEND).rollback()


def commit_empty(writer: Any, directory: Any, path: Path) -> str | None:
    """Commit an empty index if there is no commit; return the file of the new commit, or None.

    There may be one of a program that had the writer before.
    """
    if DirectoryReader.indexExists(directory):
        return None
    # A program that had the writer before may have deleted the folder, and Lucene created it again.
    index_folder.prepare(path)
    writer.setLiveCommitData(commit_data(IndexedFolders(), path, None))
    writer.commit()
    (name,) = set(commit_files(directory))
    return name


def undo_creation(directory: Any, path: Path, commit: str, *, is_new_folder: bool) -> None:
    """Remove an index that `commit_empty` created, unless another program has written to it."""
    with suppress(OSError, lucene.JavaError, IndexLockedError):
        # While the lock is held, nobody commits between the check and the removal.
        with locked(directory, path, 0):
            if set(commit_files(directory)) != {commit}:
                return
            (path / commit).unlink()
            (path / IndexWriter.WRITE_LOCK_NAME).unlink()
        # Windows keeps a deleted file in its folder until it is closed, here that of the lock.
        if is_new_folder:
            path.rmdir()


_MAX_WAITING_DOCUMENTS: Final = 4
"""Number of documents that may wait for Lucene; one would do if all took equally long."""


class DocumentWriter:
    """Writer of documents in the order of their submission, in a thread of its own.

    Python cuts a text and finds its language; Lucene analyzes and indexes it, which
    takes about twice as long and releases the GIL.
    """

    def __init__(self, writer: Any, path: Path) -> None:
        self._writer = writer
        self._path = path
        self._pending: deque[Future[int]] = deque()
        self._thread = ThreadPoolExecutor(1, "document-writer", initializer=vm.start)
        self._is_closed = False
        self._loss: BaseException | None = None

    def submit(self, document_id: str, batches: Iterator[Batch]) -> Future[int]:
        """Queue a document to replace the one with the same id.

        Returns a future with the number of its chunks or the error: `InvalidDocumentError` if it
        cannot be indexed, `IndexWriteError` if the file system refused to write.
        """
        try:
            begun = list(islice(batches, 2))
        except InvalidDocumentError as error:
            # Reported like an error of Lucene, after the documents before it.
            refused: Future[int] = Future()
            refused.set_exception(error)
            return refused
        while len(self._pending) >= _MAX_WAITING_DOCUMENTS:
            wait([self._pending.popleft()])
        future = self._thread.submit(self._write, document_id, chain(begun, batches))
        self._pending.append(future)
        if len(begun) > 1:
            # Only one long text at a time: it may have hundreds of megabytes.
            wait([future])
        return future

    def wait(self) -> None:
        """Wait until all submitted documents are written or have failed."""
        self._thread.submit(lambda: None).result()
        if self._loss:
            raise self._loss

    def close(self) -> None:
        """End the thread; a long document is abandoned after its current batch."""
        if self._is_closed:
            return
        self._is_closed = True
        # A thread that ends while it is attached leaks its Java counterpart.
        self._thread.submit(lucene.getVMEnv().detachCurrentThread)
        self._thread.shutdown()

    def _write(self, document_id: str, batches: Iterator[Batch]) -> int:
        with lucene_errors.writing(self._path):
            try:
                return self._replace(document_term(document_id), batches)
            except lucene.JavaError as error:
                thrown = error.getJavaException()
                if IllegalArgumentException.instance_(thrown) and not lacks_memory(thrown):
                    raise InvalidDocumentError(
                        f"the document {document_id[:80]!r} cannot be indexed: "
                        f"{lucene_errors.text(thrown)}"
                    ) from error
                raise

    def _replace(self, term: Any, batches: Iterator[Batch]) -> int:
        """Replace the chunks that have a term, and return the number of new ones."""
        language, first = next(batches, (UNDETERMINED, []))
        with writing(language):
            self._writer.updateDocuments(term, Arrays.asList(first))
        count = len(first)
        try:
            # A long document is written in batches, which need not fit into Java's memory at once;
            # readers see none of them before the next commit.
            for language, batch in self._while_open(batches):
                with writing(language):
                    self._writer.addDocuments(Arrays.asList(batch))
                count += len(batch)
        except BaseException as error:
            self._loss = error
            raise
        return count

    def _while_open(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if self._is_closed:
                raise CancelledError
            yield batch


def results(futures: Iterable[Future[int]]) -> Iterator[int]:
    """Yield the results of submitted documents in order, each as soon as it is available."""
    pending: deque[Future[int]] = deque()
    for future in futures:
        pending.append(future)
        while pending and pending[0].done():
            yield pending.popleft().result()
    for future in pending:
        yield future.result()
