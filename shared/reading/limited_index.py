"""A part of an index, read as if it were the whole.

Each commit is opened a second time, by a writer in a folder of its own that holds nothing but links
to the files, and there all chunks outside of the part are deleted. The deletions stay in memory,
and the index is not changed. Whatever reads the part cannot see the other chunks, since Lucene
shows nobody a deleted chunk. Their terms still stand in the dictionary, as those of any deleted
chunk do until its segment is merged; see `shared.query.lucene.LiveTerms`.
"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import lucene
from java.util import HashMap
from java.util.concurrent import ForkJoinPool
from org.apache.lucene.index import (
    DirectoryReader,
    IndexWriter,
    IndexWriterConfig,
    NoMergePolicy,
    SegmentInfos,
)
from org.apache.lucene.search import IndexSearcher

from shared.errors import IndexPathError
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.messages import reason_of
from shared.model import schema
from shared.model.filters import Limits
from shared.model.folders import FILE_FIELD, IndexedFolder, IndexedFolders, file_term
from shared.query.filters import beginning_with, within
from shared.query.lucene import Compiler, terms_of
from shared.query.tree import Clause, Clauses, Node, all_of
from shared.reading.open_index import OpenIndex
from shared.storage.commits import indexed_folders
from shared.storage.integrity import open_links
from shared.system import link

_MOST_ATTEMPTS: Final = 3
"""Number of attempts to link the files of the newest commit: a writer may replace them."""

_PREFIX: Final = "mcp-lucene-"
"""Beginning of the names of folders with links."""

_CONDITIONS: Final = Compiler(scores=False)


class LimitedIndex:
    """Lender of Lucene searchers that show only a part of an index; see `OpenIndex`."""

    def __init__(self, whole: OpenIndex, limits: Limits) -> None:
        self.path = whole.path
        self._whole = whole
        self._limits = limits
        self._lock = threading.RLock()
        self._shown: tuple[Any, Any] | None = None
        self._folders: list[TemporaryDirectory[str]] = []

    def commit(self) -> str | None:
        """Return an identity of the part of the newest commit; None if unknown."""
        commit = self._whole.commit()
        return f"{commit}-{self._limits.name}" if commit else None

    def close(self) -> None:
        """Close the part of the last commit; a later call opens it again."""
        with self._lock:
            shown, self._shown = self._shown, None
        if shown is not None:
            with vm.attached():
                shown[1].decRef()
        self.delete_links()

    @contextmanager
    def newest(self, cancellation: Cancellation | None = None) -> Iterator[Any]:
        """Lend a Lucene searcher on the part of the newest commit; see `OpenIndex.newest`."""
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            with self._whole.newest() as everything:
                try:
                    reader = self._reader(everything.getIndexReader())
                except lucene.JavaError:
                    # A writer may have deleted files of a commit that is not the newest any more.
                    if attempt == _MOST_ATTEMPTS:
                        raise
                    continue
                try:
                    searcher = IndexSearcher(reader, ForkJoinPool.commonPool())
                    searcher.setSimilarity(everything.getSimilarity())
                    with cancellation.stops(searcher) if cancellation else nullcontext():
                        yield searcher
                finally:
                    reader.decRef()
                return

    def _reader(self, whole: Any) -> Any:
        """Return a reader of the part of a commit, which the caller releases by `decRef`."""
        with self._lock:
            if self._shown is None or not self._shown[0].equals(whole):
                # Those of the last commit, which Windows does not delete while they are in use.
                self.delete_links()
                try:
                    self._folders.append(
                        TemporaryDirectory(ignore_cleanup_errors=True, prefix=_PREFIX)
                    )
                    folder = Path(self._folders[-1].name)
                    new = _limited(whole, self.path, self._limits, folder)
                except OSError as error:
                    raise IndexPathError(
                        self.path,
                        f"a part of it cannot be opened: {reason_of(error)}",
                        "this takes a folder for temporary files that can be written; see TMPDIR",
                    ) from error
                finally:
                    self.delete_links()
                if self._shown is not None:
                    self._shown[1].decRef()
                self._shown = (whole, new)
            reader = self._shown[1]
            reader.incRef()
            return reader

    def delete_links(self) -> bool:
        """Delete the folders with links, and return whether none is left.

        Windows keeps a link while any program, or another part of the index, has the file open.
        """
        with self._lock:
            for folder in self._folders:
                folder.cleanup()
            self._folders = [folder for folder in self._folders if Path(folder.name).exists()]
            return not self._folders


def _limited(whole: Any, path: Path, limits: Limits, folder: Path) -> Any:
    """Open a reader that shows the part of a commit, given by its reader, within some limits.

    The folder gets links to its files, which are needed only to open them.
    """
    commit = DirectoryReader.cast_(whole).getIndexCommit()
    folders = indexed_folders(whole, path)
    part = within(limits, terms_of(whole), folders)
    others = _CONDITIONS.query(Clauses((Clause(part, "must_not"),)))
    for name in map(str, commit.getFileNames()):
        link(folder / name, path / name)
    with closing(open_links(folder)) as directory:
        shown = _with_file_in(folders, IndexSearcher(whole), part)
        _mark(directory, str(commit.getSegmentsFileName()), shown.dump(path))
        configuration = (
            IndexWriterConfig()
            .setOpenMode(IndexWriterConfig.OpenMode.APPEND)
            .setMergePolicy(NoMergePolicy.INSTANCE)
            .setCommitOnClose(False)
        )
        writer = IndexWriter(directory, configuration)
        try:
            writer.deleteDocuments([others])
            return DirectoryReader.open(writer)
        finally:
            # Readers stay open; whatever the writer would have written is gone.
            writer.rollback()


def _mark(directory: Any, name: str, folders: str) -> None:
    """Commit the same files once more, with user data for the part only."""
    infos = SegmentInfos.readCommit(directory, name)
    data = HashMap(infos.getUserData())
    data.put(schema.COMMIT_FOLDERS, folders)
    data.put(schema.COMMIT_LIMITED, "")
    infos.setUserData(data, False)
    infos.commit(directory)


def _with_file_in(folders: IndexedFolders, searcher: Any, part: Node) -> IndexedFolders:
    """Return the folders that have a file among some chunks."""

    def has_file(folder: IndexedFolder) -> bool:
        files = beginning_with(FILE_FIELD, file_term(folder.prefix, ""))
        return bool(searcher.count(_CONDITIONS.query(all_of(part, files))))

    return IndexedFolders(tuple(filter(has_file, folders)))
