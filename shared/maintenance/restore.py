"""Restore: replacement of an index by a backup."""

import shutil
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from org.apache.lucene.index import (
    DirectoryReader,
    IndexWriter,
    IndexWriterConfig,
    NoMergePolicy,
    SegmentCommitInfo,
    SegmentInfos,
)

from shared import errors
from shared.files import index_folder
from shared.files.access import holds
from shared.files.index_folder import size_bytes
from shared.files.lucene_files import damage_or_absence, has_segments, is_lucene_file
from shared.java import vm
from shared.maintenance.upkeep import Progress, Step, segments_written
from shared.messages import reason_of
from shared.model import failures, schema
from shared.model.failures import Failure
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage import lucene_errors
from shared.storage.commits import commit_files, open_last_commit, rebuilt_schema
from shared.storage.integrity import open_directory, open_links
from shared.storage.stored_chunks import counts
from shared.system import link, replace
from shared.writing.writer import locked, only_writer


def checked_backup(source: Path, links: Path) -> Iterator[Step]:
    """Compare the files of a backup with their checksums, and link them into another folder."""
    try:
        with lucene_errors.reading(source), closing(open_directory(source)) as directory:
            names = commit_files(directory)
    except errors.IndexDamagedError as error:
        raise _damaged(source, error.reason) from error
    total, done = size_bytes(source / name for name in names), 0
    for name in names:
        yield Step("Checking the backup", done, total)
        done += size_bytes([source / name])
        if damage := damage_or_absence(source / name):
            raise _damaged(source, f"file {name}: {damage}")
        link(links / name, source / name)


def _damaged(source: Path, reason: str) -> errors.BackupError:
    return errors.BackupError(
        f"the backup {source} is damaged: {reason}; nothing was changed: use another backup"
    )


_ELSEWHERE: Final = "restore the backup to another folder with --index-path"

_ASIDE: Final = ".replaced-"
"""Start of the name of the folder, inside the index folder, to which an index without a readable
commit is moved until the backup is in place."""


@dataclass(frozen=True, slots=True)
class Restored:
    """Result of a restore: the index folder, the backup, and what is in the index now."""

    path: str
    source: str
    documents: int
    chunks: int


def restore(
    path: Path | str, source: Path | str, *, wait: float = DEFAULT_WAIT, progress: Progress = iter
) -> Restored:
    """Replace an index by a backup, or create it from one, with one commit.

    The backup is checked first. Until the commit every reader sees the old index, then the new one,
    and a run that ends before the commit leaves the old one unchanged.

    Args:
        path: the index folder.
        source: the folder of the backup, or any folder with an index of this program.
        wait: seconds to wait for a writer of the index to end.
        progress: a function that passes on the steps of the restore.

    Raises:
        BackupError: there is no backup, or it is damaged, or it lies in the index folder or holds
            it, or another program wrote the index; nothing was done.
        LuceneError: not all of it was copied; the index is as it was.
        IndexLockedError: a writer held the index all the time.
        IndexWriteError: the file system refused to write.
        IndexFolderError: the index folder, or the backup, cannot be used; the class says why.
    """
    path, source = index_folder.absolute(path), index_folder.absolute(source)
    if not any(source.glob("segments_*")):
        raise errors.BackupError(f"there is no backup at {source}", "make one with idx backup")
    if path.exists() and source.samefile(path):
        raise errors.BackupError(f"{source} is the index itself, not a backup of it")
    if holds(path, source):
        raise errors.BackupError(
            f"the backup {source} lies in the index folder {path}, which is rewritten; move it out "
            "of there first"
        )
    if holds(source, path):
        raise errors.BackupError(f"the index {path} would lie in the backup {source}", _ELSEWHERE)
    known = failures.load_failures(source)
    # Lucene locks the source of a copy, but a backup may be on a read-only medium.
    with (
        vm.attached("batch"),
        tempfile.TemporaryDirectory(prefix="mcp-lucene-") as links,
        lucene_errors.reading(source),
        closing(open_links(Path(links))) as backup,
    ):
        for _ in progress(checked_backup(source, Path(links))):
            pass
        with closing(open_last_commit(backup, source, rebuilt_schema)) as reader:
            documents, chunks = counts(reader)
        with lucene_errors.writing(path):
            # Damage of other files than the commit is what a backup is for.
            with suppress(errors.IndexDamagedError):
                index_folder.prepare(path, parents=True)
            with (
                closing(open_directory(path)) as directory,
                # An interruption between two steps must end them here, not later.
                closing(_steps(directory, path, backup, wait, known)) as steps,
            ):
                for _ in progress(steps):
                    pass
    return Restored(str(path), str(source), documents, chunks)


