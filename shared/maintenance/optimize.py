"""Optimization: all segments of an index merged into one, without the deleted chunks."""

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
from shared.storage.commits import (
    commit_data,
    indexed_folders,
    open_last_commit,
    sentence_model,
)
from shared.writing.writer import exclusive_writer


@dataclass(frozen=True, slots=True)
class Optimized:
    """Result of an optimization.

    Attributes:
        segments_before: the number of segments before.
        segments_after: the number of segments now: 1, or 0 without documents.
        bytes_before: the size of the files of the last commit, in bytes.
        bytes_after: the size of the files of the new commit, in bytes.
        deleted_chunks: the number of deleted chunks that were removed from the files.
        seconds: the duration, in seconds.
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

    Nothing is written if there is nothing to merge. Until the commit every reader sees the old
    index, and a run that ends early leaves it unchanged. The old files are deleted after the
    commit.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.
        progress: a function that passes on the steps of the merge.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: another writer held the lock for the whole time.
        IndexWriteError: the file system refused to write.
        IndexFolderError: the index cannot be used; the class says why.
    """
    path = index_folder.absolute(path)
    began = time.monotonic()
    with exclusive_writer(path, wait) as (writer, reader):
        segments, size, _ = before = _state(reader, path)
        deleted = int(reader.numDeletedDocs())
        if segments > 1 or deleted:
            model = sentence_model(reader, path)
            writer.setLiveCommitData(commit_data(indexed_folders(reader, path), path, model))
            for _ in progress(_merge(writer, path, *before)):
                pass
            # This makes the only commit.
            writer.close()
            with closing(open_last_commit(writer.getDirectory(), path)) as commit:
                after = _state(commit, path)
        else:
            after = before
    seconds = round(time.monotonic() - began, 3)
    return Optimized(segments, after[0], size, after[1], deleted, seconds)


def _state(reader: Any, path: Path) -> tuple[int, int, frozenset[str]]:
    """Return the number of segments of a commit, its size in bytes, and the names of its files."""
    commit = DirectoryReader.cast_(reader).getIndexCommit()
    names = frozenset(str(name) for name in commit.getFileNames())
    return commit.getSegmentCount(), size_bytes(path / name for name in names), names


def _merge(
    writer: Any, path: Path, segments: int, size: int, old: frozenset[str]
) -> Iterator[Step]:
    """Merge all segments, with effect from the next commit."""
    activity = f"Merging {quantity(segments, 'segment')}"
    policy = LogByteSizeMergePolicy()
    # In one merge, and in the order in which the chunks were added.
    policy.setMergeFactor(max(segments, 2))
    writer.getConfig().setMergePolicy(policy)
    # Lucene's threads print their exceptions, which the writer throws again.
    System.setErr(PrintStream(OutputStream.nullOutputStream()))
    # A rollback is the only way to abort a merge.
    for _ in in_background(lambda: writer.forceMerge(1), writer.rollback):
        yield Step(activity, _bytes_written(path, old), size)


def _bytes_written(path: Path, old: frozenset[str]) -> int:
    """Return the size of the new segments' files, in bytes."""
    return size_bytes(file for file in path.glob("_*") if file.name not in old)
