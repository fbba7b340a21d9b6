"""The index open for reading: every call sees the newest commit."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import lucene
from java.nio.file import Paths
from org.apache.lucene.search import IndexSearcher, SearcherFactory, SearcherManager
from org.apache.lucene.store import FSDirectory

from shared import java_errors, jvm, navigation, search
from shared.analysis import analyzer
from shared.commit import check_schema
from shared.errors import IndexMissingError, IndexPathError
from shared.filters import Filter
from shared.listing import list_documents
from shared.results import (
    ChunkText,
    Content,
    DocumentChunks,
    DocumentList,
    IndexStatistics,
    Neighbour,
    Operator,
    SearchAnswer,
)
from shared.statistics import statistics


class Searcher:
    """An index open for reading, by any number of threads at once.

    Opening touches nothing: the index may be created, replaced or deleted at any time, and every
    call answers from the commit that is the newest when it begins. A call raises an
    `IndexFolderError` when there is no index that can be read.

    Args:
        path: the index folder.
        program: what the virtual machine is started for if it does not run yet.
    """

    def __init__(self, path: Path, *, program: jvm.Program = "command") -> None:
        self.path = path.absolute()
        self._program = program
        self._lock = threading.Lock()
        self._manager: Any = None
        self._directory: Any = None
        self._folder: tuple[int, int] | None = None
        self._analyzer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index's files; a later call opens them again."""
        if self._manager is not None:
            with jvm.attached(self._program), self._lock:
                self._close_manager()

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        filters: Sequence[Filter] = (),
        operator: Operator = "or",
        content: Content = "full",
    ) -> SearchAnswer:
        """Find the chunks that match a query, best first.

        Args:
            query: Lucene's classic query syntax; a blank one matches every chunk.
            limit: hits to return, from 1.
            offset: hits to skip, from 0.
            filters: conditions that every hit meets.
            operator: whether one of the words is enough or all are needed.
            content: how much text each hit carries.

        Raises:
            QueryParseError: the query is not valid syntax.
            QueryError: the query is too long or too large.
            FilterError: a filter does not fit the index.
        """
        with self._newest() as searcher:
            return search.search(
                searcher,
                self._analyzer,
                query,
                limit=limit,
                offset=offset,
                filters=filters,
                operator=operator,
                content=content,
            )

    def chunk(self, chunk_id: str) -> ChunkText:
        """The chunk with an id.

        Raises:
            ChunkNotFoundError: there is none.
        """
        with self._newest() as searcher:
            return navigation.find_chunk(searcher, chunk_id)

    def next_chunk(self, chunk_id: str) -> Neighbour:
        """The chunk after one, in the same document.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        with self._newest() as searcher:
            return navigation.next_chunk(searcher, chunk_id)

    def previous_chunk(self, chunk_id: str) -> Neighbour:
        """The chunk before one, in the same document.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        with self._newest() as searcher:
            return navigation.previous_chunk(searcher, chunk_id)

    def document_chunks(
        self, source_document: str, *, start_index: int = 1, count: int | None = None
    ) -> DocumentChunks:
        """Chunks of a document in order.

        Args:
            source_document: the document's id.
            start_index: the first chunk's number, from 1.
            count: how many chunks; None for all that follow.

        Raises:
            DocumentNotFoundError: there is no such document.
        """
        with self._newest() as searcher:
            return navigation.document_chunks(searcher, source_document, start_index, count)

    def documents(
        self, *, prefix: str = "", offset: int = 0, limit: int | None = None
    ) -> DocumentList:
        """The documents in the order of their ids.

        Args:
            prefix: only documents whose id begins so.
            offset: documents to skip, from 0.
            limit: documents to return; None for all that follow.
        """
        with self._newest() as searcher:
            return list_documents(searcher, prefix, offset, limit)

    def statistics(self) -> IndexStatistics:
        """The state of the index."""
        with self._newest() as searcher:
            return statistics(searcher, self.path)

    @contextmanager
    def _newest(self) -> Iterator[Any]:
        """Lend a Lucene searcher on the newest commit."""
        with jvm.attached(self._program), java_errors.reading(self.path):
            manager = self._refreshed_manager()
            searcher = IndexSearcher.cast_(manager.acquire())
            try:
                check_schema(searcher.getIndexReader(), self.path)
                yield searcher
            finally:
                manager.release(searcher)

    def _refreshed_manager(self) -> Any:
        with self._lock:
            folder = self._identify_folder()
            if self._manager is not None and folder == self._folder:
                try:
                    self._manager.maybeRefreshBlocking()
                except lucene.JavaError:
                    # Another index may stand in the same folder now: only a fresh start can tell.
                    pass
                else:
                    return self._manager
            self._close_manager()
            directory = FSDirectory.open(Paths.get(str(self.path)))
            try:
                self._manager = SearcherManager(directory, SearcherFactory())
            except lucene.JavaError:
                directory.close()
                raise
            self._directory = directory
            self._folder = folder
            self._analyzer = self._analyzer or analyzer()
            return self._manager

    def _identify_folder(self) -> tuple[int, int]:
        """Device and inode: they change when another folder takes the path."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise IndexMissingError(self.path) from error
        except OSError as error:
            raise IndexPathError(self.path, error.strerror or str(error)) from error
        if not self.path.is_dir():
            raise IndexPathError(self.path, "it is a file, not a folder")
        return status.st_dev, status.st_ino

    def _close_manager(self) -> None:
        if self._manager is not None:
            self._manager.close()
            self._directory.close()
            self._manager = None
