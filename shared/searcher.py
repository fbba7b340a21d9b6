"""The index open for reading: every call sees the newest commit."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, get_args

import lucene
from java.nio.file import Paths
from org.apache.lucene.index import DirectoryReader
from org.apache.lucene.search import IndexSearcher, SearcherFactory, SearcherManager
from org.apache.lucene.store import FSDirectory

from shared import index_folder, java_errors, jvm, navigation, search
from shared.analysis import analyzer
from shared.commit import check_schema, indexed_folders
from shared.file_states import file_states
from shared.filters import Filter
from shared.index_format import commit_id
from shared.indexed_folder import IndexedFolders
from shared.listing import list_documents, list_failures
from shared.results import (
    ChunkText,
    DocumentChunks,
    DocumentList,
    FailureList,
    IndexStatistics,
    Neighbour,
    SearchAnswer,
)
from shared.search_options import Content, Operator, Syntax
from shared.settings import MAX_COUNT
from shared.source_file import FileState
from shared.statistics import statistics

_ATTEMPTS: Final = 3
"""How often an index is opened before it counts as damaged."""


class Searcher:
    """An index open for reading, by any number of threads at once.

    Opening touches nothing: the index may be created, replaced or deleted at any time, and every
    call answers from the commit that is the newest when it begins. A call raises an
    `IndexFolderError` when there is no index that can be read.

    Args:
        path: the index folder.
        program: what the virtual machine is started for if it does not run yet.
    """

    def __init__(self, path: Path | str, *, program: jvm.Program = "command") -> None:
        self.path = index_folder.absolute(path)
        self._program = program
        self._lock = threading.Lock()
        self._manager: Any = None
        self._directory: Any = None
        self._folder: tuple[int, int] | None = None
        self._commit: tuple[str, bytes | None] | None = None
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
        syntax: Syntax = "auto",
        content: Content = "full",
    ) -> SearchAnswer:
        """Find the chunks that match a query, best first.

        Args:
            query: what was typed; a blank one matches every chunk.
            limit: hits to return, from 1.
            offset: hits to skip, from 0.
            filters: conditions that every hit meets.
            operator: whether one of the words is enough or all are needed.
            syntax: which characters of the query count as Lucene's classic syntax.
            content: how much text each hit carries.

        Raises:
            QueryParseError: the query is not valid syntax.
            QueryError: the query is too long or too large.
            FilterError: a filter does not fit the index.
            ValueError: an argument is out of its range.
        """
        _check(limit >= 1, "limit", limit)
        _check(offset >= 0, "offset", offset)
        _check(offset + limit <= MAX_COUNT, "offset + limit", offset + limit)
        _check(operator in get_args(Operator), "operator", operator)
        _check(syntax in get_args(Syntax), "syntax", syntax)
        _check(content in get_args(Content), "content", content)
        with self._newest() as searcher:
            return search.search(
                searcher,
                self._analyzer,
                query,
                limit=limit,
                offset=offset,
                filters=filters,
                operator=operator,
                syntax=syntax,
                content=content,
                folders=self._folders(searcher),
            )

    def chunk(self, chunk_id: str) -> ChunkText:
        """The chunk with an id.

        Raises:
            ChunkNotFoundError: there is none.
        """
        with self._newest() as searcher:
            return navigation.find_chunk(searcher, chunk_id, self._folders(searcher))

    def next_chunk(self, chunk_id: str) -> Neighbour:
        """The chunk after one, in the same document.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        with self._newest() as searcher:
            return navigation.next_chunk(searcher, chunk_id, self._folders(searcher))

    def previous_chunk(self, chunk_id: str) -> Neighbour:
        """The chunk before one, in the same document.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        with self._newest() as searcher:
            return navigation.previous_chunk(searcher, chunk_id, self._folders(searcher))

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
            ValueError: an argument is out of its range.
        """
        _check(start_index >= 1, "start_index", start_index)
        _check(count is None or count >= 1, "count", count)
        with self._newest() as searcher:
            return navigation.document_chunks(
                searcher, self._folders(searcher), source_document, start_index, count
            )

    def documents(
        self, *, prefix: str = "", offset: int = 0, limit: int | None = None
    ) -> DocumentList:
        """The documents in the order of their ids.

        Args:
            prefix: only documents whose id begins so.
            offset: documents to skip, from 0.
            limit: documents to return; None for all that follow.

        Raises:
            ValueError: an argument is out of its range.
        """
        _check(0 <= offset <= MAX_COUNT, "offset", offset)
        _check(limit is None or limit >= 1, "limit", limit)
        with self._newest() as searcher:
            return list_documents(searcher, self._folders(searcher), prefix, offset, limit)

    def statistics(self) -> IndexStatistics:
        """The state of the index."""
        with self._newest() as searcher:
            return statistics(searcher, self.path)

    def failures(self, *, offset: int = 0, limit: int | None = None) -> FailureList:
        """The files of the indexed folders that are not in the index, and why.

        Args:
            offset: files to skip, from 0.
            limit: files to return; None for all that follow.

        Raises:
            ValueError: an argument is out of its range.
        """
        _check(0 <= offset <= MAX_COUNT, "offset", offset)
        _check(limit is None or limit >= 1, "limit", limit)
        with self._newest() as searcher:
            return list_failures(self.path, self._folders(searcher), offset, limit)

    def files(self) -> tuple[IndexedFolders, dict[str, FileState]]:
        """The folders that the documents come from, and the state of each file by document id."""
        with self._newest() as searcher:
            return self._folders(searcher), file_states(searcher)

    def folders(self) -> IndexedFolders:
        """The folders that the documents come from."""
        with self._newest() as searcher:
            return self._folders(searcher)

    def _folders(self, searcher: Any) -> IndexedFolders:
        return indexed_folders(searcher.getIndexReader(), self.path)

    @contextmanager
    def _newest(self) -> Iterator[Any]:
        """Lend a Lucene searcher on the newest commit."""
        with jvm.attached(self._program), java_errors.reading(self.path):
            with self._lock:
                manager, searcher = self._acquire()
            try:
                check_schema(searcher.getIndexReader(), self.path)
                yield searcher
            finally:
                # Works after another thread has closed the manager, too.
                manager.release(searcher)

    def _acquire(self) -> tuple[Any, Any]:
        """A searcher on the newest commit, and the manager to give it back to."""
        folder = index_folder.identify(self.path)
        if self._manager is not None and folder == self._folder:
            try:
                self._manager.maybeRefreshBlocking()
            except lucene.JavaError:
                # Another index may stand in the same folder now: only a fresh start can tell.
                pass
            else:
                searcher = IndexSearcher.cast_(self._manager.acquire())
                if self._is_of_this_index(searcher):
                    return self._manager, searcher
                self._manager.release(searcher)
        for _ in range(_ATTEMPTS - 1):
            # The folder may be exchanged between two looks at it.
            with suppress(lucene.JavaError):
                return self._open()
        return self._open()

    def _open(self) -> tuple[Any, Any]:
        self._close_manager()
        folder = index_folder.identify(self.path)
        directory = FSDirectory.open(Paths.get(str(self.path)))
        try:
            manager = SearcherManager(directory, SearcherFactory())
        except lucene.JavaError:
            directory.close()
            raise
        self._manager, self._directory, self._folder = manager, directory, folder
        self._analyzer = self._analyzer or analyzer()
        self._commit = None
        searcher = IndexSearcher.cast_(manager.acquire())
        self._is_of_this_index(searcher)
        return manager, searcher

    def _is_of_this_index(self, searcher: Any) -> bool:
        """Whether a searcher shows the index that lies in the folder.

        Lucene compares commits by name and version only, which an index that was put in the place
        of another can share with it; the commits' ids tell them apart.
        """
        reader = DirectoryReader.cast_(searcher.getIndexReader())
        name = str(reader.getIndexCommit().getSegmentsFileName())
        commit = (name, commit_id(self.path / name))
        known, self._commit = self._commit, commit
        return known is None or known[0] != name or None in (known[1], commit[1]) or known == commit

    def _close_manager(self) -> None:
        if self._manager is not None:
            self._manager.close()
            self._directory.close()
            self._manager = None


def _check(holds: bool, name: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{name} is out of range: {value!r}")
