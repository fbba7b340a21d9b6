"""Upkeep of a whole index: optimization, purge, a lock file removed, and the progress of it."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from java.io import OutputStream, PrintStream
from java.lang import System
from org.apache.lucene.index import DirectoryReader, LogByteSizeMergePolicy

from shared.errors import IndexMissingError, IndexPathError
from shared.files import index_folder
from shared.files.index_folder import size_bytes
from shared.files.lucene_files import has_segments
from shared.java.vm import in_background
from shared.messages import quantity, reason_of
from shared.model.failures import delete_failures
from shared.model.folders import IndexedFolders
from shared.ocr import ReadingCache
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.commits import commit_data, indexed_folders, open_last_commit, sentence_model
from shared.storage.stored_chunks import counts
from shared.system import delete
from shared.writing.writer import exclusive_writer, locked, opened


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of one part of a run, in bytes or documents; the total may be approximate."""

    activity: str
    done: int
    total: int


Progress = Callable[[Iterator[Step]], Iterator[Step]]
"""Function that passes on the steps of a run, which continues as they are requested."""


def segments_written(
    writer: Any, path: Path, activity: str, size: int, work: Callable[[], None]
) -> Iterator[Step]:
    """Have a writer write segments of about some size, with effect from the next commit."""
    old = {file.name for file in path.iterdir()}
    # A rollback is the only way to abort it.
    for _ in in_background(work, writer.rollback):
        new = (file for file in path.glob("_*") if file.name not in old)
        yield Step(activity, size_bytes(new), size)


@dataclass(frozen=True, slots=True)
class Optimized:
    """Result of an optimization: the segments and the size of the last and of the new commit.

    There is one segment after it, or none without documents. `deleted_chunks` were removed from the
    files.
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
        segments, size = after = _state(reader, path)
        deleted = int(reader.numDeletedDocs())
        if segments > 1 or deleted:
            model = sentence_model(reader, path)
            writer.setLiveCommitData(commit_data(indexed_folders(reader, path), path, model))
            for _ in progress(_merge(writer, path, segments, size)):
                pass
            # This makes the only commit.
            writer.close()
            with closing(open_last_commit(writer.getDirectory(), path)) as commit:
                after = _state(commit, path)
    seconds = round(time.monotonic() - began, 3)
    return Optimized(segments, after[0], size, after[1], deleted, seconds)


def _state(reader: Any, path: Path) -> tuple[int, int]:
    """Return the number of segments of a commit, and its size in bytes."""
    commit = DirectoryReader.cast_(reader).getIndexCommit()
    return commit.getSegmentCount(), size_bytes(path / str(name) for name in commit.getFileNames())


def _merge(writer: Any, path: Path, segments: int, size: int) -> Iterator[Step]:
    policy = LogByteSizeMergePolicy()
    # In one merge, and in the order in which the chunks were added.
    policy.setMergeFactor(max(segments, 2))
    writer.getConfig().setMergePolicy(policy)
    # Lucene's threads print their exceptions, which the writer throws again.
    System.setErr(PrintStream(OutputStream.nullOutputStream()))
    activity = f"Merging {quantity(segments, 'segment')}"
    yield from segments_written(writer, path, activity, size, lambda: writer.forceMerge(1))


@dataclass(frozen=True, slots=True)
class Purged:
    """Result of a purge: what was in the index."""

    deleted_documents: int
    deleted_chunks: int


def purge(path: Path | str, *, wait: float = DEFAULT_WAIT) -> Purged:
    """Remove everything from an index: documents, folders, failures, and pages read by OCR.

    One commit makes it like an index newly created by `shared.create`.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: another writer held the lock for the whole time.
        IndexWriteError: the file system refused to write; nothing was removed.
        IndexFolderError: the index cannot be used; the class says why.
    """
    path = index_folder.absolute(path)
    with exclusive_writer(path, wait) as (writer, reader):
        documents, chunks = counts(reader)
        writer.deleteAll()
        writer.setLiveCommitData(commit_data(IndexedFolders(), path, sentence_model(reader, path)))
        # It writes everything that needs space, and can still be rolled back if the list of
        # failures cannot be deleted.
        writer.prepareCommit()
        delete_failures(path)
        ReadingCache(path).clear()
        writer.commit()
    return Purged(documents, chunks)


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
    with opened(path, "command") as directory, locked(directory, path, None):
        try:
            delete(file)
        except OSError as error:
            raise IndexPathError(path, reason_of(error)) from error
    return True
