"""An index folder that is open for reading, and always at its newest commit."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

import lucene
from java.util.concurrent import ForkJoinPool
from org.apache.lucene.index import DirectoryReader
from org.apache.lucene.search import IndexSearcher, SearcherFactory, SearcherManager
from org.apache.lucene.search.similarities import BM25Similarity

from shared.errors import IndexDamagedError
from shared.files import index_folder
from shared.files.lucene_files import commit_id
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.storage import lucene_errors
from shared.storage.commits import check_schema, commit_files
from shared.storage.directory import check_files, open_directory
from shared.storage.integrity import verify

_SETTLED_NANOSECONDS: Final = 3 * 10**9
"""How long ago a folder must have changed for its time to tell it from the next change."""

_ATTEMPTS: Final = 3
"""How often an index is opened before an error counts: the folder may be exchanged meanwhile."""


class OpenIndex:
    """Lends Lucene's searchers to any number of threads at once.

    Opening touches nothing: the index may be created, replaced or deleted at any time.

    Args:
        path: the index folder.
        program: what the virtual machine is started for if it does not run yet.
        weights: those that Lucene's similarity needs.

    Attributes:
        path: the index folder.
        refreshes: how often the index was opened, or opened again for a newer commit.
    """

    def __init__(
        self, path: Path | str, program: vm.Program, weights: Weights = DEFAULT_WEIGHTS
    ) -> None:
        self.path = index_folder.absolute(path)
        self.refreshes = 0
        self._program = program
        self._weights = weights
        self._lock = threading.Lock()
        self._manager: Any = None
        self._directory: Any = None
        self._folder: tuple[int, int] | None = None
        self._commit: tuple[str, bytes | None] | None = None
        self._state: tuple[int, ...] | None = None
        self._files: list[str] = []
        self._is_verified = False

    def close(self) -> None:
        """Let go of the index's files; a later call opens them again."""
        if self._manager is not None:
            with vm.attached(self._program), self._lock:
                self._close_manager()

    @contextmanager
    def newest(self, cancellation: Cancellation | None = None) -> Iterator[Any]:
        """Lend a Lucene searcher on the newest commit.

        Args:
            cancellation: what may stop the work of the block.

        Raises:
            IndexFolderError: there is no index that can be read; the class says why.
            SearchStoppedError: the work was stopped.
        """
        with vm.attached(self._program), lucene_errors.reading(self.path):
            with self._lock:
                manager, searcher = self._verified()
            try:
                check_schema(searcher.getIndexReader(), self.path)
                with cancellation.stops(searcher) if cancellation else nullcontext():
                    yield searcher
            finally:
                # Works after another thread has closed the manager, too.
                manager.release(searcher)

    def _verified(self) -> tuple[Any, Any]:
        """A searcher on the newest commit, the files of which are whole; and its manager."""
        tried = None
        while True:
            manager, searcher = self._acquire()
            try:
                missing = verify(self.path, self._files)
                is_here = index_folder.identify(self.path) == self._folder
            except BaseException:
                manager.release(searcher)
                # Not even what was read before may be read any more: a file that was cut short is.
                self._close_manager()
                raise
            # An open file stays whole when its name is taken away, as writers do at each commit.
            if is_here and (self._is_verified or not missing):
                self._is_verified = True
                return manager, searcher
            manager.release(searcher)
            self._state = None
            # Otherwise the files were those of another folder, which took the path meanwhile.
            if is_here:
                # Writers delete files only after a newer commit, so the same one again is damaged.
                # While there are newer ones it is tried again, as Lucene does that opens an index
                # (``SegmentInfos.FindSegmentsFile``).
                if self._commit == tried:
                    raise IndexDamagedError(self.path, f"file {missing[0]}: it is missing")
                tried = self._commit

    def _acquire(self) -> tuple[Any, Any]:
        """A searcher on the newest commit, and the manager to give it back to."""
        folder = index_folder.identify(self.path)
        if self._manager is not None and folder == self._folder:
            state = self._state_of_files()
            if state is not None and state == self._state:
                return self._manager, self._lent_by(self._manager)
            self._state = None
            check_files(self.path)
            self._state = state
            try:
                self._manager.maybeRefreshBlocking()
            except lucene.JavaError:
                # Another index may stand in the same folder now: only a fresh start can tell.
                pass
            else:
                searcher = self._lent_by(self._manager)
                if self._is_of_this_index(searcher):
                    return self._manager, searcher
                self._manager.release(searcher)
        for _ in range(_ATTEMPTS - 1):
            with suppress(lucene.JavaError):
                return self._open()
        try:
            return self._open()
        except lucene.JavaError:
            # Lucene takes some damage for an index of another version, and seldom names the file.
            verify(self.path, self._files_of_last_commit())
            raise

    def _state_of_files(self) -> tuple[int, ...] | None:
        """What changes with each commit, and with a commit that is put in the place of another.

        None if it may not tell: after a change so recent that the next one may have the same
        time, for file systems keep time in steps of up to two seconds.
        """
        if self._commit is None:
            return None
        try:
            folder, commit = self.path.stat(), (self.path / self._commit[0]).stat()
        except OSError:
            return None
        if time.time_ns() - max(folder.st_mtime_ns, commit.st_mtime_ns) < _SETTLED_NANOSECONDS:
            return None
        return folder.st_mtime_ns, commit.st_mtime_ns, commit.st_size, commit.st_ino

    def _files_of_last_commit(self) -> list[str]:
        """Those that can be told without opening the index."""
        with closing(open_directory(self.path)) as directory:
            try:
                return commit_files(directory)
            except lucene.JavaError:
                # The file of the commit cannot be read, or one of those that describe segments.
                return [
                    file.name
                    for pattern in ("segments_*", "_*.si")
                    for file in self.path.glob(pattern)
                ]

    def _open(self) -> tuple[Any, Any]:
        self._close_manager()
        folder = index_folder.identify(self.path)
        directory = open_directory(self.path)
        try:
            manager = SearcherManager(directory, SearcherFactory())
        except lucene.JavaError:
            directory.close()
            raise
        self._manager, self._directory, self._folder = manager, directory, folder
        self._commit = None
        self._state = None
        searcher = self._lent_by(manager)
        self._is_of_this_index(searcher)
        return manager, searcher

    def _is_of_this_index(self, searcher: Any) -> bool:
        """Whether a searcher shows the index that lies in the folder.

        Lucene compares commits by name and version only, which an index that was put in the place
        of another can share with it; the commits' ids tell them apart.
        """
        shown = DirectoryReader.cast_(searcher.getIndexReader()).getIndexCommit()
        name = str(shown.getSegmentsFileName())
        commit = (name, commit_id(self.path / name))
        known, self._commit = self._commit, commit
        if known != commit:
            self.refreshes += 1
            self._files = [str(file) for file in shown.getFileNames()]
            self._is_verified = False
        return known is None or known[0] != name or None in (known[1], commit[1]) or known == commit

    def _close_manager(self) -> None:
        if self._manager is not None:
            self._manager.close()
            self._directory.close()
            self._manager = None

    def _lent_by(self, manager: Any) -> Any:
        """A searcher to be given back to a manager; it looks at large segments side by side.

        The threads of Java's common pool are started when they are needed, and end with the
        process.
        """
        reader = IndexSearcher.cast_(manager.acquire()).getIndexReader()
        searcher = IndexSearcher(reader, ForkJoinPool.commonPool())
        searcher.setSimilarity(BM25Similarity(self._weights.k1, self._weights.b))
        return searcher
