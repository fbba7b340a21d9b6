"""Lucene's writer of an index, which only one process can hold at a time, and its first commit."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import lucene
from java.io import IOException
from java.nio.file import NoSuchFileException
from org.apache.lucene.index import (
    DirectoryReader,
    IndexWriter,
    IndexWriterConfig,
    LogByteSizeMergePolicy,
)
from org.apache.lucene.store import LockObtainFailedException

from shared.analysis.analyzers import writing_analyzer
from shared.errors import IndexLockedError, IndexPathError
from shared.files import index_folder
from shared.java import vm
from shared.model.folders import IndexedFolders
from shared.settings.current import java_heap
from shared.storage import lucene_errors
from shared.storage.commits import commit_data, commit_files, open_last_commit
from shared.storage.integrity import open_directory, verify
from shared.storage.lock import holder

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
def exclusive_writer(path: Path, wait: float) -> Iterator[tuple[Any, Any]]:
    """Lend the only writer of an index, with a reader of the last commit.

    Changes that are not committed in the block are rolled back at its end.
    """
    index_folder.identify(path)
    with (
        vm.attached("batch"),
        lucene_errors.writing(path),
        closing(open_directory(path)) as directory,
    ):
        # Checked before waiting for another writer, which would be in vain.
        open_last_commit(directory, path).close()
        writer = open_writer(directory, path, wait, IndexWriterConfig.OpenMode.APPEND)
        try:
            # Completely, however long it takes: work that replaces all files must start from intact
            # ones.
            verify(path, commit_files(directory), completely=True)
            with closing(open_last_commit(directory, path)) as reader:
                yield writer, reader
        except BaseException:
            writer.rollback()
            clean(directory, path)
            raise
        # This does nothing after a close.
        writer.rollback()


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
