"""The index open for reading: every call sees the newest commit."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from pathlib import Path
from typing import Any, Self, get_args

from shared.java import vm
from shared.java.cancellation import Cancellation, stoppable
from shared.model.document import FileState
from shared.model.filters import Filter
from shared.model.folders import IndexedFolders
from shared.model.index_results import (
    DocumentDetails,
    DocumentList,
    FailureList,
    FieldList,
    IndexStatistics,
    TermList,
)
from shared.model.request import (
    BY_ID,
    BY_SCORE,
    Detail,
    DocumentSort,
    Operator,
    SearchRequest,
    Syntax,
    Texts,
    check,
    check_page,
)
from shared.model.search_results import (
    ChunkText,
    DocumentChunks,
    Neighbour,
    QueryExplanation,
    SearchAnswer,
)
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.reading import chunks
from shared.reading.catalog import Catalog
from shared.reading.documents import document_details, list_documents, list_failures
from shared.reading.fields import list_fields
from shared.reading.open_index import OpenIndex
from shared.reading.statistics import statistics
from shared.reading.terms import suggest_terms, top_terms
from shared.search import answer
from shared.search.explanation import explain
from shared.storage.commits import indexed_folders
from shared.storage.mapping import file_states


class Searcher:
    """An index open for reading, by any number of threads at once.

    Opening touches nothing: the index may be created, replaced or deleted at any time, and every
    call answers from the commit that is the newest when it begins. A call raises an
    `IndexFolderError` when there is no index that can be read.

    Args:
        path: the index folder.
        program: what the virtual machine is started for if it does not run yet.
        weights: what each match counts for.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        program: vm.Program = "command",
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> None:
        self._index = OpenIndex(path, program, weights)
        self._weights = weights
        self.cancellation: Cancellation | None = None
        self.path = self._index.path
        self.catalog = Catalog(self._index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index's files; a later call opens them again."""
        self._index.close()

    def until(self, cancellation: Cancellation) -> Self:
        """The same open index, whose searches end early when they are cancelled."""
        limited = copy(self)
        limited.cancellation = cancellation
        return limited

    @property
    def refreshes(self) -> int:
        """How often the index was opened, or opened again for a newer commit."""
        return self._index.refreshes

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        filters: Sequence[Filter] = (),
        operator: Operator = "or",
        syntax: Syntax = "auto",
        content: Texts = "full",
        sort: str = BY_SCORE,
        facets: Sequence[str] = (),
        min_confidence: float = 0.0,
        rewritten: str | None = None,
    ) -> SearchAnswer:
        """Find the chunks that match a query, best first.

        Args:
            query: what was typed; a blank one matches every chunk.
            limit: hits to return, from 1.
            offset: hits to skip, from 0.
            filters: conditions that every hit meets.
            operator: whether one of the words is enough or all are needed.
            syntax: which characters of the query count as Lucene's classic syntax.
            content: how much text each hit carries; ``both`` is all of it and the passages.
            sort: ``score`` for the best first, or ``source_document``, ``chunk_index`` or a key
                of the metadata; with a minus before it the greatest comes first. By ``file_path``
                files come folder by folder, in the order of the folders' prefixes.
            facets: keys of the metadata whose values are counted among the matches.
            min_confidence: leaves out hits that are less likely to answer, from 0 to 1.
            rewritten: the query in other words, which are looked for, too, as plain text.

        Raises:
            QueryParseError: the query is not valid syntax.
            QueryError: the query is too long or too large.
            InvalidTextError: the query is not valid Unicode.
            FilterError: a filter, a facet or the order does not fit the index.
            ValueError: an argument is out of its range.
        """
        asked = (query, limit, offset, filters, operator, syntax, content, sort, facets)
        request = SearchRequest(*asked, min_confidence, self._weights, rewritten)
        with self._newest() as searcher:
            return answer.search(searcher, request, self._folders(searcher))

    def explain(
        self,
        query: str,
        *,
        detail: Detail = "parsed",
        limit: int = 3,
        offset: int = 0,
        filters: Sequence[Filter] = (),
        operator: Operator = "or",
        syntax: Syntax = "auto",
        rewritten: str | None = None,
    ) -> QueryExplanation:
        """Explain why a search finds what it finds.

        `detail` is how much is told, where each level has what is in those before it, and `limit`
        how many hits have their scores explained, from 1. The other arguments and the errors are
        those of `search`.
        """
        check(detail in get_args(Detail), "detail", detail)
        asked = (query, limit, offset, filters, operator, syntax)
        request = SearchRequest(*asked, weights=self._weights, rewritten=rewritten)
        with self._newest() as searcher:
            return explain(searcher, request, detail, self._folders(searcher))

    def chunk(self, chunk_id: str) -> ChunkText:
        """The chunk with an id.

        Raises:
            ChunkNotFoundError: there is none.
        """
        with self._newest() as searcher:
            return chunks.find_chunk(searcher, chunk_id, self._folders(searcher))

    def next_chunk(self, chunk_id: str) -> Neighbour:
        """The chunk after one, in the same document.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        with self._newest() as searcher:
            return chunks.next_chunk(searcher, chunk_id, self._folders(searcher))

    def previous_chunk(self, chunk_id: str) -> Neighbour:
        """The chunk before one, in the same document; the error is that of `next_chunk`."""
        with self._newest() as searcher:
            return chunks.previous_chunk(searcher, chunk_id, self._folders(searcher))

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
        check(start_index >= 1, "start_index", start_index)
        check(count is None or count >= 1, "count", count)
        with self._newest() as searcher:
            return chunks.document_chunks(
                searcher, self._folders(searcher), source_document, start_index, count
            )

    def documents(
        self,
        *,
        prefix: str = "",
        offset: int = 0,
        limit: int | None = None,
        sort: DocumentSort = BY_ID,
    ) -> DocumentList:
        """List the documents.

        Args:
            prefix: only documents whose id begins so.
            offset: documents to skip, from 0.
            limit: documents to return; None for all that follow.
            sort: the order.

        Raises:
            ValueError: an argument is out of its range.
        """
        check_page(offset, limit)
        check(sort in get_args(DocumentSort), "sort", sort)
        with self._newest() as searcher:
            return list_documents(searcher, self._folders(searcher), prefix, offset, limit, sort)

    def document_details(self, source_document: str) -> DocumentDetails:
        """Describe a document, without its text; the error is that of `document_chunks`."""
        with self._newest() as searcher:
            return document_details(searcher, self._folders(searcher), source_document)

    def suggest_terms(self, prefix: str, *, field: str = "content", limit: int = 10) -> TermList:
        """The terms of a field that begin with a prefix, those of most chunks first.

        Args:
            prefix: folded as the field is; the values of metadata and ids are not folded. One of
                which nothing is left, as of a blank one, is answered with a notice and no terms.
            field: a key of the metadata or another field of `fields`.
            limit: terms to return, from 1.

        Raises:
            FieldNotFoundError: there is no such field.
            ValueError: an argument is out of its range.
        """
        check(limit >= 1, "limit", limit)
        with self._newest() as searcher:
            return suggest_terms(stoppable(searcher), self._folders(searcher), field, prefix, limit)

    def top_terms(
        self, *, field: str = "content", limit: int = 20, min_length: int = 1
    ) -> TermList:
        """The terms of a field that most chunks have; `min_length` characters or longer.

        `field`, `limit` and the errors are those of `suggest_terms`.
        """
        check(limit >= 1, "limit", limit)
        with self._newest() as searcher:
            return top_terms(stoppable(searcher), self._folders(searcher), field, limit, min_length)

    def fields(self) -> FieldList:
        """The fields that can be searched, filtered, sorted by or counted."""
        with self._newest() as searcher:
            return list_fields(stoppable(searcher), self._folders(searcher))

    def statistics(self) -> IndexStatistics:
        """The state of the index."""
        with self._newest() as searcher:
            return statistics(searcher, self.path)

    def failures(self, *, offset: int = 0, limit: int | None = None) -> FailureList:
        """The files of the indexed folders that are not in the index, and why.

        `offset`, `limit` and the errors are those of `documents`.
        """
        check_page(offset, limit)
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

    def _newest(self) -> AbstractContextManager[Any]:
        return self._index.newest(self.cancellation)

    def _folders(self, searcher: Any) -> IndexedFolders:
        return indexed_folders(searcher.getIndexReader(), self.path)
