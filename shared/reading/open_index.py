"""An index folder that is open for reading, always at its newest commit."""

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
from shared.storage.integrity import check_files, open_directory, verify

_MIN_SETTLED_NANOSECONDS: Final = 3 * 10**9
"""Age in nanoseconds from which a folder's modification time distinguishes it from the next
change."""

_MAX_INDEX_OPEN_ATTEMPTS: Final = 3
"""Number of attempts to open an index: its folder may be replaced meanwhile."""


class OpenIndex:
    """Lender of Lucene searchers to any number of threads at once.

    Creating the object does not touch the folder: the index may be created, replaced or deleted at
    any time. `refreshes` is the number of times it was opened, or reopened for a newer commit; the
    weights have the parameters of Lucene's similarity.
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
        """Close the files of the index; a later call opens them again."""
        if self._manager is not None:
            with vm.attached(self._program), self._lock:
                self._close_manager()

    @contextmanager
    def newest(self, cancellation: Cancellation | None = None) -> Iterator[Any]:
        """Lend a Lucene searcher on the newest commit; the work of the block can be cancelled."""
        with vm.attached(self._program), lucene_errors.reading(self.path):
            with self._lock:
                manager, searcher = self._verified()
            try:
                check_schema(searcher.getIndexReader(), self.path)
                with cancellation.stops(searcher) if cancellation else nullcontext():
                    yield searcher
            finally:
                # This works even after another thread has closed the manager.
                manager.release(searcher)

    def commit(self) -> str | None:
        """Return an identity of the newest commit, which no other commit has; None if unknown."""
        with vm.attached(self._program), lucene_errors.reading(self.path), self._lock:
            manager, searcher = self._verified()
            manager.release(searcher)
            name, identity = self._commit or ("", None)
        return f"{name}-{identity.hex()}" if identity else None

    def _verified(self) -> tuple[Any, Any]:
        """Return a searcher on the newest commit whose files are intact, and its manager."""
        tried: list[Any] = []
        while True:
            manager, searcher = self._acquire()
            try:
                missing = verify(self.path, self._files)
                is_here = index_folder.identify(self.path) == self._folder
            except BaseException:
                manager.release(searcher)
                # Files that were read before must not be read any more either: one may have been
                # cut short.
                self._close_manager()
                raise
            # An open file stays intact when its name is deleted, as writers do at each commit.
            if is_here and (self._is_verified or not missing):
                self._is_verified = True
                return manager, searcher
            manager.release(searcher)
            self._state = None
            # Otherwise the files belonged to another folder, which has taken the path meanwhile.
            if is_here:
                # Writers delete files only after a newer commit, so if the commit is the same it is
                # damaged. Newer ones are tried again, as Lucene does when it opens an index
                # (``SegmentInfos.FindSegmentsFile``). Another folder may also have had the path
                # only while the files were looked for.
                tried = [*(one for one in tried if one == self._commit), self._commit]
                if len(tried) > _MAX_INDEX_OPEN_ATTEMPTS:
                    raise IndexDamagedError(self.path, f"file {missing[0]}: it is missing")

    def _acquire(self) -> tuple[Any, Any]:
        """Return a searcher on the newest commit, and the manager to release it to."""
        folder = index_folder.identify(self.path)
        if self._manager is not None and folder == self._folder:
            state = self._file_state()
            if state is not None and state == self._state:
                return self._manager, self._acquire_from(self._manager)
            self._state = None
            check_files(self.path)
            self._state = state
            try:
                self._manager.maybeRefreshBlocking()
            except lucene.JavaError:
                # Another index may be in the same folder now, so the index is opened again.
                pass
            else:
                searcher = self._acquire_from(self._manager)
                if self._is_of_this_index(searcher):
                    return self._manager, searcher
                self._manager.release(searcher)
        for _ in range(_MAX_INDEX_OPEN_ATTEMPTS - 1):
            with suppress(lucene.JavaError):
                return self._open()
        try:
            return self._open()
        except lucene.JavaError:
            # Lucene mistakes some damage for another version, and seldom names the file.
            verify(self.path, self._files_of_last_commit())
            raise

    def _file_state(self) -> tuple[int, ...] | None:
        """Return a state that changes with each commit, even one that replaces another index.

        None if it is not conclusive: shortly after a change the next one may have the same time,
        since file systems record times in steps of up to two seconds.
        """
        if self._commit is None:
            return None
        try:
            folder, commit = self.path.stat(), (self.path / self._commit[0]).stat()
        except OSError:
            return None
        if time.time_ns() - max(folder.st_mtime_ns, commit.st_mtime_ns) < _MIN_SETTLED_NANOSECONDS:
            return None
        return folder.st_mtime_ns, commit.st_mtime_ns, commit.st_size, commit.st_ino

    def _files_of_last_commit(self) -> list[str]:
        """Return the files that can be named without opening the index."""
        with closing(open_directory(self.path)) as directory:
            try:
                return commit_files(directory)
            except lucene.JavaError:
                # The commit file cannot be read, or one of those that describe segments.
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
        searcher = self._acquire_from(manager)
        self._is_of_this_index(searcher)
        return manager, searcher

    def _is_of_this_index(self, searcher: Any) -> bool:
        """Check whether a searcher shows the index that is in the folder now.

        Lucene compares commits by name and version only, which an index that replaces another one
        may share with it; the ids of the commits differ.
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

    def _acquire_from(self, manager: Any) -> Any:
        """Return a searcher to be released to a manager; it searches large segments in parallel.

        The threads of Java's common pool are started on demand and end with the process.
        """
        reader = IndexSearcher.cast_(manager.acquire()).getIndexReader()
        searcher = IndexSearcher(reader, ForkJoinPool.commonPool())
        searcher.setSimilarity(BM25Similarity(self._weights.k1, self._weights.b))
        return searcher
