"""Removal of a lock file that a writer has left in an index."""

from contextlib import closing
from pathlib import Path

import lucene
from org.apache.lucene.index import IndexWriter

from shared.errors import IndexLockedError, IndexMissingError, IndexPathError
from shared.files import index_folder
from shared.files.lucene_files import has_segments
from shared.java import vm
from shared.messages import reason_of
from shared.storage import lucene_errors
from shared.storage.integrity import open_directory
from shared.storage.lock import holder
from shared.system import delete
from shared.writing.writer import is_locked


def unlock(path: Path | str) -> bool:
    """Delete the lock file of an index that no process has locked.

    A writer's lock ends with its process, so a leftover file does not lock anybody out. It is
    deleted while this process holds the lock, so that no writer can be at work meanwhile.

    Args:
        path: the index folder.

    Returns:
        False if there was no lock file.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: a process holds the lock.
        IndexPathError: the file cannot be deleted.
    """
    path = index_folder.absolute(path)
    index_folder.identify(path)
    # An index that has lost its commit may also have a lock file.
    if not any(path.glob("segments_*")) and not has_segments(path):
        raise IndexMissingError(path)
    file = path / "write.lock"
    if not file.exists():
        return False
    with (
        vm.attached(),
        lucene_errors.writing(path),
        closing(open_directory(path)) as directory,
    ):
        try:
            lock = directory.obtainLock(IndexWriter.WRITE_LOCK_NAME)
        except lucene.JavaError as error:
            if not is_locked(error, path):
                raise
            raise IndexLockedError(path, holder(path)) from error
        with closing(lock):
            try:
                delete(file)
            except OSError as error:
                raise IndexPathError(path, reason_of(error)) from error
    return True
