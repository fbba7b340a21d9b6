"""Repair: recovery of the intact parts of a damaged index."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from org.apache.lucene.index import IndexWriterConfig, SegmentCommitInfo, SegmentInfos, Term
from org.apache.lucene.search import IndexSearcher

from shared.errors import BackupError
from shared.files import index_folder
from shared.maintenance import check
from shared.maintenance.restore import copy_segments
from shared.maintenance.upkeep import Progress, Step
from shared.messages import reason_of
from shared.model import schema
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.commits import open_last_commit, rebuilt_schema
from shared.storage.integrity import open_links
from shared.system import link
from shared.writing.writer import locked, only_writer, opened


@dataclass(slots=True)
class Repaired:
    """Result of a repair.

    Attributes:
        documents: the number of documents in the index.
        chunks: the number of their chunks.
        lost_segments: the segments that could not be read and were lost.
        removed_documents: the documents that were incomplete or inconsistent, and were removed with
            their chunks.
        removed_chunks: the number of chunks without the id of a document, which were removed, too.
        kept_at: the folder with the index before the repair; None if it was sound and is unchanged.
    """

    documents: int = 0
    chunks: int = 0
    lost_segments: list[check.SegmentState] = field(default_factory=list)
    removed_documents: list[check.CheckedDocument] = field(default_factory=list)
    removed_chunks: int = 0
    kept_at: str | None = None


def repair(path: Path | str, *, wait: float = DEFAULT_WAIT, progress: Progress = iter) -> Repaired:
    """Save the intact parts of an index, with one commit.

    Sound segments are kept, incomplete documents are removed, and the old index is kept in a folder
    next to it. A sound index is left unchanged.

    Args:
        path: the index folder.
        wait: seconds to wait for a writer to end.
        progress: a function that passes on the steps of the repair.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: a writer held the lock for the whole time.
        IndexDamagedError: the commit cannot be read, so nothing can be saved.
        IndexSchemaError: another program wrote it.
        IndexWriteError: the file system refused to write; the index is unchanged.
        BackupError: the old index cannot be kept; nothing was done.
        LuceneError: not all intact parts were copied; the index is unchanged.
    """
    path = index_folder.absolute(path)
    repaired = Repaired()
    with (
        opened(path) as directory,
        # Links to the saved files, and a commit with only these.
        tempfile.TemporaryDirectory(prefix="mcp-lucene-") as links,
        closing(open_links(Path(links))) as saved,
    ):
        SegmentInfos.readLatestCommit(directory)
        # Nothing is committed if there is nothing to repair.
        with only_writer(directory, path, wait, IndexWriterConfig.OpenMode.CREATE) as writer:
            for _ in progress(_steps(directory, path, saved, Path(links), writer, repaired)):
                pass
    return repaired


def _steps(
    directory: Any, path: Path, saved: Any, links: Path, writer: Any, repaired: Repaired
) -> Iterator[Step]:
    commit = SegmentInfos.readLatestCommit(directory)
    checked = check.Checked()
    # The writer has the lock of the index, so Lucene's check gets a different one.
    with locked(saved, links, 0) as lock:
        yield from check.check_segments(directory, path, commit, lock, checked)
    repaired.lost_segments += [segment for segment in checked.segments if not segment.sound]
    _save(commit, {segment.name for segment in repaired.lost_segments}, path, saved, links)
    with closing(open_last_commit(saved, path, rebuilt_schema)) as reader:
        yield from _examine_documents(reader, repaired)
    if not (repaired.lost_segments or repaired.removed_documents or repaired.removed_chunks):
        return
    repaired.kept_at = str(_keep(path))
    yield from copy_segments(writer, path, saved, "Saving segments")
    for document in repaired.removed_documents:
        writer.deleteDocuments([Term(schema.SOURCE_DOCUMENT, document.term)])
    writer.deleteDocuments([check.without_document()])
    # This makes the only commit.
    writer.close()


def _save(commit: Any, lost: set[str], path: Path, saved: Any, links: Path) -> None:
    """Commit the segments that are not lost in a folder of links to their files."""
    for info in [SegmentCommitInfo.cast_(info) for info in commit.asList()]:
        if str(info.info.name) in lost:
            commit.remove(info)
    for name in commit.files(False):
        link(links / str(name), path / str(name))
    commit.changed()
    commit.commit(saved)


def _examine_documents(reader: Any, repaired: Repaired) -> Iterator[Step]:
    total, done = int(reader.numDocs()), 0
    for document in check.checked_documents(reader):
        done += document.chunks
        if document.problems:
            repaired.removed_documents.append(document)
        else:
            repaired.documents += 1
            repaired.chunks += document.chunks
        yield Step("Checking documents", done, total)
    repaired.removed_chunks = int(IndexSearcher(reader).count(check.without_document()))


def _keep(path: Path) -> Path:
    """Keep the present index in a folder next to it, with hard links to the same files."""
    # A folder next to a mounted disk is on another one, which a container loses when it ends.
    parent, prefix = (path, "") if os.path.ismount(path) else (path.parent, path.name)
    name = f"{prefix}.damaged-{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}"
    names = (f"{name}{f'-{number}' if number else ''}" for number in count())
    # A clock that was set back shows the same time twice.
    kept = next(folder for folder in map(parent.joinpath, names) if not folder.exists())
    try:
        kept.mkdir(mode=0o700)
        for file in path.iterdir():
            if not file.is_file() or file.name == "write.lock":
                continue
            try:
                # Lucene never changes a file after writing it, so a hard link serves as a copy.
                os.link(file, kept / file.name)
            except OSError:
                shutil.copy2(file, kept / file.name)
    except OSError as error:
        shutil.rmtree(kept, ignore_errors=True)
        raise BackupError(
            f"the damaged index cannot be kept at {kept}: {reason_of(error)}; nothing was changed: "
            "free some space, or move the index to a writable folder"
        ) from error
    return kept
