"""The index open for reading: every call sees the newest commit."""

from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Self, Unpack, get_args

from shared.backends import chosen
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.model import index_results, search_results
from shared.model.document import FileState
from shared.model.filters import Collection, Limits, checked
from shared.model.folders import IndexedFolders
from shared.model.request import (
    BY_ID,
    EXPLAINED_HITS,
    Detail,
    DocumentSort,
    SearchOptions,
    SearchRequest,
    as_request,
    check,
    check_page,
)
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.reading import chunks, documents, figures
from shared.reading.backend import Backend, ReadableIndex, Result
from shared.reading.catalog import Catalog
from shared.reading.lucene_backend import IndexFolder
from shared.search import answer, explanation


class Searcher:
    """An index open for reading, by any number of threads at once.

    Opening does not touch the index: it may be created, replaced or deleted at any time, and every
    call answers from the commit that is the newest when it begins. A call raises an
    `IndexFolderError` when there is no index that can be read.

    Args:
        path: the index folder, or the address of an index on a cluster.
        program: the kind of program, for starting the virtual machine if it is not running.
        weights: the weight of each kind of match. On a cluster the parameters of the similarity are
            those with which the index was created.
        collections: the collections that searches can name.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        program: vm.Program = "command",
        weights: Weights = DEFAULT_WEIGHTS,
        collections: Iterable[Collection] = (),
    ) -> None:
        self._index = open_index(path, program, weights)
        self._limit(Limits({collection.name: collection for collection in collections}))
        self.cancellation: Cancellation | None = None
        self.path = self._index.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; a later call opens it again."""
        self._index.close()

    def until(self, cancellation: Cancellation) -> Self:
        """Return the same open index with a cancellation that ends its searches early."""
        limited = copy(self)
        limited.cancellation = cancellation
        return limited

    def within(self, names: Iterable[str]) -> Self:
        """Return the same open index as if it had only the documents of some collections.

        Everything that is asked of it is answered from these documents alone: searches, lists,
        counts, suggestions and errors. Only scores take the frequency of a word from the whole
        index, as Lucene does for deleted documents.

        Args:
            names: the names of the collections; those that do not exist are empty. Of an index
                that is limited already, these are further limited.
        """
        limited = copy(self)
        limited._limit(self._limits.within(names))  # noqa: SLF001 - its own class's
        return limited

    def _limit(self, limits: Limits) -> None:
        self._limits = limits
        self.collections = limits.collections
        self.catalog = Catalog(self._index, limits)

    def _call(self, work: Callable[[Backend], Result], *, is_search: bool = False) -> Result:
        return self._index.call(work, self._limits, self.cancellation, is_search=is_search)

    @property
    def refreshes(self) -> int:
        """Number of times the index was opened, or reopened for a newer commit."""
        return self._index.refreshes

    def commit(self) -> str | None:
        """Return an identity of the newest commit, which no other commit has; None if unknown."""
        return self._index.commit(self._limits)

    def load_model(self) -> None:
        """Load the sentence model and the vectors of the index, if it has any.

        Otherwise the first search does so, which takes a fifth of a second, and four more for a
        million chunks.
        """
        self._call(lambda backend: backend.load_model())

    def search(
        self, query: str | SearchRequest, **options: Unpack[SearchOptions]
    ) -> search_results.SearchAnswer:
        """Find the chunks that match a query, best first.

        Args:
            query: the query as typed, or the whole request; a blank query matches every chunk.
            options: the fields of `SearchRequest` other than the query.

        Raises:
            QueryParseError: the query is not valid syntax.
            QueryError: the query is too long or too large.
            InvalidTextError: the query is not valid Unicode.
            FilterError: a filter, a facet or the sort order does not fit the index.
            ValueError: an option is out of its range.
        """
        request = as_request(query, options)
        return self._call(
            lambda backend: answer.search(backend.selection(request), request), is_search=True
        )

    def explain(
        self,
        query: str | SearchRequest,
        *,
        detail: Detail = "parsed",
        **options: Unpack[SearchOptions],
    ) -> search_results.QueryExplanation:
        """Explain the hits of a search.

        Args:
            query: the query as typed, or the whole request; its `limit` is the number of hits whose
                scores are explained, 3 if only a query is given.
            detail: the level of detail; each includes those before it.
            options: the fields of `SearchRequest` other than the query.

        Raises:
            ValueError: an option is out of its range; the other errors are those of `search`.
        """
        check(detail in get_args(Detail), "detail", detail)
        if isinstance(query, str):
            options = {"limit": EXPLAINED_HITS, **options}
        request = as_request(query, options)
        return self._call(
            lambda backend: explanation.explain(backend.selection(request), request, detail),
            is_search=True,
        )

    def chunk(self, chunk_id: str) -> search_results.ChunkText:
        """Return the chunk with an id.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        return self._call(lambda backend: chunks.find_chunk(backend, chunk_id))

    def next_chunk(self, chunk_id: str) -> search_results.Neighbour:
        """Return the chunk after another one in the same document.

        Raises:
            ChunkNotFoundError: no chunk has the id.
        """
        return self._call(lambda backend: chunks.next_chunk(backend, chunk_id))

    def previous_chunk(self, chunk_id: str) -> search_results.Neighbour:
        """Return the chunk before another one in the same document; raises as `next_chunk`."""
        return self._call(lambda backend: chunks.previous_chunk(backend, chunk_id))

    def document_chunks(
        self, source_document: str, *, start_index: int = 1, count: int | None = None
    ) -> search_results.DocumentChunks:
        """Return chunks of a document in order.

        Args:
            source_document: the document's id.
            start_index: the number of the first chunk, from 1.
            count: the maximum number of chunks; None for all that follow.

        Raises:
            DocumentNotFoundError: there is no such document.
            ValueError: an argument is out of its range.
        """
        check(start_index >= 1, "start_index", start_index)
        check(count is None or count >= 1, "count", count)
        return self._call(
            lambda backend: chunks.document_chunks(backend, source_document, start_index, count)
        )

    def similar_chunks(self, chunk_id: str, *, limit: int = 10) -> search_results.SimilarChunks:
        """Return the chunks that are most like another one, the most similar first.

        They are compared by their vectors if the index has some, else by their most telling terms.

        Args:
            chunk_id: the id of the chunk.
            limit: the maximum number of chunks, from 1.

        Raises:
            ChunkNotFoundError: there is no such chunk.
            ValueError: the limit is out of its range.
        """
        check(limit >= 1, "limit", limit)
        return self._call(lambda backend: chunks.similar_chunks(backend, chunk_id, limit))

    def documents(
        self,
        *,
        prefix: str = "",
        offset: int = 0,
        limit: int | None = None,
        sort: DocumentSort = BY_ID,
        collection: str | None = None,
    ) -> index_results.DocumentList:
        """List the documents.

        Args:
            prefix: only documents whose id has this prefix.
            offset: the number of documents to skip, from 0.
            limit: the maximum number of documents; None for all that follow.
            sort: the sort order.
            collection: only documents of this collection.

        Raises:
            FilterError: there is no such collection.
            ValueError: an argument is out of its range.
        """
        check_page(offset, limit)
        check(sort in get_args(DocumentSort), "sort", sort)
        if collection is not None:
            checked([collection], self.collections)
            return self.within([collection]).documents(
                prefix=prefix, offset=offset, limit=limit, sort=sort
            )
        return self._call(
            lambda backend: documents.list_documents(backend, prefix, offset, limit, sort)
        )

    def document_details(self, source_document: str) -> index_results.DocumentDetails:
        """Return the details of a document, without its text; raises as `document_chunks`."""
        return self._call(lambda backend: documents.document_details(backend, source_document))

    def document_file(self, source_document: str) -> index_results.DocumentFile | None:
        """Return the file that a document was made from, if any; raises as `document_chunks`."""
        return self._call(lambda backend: documents.document_file(backend, source_document))

    def chunks_of_page(self, source_document: str, page: int) -> range:
        """Return the numbers of the chunks with text of a page; raises as `document_chunks`."""
        return self._call(lambda backend: chunks.chunks_of_page(backend, source_document, page))

    def suggest_terms(
        self, prefix: str, *, field: str = "content", limit: int = 10
    ) -> index_results.TermList:
        """Return the terms of a field that begin with a prefix, the most frequent first.

        Args:
            prefix: the prefix, folded like the field; metadata values and ids are not folded. If
                nothing of it is left, as of a blank one, the answer has a notice and no terms.
            field: a metadata key or another field of `fields`.
            limit: the maximum number of terms, from 1.

        Raises:
            FieldNotFoundError: there is no such field.
            ValueError: an argument is out of its range.
        """
        check(limit >= 1, "limit", limit)
        return self._call(lambda backend: figures.suggest_terms(backend, field, prefix, limit))

    def top_terms(
        self, *, field: str = "content", limit: int = 20, min_length: int = 1
    ) -> index_results.TermList:
        """Return the most frequent terms of a field with at least `min_length` characters.

        `field`, `limit` and the errors are those of `suggest_terms`.
        """
        check(limit >= 1, "limit", limit)
        return self._call(lambda backend: figures.top_terms(backend, field, limit, min_length))

    def fields(self) -> index_results.FieldList:
        """Return the fields that can be searched, filtered, sorted by or counted."""
        return self._call(figures.list_fields)

    def statistics(self) -> index_results.IndexStatistics:
        """Return the state of the index."""
        return self._call(figures.statistics)

    def failures(self, *, offset: int = 0, limit: int | None = None) -> index_results.FailureList:
        """Return the files of the indexed folders that are not in the index, with reasons.

        In an index that is limited to collections there are none, since nobody can tell to which
        collection a file would belong.

        `offset`, `limit` and the errors are those of `documents`.
        """
        check_page(offset, limit)
        return self._call(lambda backend: documents.list_failures(backend, offset, limit))

    def files(self) -> tuple[IndexedFolders, dict[str, FileState]]:
        """Return the folders of the documents, and the state of each file by document id."""
        return self._call(lambda backend: (backend.folders, backend.file_states()))

    def folders(self) -> IndexedFolders:
        """Return the folders that the documents come from."""
        return self._call(lambda backend: backend.folders)


def open_index(path: Path | str, program: vm.Program, weights: Weights) -> ReadableIndex:
    """Return the index at a path, which is in a folder or on a cluster."""
    kind = chosen(path, "IndexOnCluster") or IndexFolder
    index: ReadableIndex = kind(path, program, weights)
    return index
