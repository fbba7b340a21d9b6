"""The first, empty commit of an index, and its removal if the index stays unused."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lucene
from org.apache.lucene.index import DirectoryReader, IndexWriter

from shared.errors import IndexLockedError
from shared.files import index_folder
from shared.files.lucene_files import commit_id
from shared.model.folders import IndexedFolders
from shared.storage.commits import commit_data, commit_files
from shared.writing.writer import locked


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
        # While the lock is held, nobody commits between the check and the removal.
        with (
            suppress(OSError, lucene.JavaError, IndexLockedError),
            locked(directory, self.path, 0),
        ):
            is_unchanged = set(commit_files(directory)) == {self.file.name}
            if is_unchanged and commit_id(self.file) == self.commit:
                self.file.unlink()
                (self.path / IndexWriter.WRITE_LOCK_NAME).unlink()
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
    writer.setLiveCommitData(commit_data(IndexedFolders(), path))
    writer.commit()
    (name,) = set(commit_files(directory))
    file = path / name
    return Creation(path, is_new_folder, file, commit_id(file))