def _steps(
    directory: Any, path: Path, backup: Any, wait: float, known: Mapping[str, Failure]
) -> Generator[Step, None, None]:
    """Copy the segments of a backup next to the existing ones, and commit only the copies."""
    with ExitStack() as undo:
        with locked(directory, path, wait):
            if not _is_readable(directory, path):
                _set_aside(path, undo)
        with only_writer(directory, path, wait, IndexWriterConfig.OpenMode.CREATE) as writer:
            yield from copy_segments(writer, path, backup, "Restoring")
            # It writes everything that needs space, and can still be rolled back if the failures
            # cannot be saved.
            writer.prepareCommit()
            if known:
                failures.save_failures(path, known)
            else:
                failures.delete_failures(path)
            writer.commit()
            writer.close()
        undo.pop_all()
    for aside in path.glob(f"{_ASIDE}*"):
        shutil.rmtree(aside, ignore_errors=True)


def _set_aside(path: Path, undo: ExitStack) -> None:
    """Move an index without a readable commit into a folder within its own.

    Lucene's writer continues from the last commit. If it cannot read any, it would first delete
    everything that is there.
    """
    try:
        aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=path))
        undo.callback(shutil.rmtree, aside, ignore_errors=True)
        for file in [*path.iterdir()]:
            if is_lucene_file(file.name) and file.name != IndexWriter.WRITE_LOCK_NAME:
                replace(file, aside / file.name)
                undo.callback(replace, aside / file.name, file)
    except OSError as error:
        raise errors.IndexWriteError(path, reason_of(error)) from error


def _is_readable(directory: Any, path: Path) -> bool:
    """Check whether Lucene's writer can continue from the existing commits, or there are none."""
    if not any(path.glob("segments_*")):
        return not has_segments(path)
    try:
        with lucene_errors.reading(path):
            data = SegmentInfos.readLatestCommit(directory).getUserData()
            # The writer also reads older commits.
            DirectoryReader.listCommits(directory)
    except errors.IndexDamagedError:
        return False
    if not data.containsKey(schema.COMMIT_SCHEMA):
        problem = f"the index at {path} was written by another program, and was not touched"
        raise errors.BackupError(problem, _ELSEWHERE)
    return True


def copy_segments(writer: Any, path: Path, source: Any, activity: str) -> Iterator[Step]:
    """Copy the segments of an index unchanged, with the user data of its commit."""
    # Merges would not help now.
    writer.getConfig().setMergePolicy(NoMergePolicy.INSTANCE)
    folder = Path(str(source.getDirectory()))
    size = size_bytes(folder / name for name in commit_files(source))
    yield from segments_written(writer, path, activity, size, lambda: writer.addIndexes([source]))
    commit = SegmentInfos.readLatestCommit(source)
    infos = [SegmentCommitInfo.cast_(info) for info in commit.asList()]
    expected = sum(info.info.maxDoc() - info.getDelCount() for info in infos)
    found = writer.getDocStats().numDocs
    if found != expected:
        raise errors.LuceneError(
            f"of {expected:,} chunks Lucene copied {found:,} to {path}; the index is unchanged: "
            "please report this"
        )
    writer.setLiveCommitData(commit.getUserData().entrySet())
