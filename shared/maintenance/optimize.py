"""All segments of an index merged into one, without the deleted chunks."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from java.io import OutputStream, PrintStream
from java.lang import System
from org.apache.lucene.index import DirectoryReader, LogByteSizeMergePolicy

from shared.files import index_folder
from shared.files.index_folder import size_bytes
from shared.java.interruption import in_background
from shared.maintenance.progress import Progress, Step
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.commits import commit_data, indexed_folders, open_last_commit
from shared.writing.writer import exclusive_writer


@dataclass(frozen=True, slots=True)
class Optimized:
    """What became of an index.

    Attributes:
        segments_before: segments it had.
        segments_after: segments it has: 1, or 0 without documents.
        bytes_before: bytes of the files of the last commit.
        bytes_after: the same of the commit that it has now.
        deleted_chunks: chunks that had been deleted, but not yet removed from the files.
        seconds: how long it took.
    """

    segments_before: int
    segments_after: int
    bytes_before: int
    bytes_after: int
    deleted_chunks: int
    seconds: float


def optimize(
    path: Path | str, *, wait: float = DEFAULT_WAIT, progress: Progress = iter
) -> Optimized:
    """Merge all segments of an index into one, without the deleted chunks, by one commit.

    Nothing is written if it is so already. Until the commit every reader sees the index as it
    was, and whatever ends the run leaves it so. The files of before are deleted after the commit.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.
        progress: what passes on how far the merge is.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: another writer held it all the time.
        IndexWriteError: the file system refused to write.
        IndexFolderError: the index cannot be used; the class says why.
    """
    path = index_folder.absolute(path)
    began = time.monotonic()
    with exclusive_writer(path, wait) as (writer, reader):
        segments, size, _ = before = _state(reader, path)
        deleted = int(reader.numDeletedDocs())
        if segments > 1 or deleted:
            writer.setLiveCommitData(commit_data(indexed_folders(reader, path), path))
            for _ in progress(_merge(writer, path, *before)):
                pass
            # Commits: once.
            writer.close()
            with closing(open_last_commit(writer.getDirectory(), path)) as commit:
                after = _state(commit, path)
        else:
            after = before
    seconds = round(time.monotonic() - began, 3)
    return Optimized(segments, after[0], size, after[1], deleted, seconds)


def _state(reader: Any, path: Path) -> tuple[int, int, frozenset[str]]:
    """The number of segments of a commit, the bytes of its files, and their names."""
    commit = DirectoryReader.cast_(reader).getIndexCommit()
    names = frozenset(str(name) for name in commit.getFileNames())
    return commit.getSegmentCount(), size_bytes(path / name for name in names), names


def _merge(
    writer: Any, path: Path, segments: int, size: int, old: frozenset[str]
) -> Iterator[Step]:
    """Merge all segments, which takes effect with the next commit."""
    activity = f"Merging {quantity(segments, 'segment')}"
    policy = LogByteSizeMergePolicy()
    # At once, and in the order in which the chunks were added.
    policy.setMergeFactor(max(segments, 2))
    writer.getConfig().setMergePolicy(policy)
    # Lucene's own threads print what they throw, which the writer throws once more.
    System.setErr(PrintStream(OutputStream.nullOutputStream()))
    # A rollback is the only way to break a merge off.
    for _ in in_background(lambda: writer.forceMerge(1), writer.rollback):
        yield Step(activity, _bytes_written(path, old), size)


def _bytes_written(path: Path, old: frozenset[str]) -> int:
    """Bytes of the files of segments that are not those of before."""
    return size_bytes(file for file in path.glob("_*") if file.name not in old)
