"""Lucene's writer of an index, which only one process can hold at a time, and its first commit."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import lucene
from java.io import IOException
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
from shared.files.lucene_files import commit_id
from shared.java import vm
from shared.model.folders import IndexedFolders
from shared.settings.current import java_heap
from shared.storage import lucene_errors
from shared.storage.commits import commit_data, commit_files, open_last_commit
from shared.storage.integrity import open_directory, verify
from shared.storage.lock import holder

_LOCK_RETRY_SECONDS: Final = 0.05

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
    """Open a writer as soon as no other one holds the index.

    Args:
        directory: Lucene's view of the index folder.
        path: the index folder.
        wait: seconds to wait for another writer to end.
        mode: Lucene's treatment of an existing index, an ``IndexWriterConfig.OpenMode``.
        keep_order: true to keep chunks in the order in which they are added.

    Raises:
        IndexLockedError: another writer held the lock for the whole time.
    """

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
def locked(directory: Any, path: Path, wait: float) -> Iterator[Any]:
    """Lock writers out of an index, and lend the lock.

    Args:
        directory: Lucene's view of the index folder.
        path: the index folder.
        wait: seconds to wait for a writer to end.

    Raises:
        IndexLockedError: a writer held the lock for the whole time.
    """
    with closing(
        _when_unlocked(lambda: directory.obtainLock(IndexWriter.WRITE_LOCK_NAME), path, wait)
    ) as lock:
        yield lock


def _when_unlocked(obtain: Callable[[], Any], path: Path, wait: float) -> Any:
    """Return the result of a function as soon as no other process has the lock that it needs."""
    deadline = time.monotonic() + wait
    while True:
        try:
            return obtain()
        except lucene.JavaError as error:
            if not is_locked(error, path):
                raise
            if time.monotonic() >= deadline:
                raise IndexLockedError(path, holder(path), wait) from error
        time.sleep(_LOCK_RETRY_SECONDS)


def is_locked(error: lucene.JavaError, path: Path) -> bool:
    """Check whether the lock of an index could not be obtained because another process has it.

    Args:
        error: the error that Lucene threw when it tried to obtain the lock.
        path: the index folder.

    Raises:
        IndexPathError: the file system does not support locks.
    """
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

    Args:
        path: the absolute path of the index folder.
        wait: seconds to wait for another writer to end.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: another writer held the lock for the whole time.
        IndexDamagedError: a file of it is missing, changed or cut short.
        IndexWriteError: the file system refused to write.
        IndexFolderError: the index cannot be used; the class says why.
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

    Args:
        directory: Lucene's view of the index folder.
        path: the index folder.
    """
    with suppress(lucene.JavaError, IndexLockedError):
        open_writer(directory, path, 0, IndexWriterConfig.OpenMode.APPEND).rollback()


@dataclass(frozen=True, slots=True)
class Creation:
    """A newly created index, without documents.

    Attributes:
        path: the index folder.
        is_new_folder: true if the folder was created for it.
        file: the file of the empty commit.
        commit: the id of this commit.
    """

    path: Path
    is_new_folder: bool
    file: Path
    commit: bytes | None

    def undo(self, directory: Any) -> None:
        """Remove the index, unless another program has written to it.

        Args:
            directory: Lucene's view of the index folder, without a writer.
        """
        with suppress(OSError, lucene.JavaError, IndexLockedError):
            # While the lock is held, nobody commits between the check and the removal.
            with locked(directory, self.path, 0):
                is_unchanged = set(commit_files(directory)) == {self.file.name}
                if not is_unchanged or commit_id(self.file) != self.commit:
                    return
                self.file.unlink()
                (self.path / IndexWriter.WRITE_LOCK_NAME).unlink()
            # Windows keeps a deleted file in its folder until it is closed, here that of the lock.
            if self.is_new_folder:
                self.path.rmdir()


def commit_empty(
    writer: Any, directory: Any, path: Path, *, is_new_folder: bool
) -> Creation | None:
    """Commit an empty index if there is no commit.

    Args:
        writer: Lucene's writer of the index, which locks all others out.
        directory: Lucene's view of the index folder.
        path: the index folder.
        is_new_folder: true if the folder was created for the index.

    Returns:
        The new index; None if there is one already, perhaps from a program that had the writer
        before.
    """
    if DirectoryReader.indexExists(directory):
        return None
    # A program that had the writer before may have deleted the folder, and Lucene created it again.
    index_folder.prepare(path)
    writer.setLiveCommitData(commit_data(IndexedFolders(), path, None))
    writer.commit()
    (name,) = set(commit_files(directory))
    file = path / name
    return Creation(path, is_new_folder, file, commit_id(file))
