"""An index put back as a backup has it."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lucene
from java.nio.file import Paths
from org.apache.lucene.index import (
    DirectoryReader,
    IndexWriterConfig,
    NoMergePolicy,
    SegmentInfos,
)
from org.apache.lucene.search import IndexSearcher
from org.apache.lucene.store import FSDirectory

from shared import failures, index_folder, java_errors, jvm
from shared.background import in_background
from shared.checksums import damage_of
from shared.commit import commit_files, rebuilt_schema
from shared.errors import BackupError, IndexDamagedError
from shared.index_writer import clean, locked, open_writer
from shared.progress import Progress, Step
from shared.settings import DEFAULT_WAIT
from shared.statistics import document_count, size_bytes


@dataclass(frozen=True, slots=True)
class Restored:
    """What is in an index now.

    Attributes:
        path: its folder.
        source: the backup.
        documents: documents in it.
        chunks: chunks in it.
    """

    path: str
    source: str
    documents: int
    chunks: int


def restore(
    path: Path | str,
    source: Path | str,
    *,
    wait: float = DEFAULT_WAIT,
    progress: Progress = iter,
) -> Restored:
    """Put a backup in the place of an index, or where none is, by one commit.

    The backup is checked first. Until the commit every reader sees the old index, after it the
    new one, and whatever ends the run before leaves the old one.

    Args:
        path: the index folder.
        source: the folder of the backup; any folder with an index of this program will do.
        wait: seconds to wait for a writer of the index to end.
        progress: what passes on how far it is.

    Raises:
        BackupError: there is no backup, or it is damaged; nothing was done.
        IndexLockedError: a writer held the index all the time.
        IndexWriteError: the file system refused to write.
        IndexFolderError: the index folder, or the backup, cannot be used; the class says why.
    """
    path, source = index_folder.absolute(path), index_folder.absolute(source)
    if not any(source.glob("segments_*")):
        raise BackupError(f"there is no backup at {source}; idx backup makes one")
    if path.exists() and source.samefile(path):
        raise BackupError(f"{source} is the index itself, not a backup of it")
    # Lucene locks what it copies from, but a backup may be on a medium that is read only.
    with (
        jvm.attached("batch"),
        tempfile.TemporaryDirectory(prefix="mcp-lucene-") as links,
        java_errors.reading(source),
        closing(FSDirectory.open(Paths.get(links))) as backup,
    ):
        for _ in progress(_checked(source, Path(links))):
            pass
        with closing(DirectoryReader.open(backup)) as reader:
            rebuilt_schema(reader, source)
            documents = document_count(IndexSearcher(reader))
            chunks = int(reader.numDocs())
        with java_errors.writing(path):
            _prepare(path, wait)
            with closing(FSDirectory.open(Paths.get(str(path)))) as directory:
                for _ in progress(_replaced(directory, path, backup, chunks, wait)):
                    pass
    if known := failures.load_failures(source):
        failures.save_failures(path, known)
    else:
        failures.delete_failures(path)
    return Restored(str(path), str(source), documents, chunks)


def _checked(source: Path, links: Path) -> Iterator[Step]:
    """Compare the files of a backup with their checksums, and link them into another folder."""
    with closing(FSDirectory.open(Paths.get(str(source)))) as directory:
        names = commit_files(directory)
    total, done = size_bytes(source / name for name in names), 0
    for name in names:
        yield Step("Checking the backup", done, total)
        try:
            damage = damage_of(source / name)
            done += (source / name).stat().st_size
        except OSError as error:
            damage = error.strerror or str(error)
        if damage:
            raise BackupError(
                f"the backup {source} is damaged: file {name}: {damage}; nothing was done: take "
                "another backup"
            )
        (links / name).symlink_to(source / name)


def _prepare(path: Path, wait: float) -> None:
    """Make a folder fit for Lucene's writer, whatever is left of an index in it.

    A commit that cannot be read would be in the way: the writer wants to know its number.
    """
    try:
        index_folder.prepare(path)
    except IndexDamagedError:
        return
    with closing(FSDirectory.open(Paths.get(str(path)))) as directory:
        if not DirectoryReader.indexExists(directory):
            return
        with locked(directory, path, wait):
            try:
                SegmentInfos.readLatestCommit(directory)
            except lucene.JavaError:
                for commit in path.glob("segments_*"):
                    commit.unlink()


def _replaced(directory: Any, path: Path, backup: Any, chunks: int, wait: float) -> Iterator[Step]:
    """Copy the segments of a backup beside those that are there, and commit them alone."""
    writer = open_writer(directory, path, wait, IndexWriterConfig.OpenMode.CREATE)
    try:
        yield from copy_segments(writer, path, backup, "Restoring")
        _check_complete(int(writer.getDocStats().numDocs), chunks)
        writer.close()
    except BaseException:
        writer.rollback()
        clean(directory, path)
        raise


def copy_segments(writer: Any, path: Path, source: Any, activity: str) -> Iterator[Step]:
    """Copy the segments of an index as they are, and what its commit says of itself.

    Args:
        writer: Lucene's writer of the index that they are added to.
        path: the folder of that one.
        source: Lucene's view of the folder that they are copied from.
        activity: what is done, for people.
    """
    # Nothing is gained from merges now.
    writer.getConfig().setMergePolicy(NoMergePolicy.INSTANCE)
    old = {file.name for file in path.iterdir()}
    folder = Path(str(source.getDirectory()))
    size = size_bytes(folder / name for name in commit_files(source))
    for _ in in_background(lambda: writer.addIndexes([source]), writer.rollback):
        new = (file for file in path.glob("_*") if file.name not in old)
        yield Step(activity, size_bytes(new), size)
    writer.setLiveCommitData(SegmentInfos.readLatestCommit(source).getUserData().entrySet())


def _check_complete(found: int, expected: int) -> None:
    if found != expected:
        raise BackupError(
            f"of {expected:,} chunks of the backup {found:,} were copied; nothing was done: please "
            "report this"
        )
