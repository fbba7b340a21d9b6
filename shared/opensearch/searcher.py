"""An index on a cluster, open for reading: every call sees what was published before it began."""

from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Self, TypeVar, Unpack, get_args

from shared.errors import ChunkNotFoundError
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.model.document import FileState
from shared.model.filters import Collection, Limits, by_name, checked
from shared.model.folders import IndexedFolders
from shared.model.index_results import (
    DocumentDetails,
    DocumentFile,
    DocumentList,
    FailureList,
    FieldList,
    IndexStatistics,
    TermList,
)
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
from shared.model.search_results import (
    ChunkText,
    DocumentChunks,
    Neighbour,
    QueryExplanation,
    SearchAnswer,
    SimilarChunk,
    SimilarChunks,
)
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.opensearch import documents as of_cluster, figures
from shared.opensearch.catalog import ClusterCatalog
from shared.opensearch.cluster import Cluster
from shared.opensearch.search.selection import ClusterSelection
from shared.opensearch.snapshot import ClusterSnapshot
from shared.query.tree import Nothing
from shared.reading.documents import list_failures
from shared.reading.searcher import Searcher as FolderSearcher
from shared.reading.similar_chunks import topic_terms
from shared.search import answer, explanation
from shared.semantic.query_encoder import QueryEncoder

Result = TypeVar("Result")


class Searcher(FolderSearcher):
    """An index on a cluster, open for reading by any number of threads at once.

    It is used like that of a folder.

    Args:
        path: the address of the index.
        program: the kind of program, for starting the virtual machine that analyzes queries.
        weights: the weight of each kind of match. The parameters of the similarity are those with
            which the index was created.
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
        self._cluster = Cluster(path, weights, program)
        self._limit(Limits(by_name(collections)))
        self._encoder = QueryEncoder()
        self.cancellation: Cancellation | None = None
        self.path = self._cluster.path

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._cluster.close()

    def within(self, names: Iterable[str]) -> Self:
        """Return the same open index as if it had only the documents of some collections.

        See `shared.Searcher.within`.
        """
        limited = copy(self)
        limited._limit(self._limits.within(names))  # noqa: SLF001 - its own class's
        return limited

    def _limit(self, limits: Limits) -> None:
        self._limits = limits
        self.collections = limits.collections
        self.catalog = ClusterCatalog(self._cluster, limits)

    @property
    def refreshes(self) -> int:
        """Number of times that another state of the index was seen."""
        return self._cluster.refreshes

    @property
    def requests(self) -> int:
        """Number of requests that were sent to the cluster."""
        return self._cluster.store.connection.requests

    def commit(self) -> str | None:
        """Return an identity of the state of the index."""
        # Numbers begin anew in an index that was made anew.
        commit = self._call(lambda snapshot: f"{snapshot.state.identity}-{snapshot.number}")
        return f"{commit}-{self._limits.name}" if self._limits.names else commit

    def _call(
        self, work: Callable[[ClusterSnapshot], Result], *, is_search: bool = False
    ) -> Result:
        """Do work on the state of the index; see `Cluster.call`."""
        return self._cluster.call(work, self.cancellation, limits=self._limits, is_search=is_search)

    def load_model(self) -> None:
        """Do nothing: there are no vectors on a cluster."""

    def search(self, query: str | SearchRequest, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """Find the chunks that match a query, best first; see `shared.Searcher.search`."""
        request = as_request(query, options)
        return self._call(
            lambda snapshot: answer.search(ClusterSelection(snapshot, request), request),
            is_search=True,
        )

    def explain(
        self,
        query: str | SearchRequest,
        *,
        detail: Detail = "parsed",
        **options: Unpack[SearchOptions],
    ) -> QueryExplanation:
        """Explain the hits of a search; see `shared.Searcher.explain`."""
        check(detail in get_args(Detail), "detail", detail)
        if isinstance(query, str):
            options = {"limit": EXPLAINED_HITS, **options}
        request = as_request(query, options)
        return self._call(lambda snapshot: _explanation(snapshot, request, detail), is_search=True)

    def chunk(self, chunk_id: str) -> ChunkText:
        """Return the chunk with an id; see `shared.Searcher.chunk`."""
        return self._call(lambda snapshot: of_cluster.find_chunk(snapshot, chunk_id))

    def next_chunk(self, chunk_id: str) -> Neighbour:
        """Return the chunk after another one in the same document."""
        return self._call(lambda snapshot: of_cluster.next_chunk(snapshot, chunk_id))

    def previous_chunk(self, chunk_id: str) -> Neighbour:
        """Return the chunk before another one in the same document."""
        return self._call(lambda snapshot: of_cluster.previous_chunk(snapshot, chunk_id))

    def document_chunks(
        self, source_document: str, *, start_index: int = 1, count: int | None = None
    ) -> DocumentChunks:
        """Return chunks of a document in order; see `shared.Searcher.document_chunks`."""
        check(start_index >= 1, "start_index", start_index)
        check(count is None or count >= 1, "count", count)
        return self._call(
            lambda snapshot: of_cluster.document_chunks(
                snapshot, source_document, start_index, count
            )
        )

    def similar_chunks(self, chunk_id: str, *, limit: int = 10) -> SimilarChunks:
        """Return the chunks that are most like another one, by their most telling terms."""
        check(limit >= 1, "limit", limit)
        return self._call(lambda snapshot: _similar_chunks(snapshot, chunk_id, limit))

    def documents(
        self,
        *,
        prefix: str = "",
        offset: int = 0,
        limit: int | None = None,
        sort: DocumentSort = BY_ID,
        collection: str | None = None,
    ) -> DocumentList:
        """List the documents; see `shared.Searcher.documents`."""
        check_page(offset, limit)
        check(sort in get_args(DocumentSort), "sort", sort)
        if collection is not None:
            checked([collection], self.collections)
            return self.within([collection]).documents(
                prefix=prefix, offset=offset, limit=limit, sort=sort
            )
        return self._call(
            lambda snapshot: of_cluster.list_documents(snapshot, prefix, offset, limit, sort)
        )

    def document_details(self, source_document: str) -> DocumentDetails:
        """Return the details of a document, without its text."""
        return self._call(lambda snapshot: of_cluster.document_details(snapshot, source_document))

    def document_file(self, source_document: str) -> DocumentFile | None:
        """Return the file that a document was made from, if any."""
        return self._call(lambda snapshot: of_cluster.document_file(snapshot, source_document))

    def chunks_of_page(self, source_document: str, page: int) -> range:
        """Return the numbers of the chunks with text of a page."""
        return self._call(
            lambda snapshot: of_cluster.chunks_of_page(snapshot, source_document, page)
        )

    def suggest_terms(self, prefix: str, *, field: str = "content", limit: int = 10) -> TermList:
        """Return the terms of a field that begin with a prefix, the most frequent first."""
        check(limit >= 1, "limit", limit)
        return self._call(lambda snapshot: figures.suggest_terms(snapshot, field, prefix, limit))

    def top_terms(
        self, *, field: str = "content", limit: int = 20, min_length: int = 1
    ) -> TermList:
        """Return the most frequent terms of a field with at least `min_length` characters."""
        check(limit >= 1, "limit", limit)
        return self._call(lambda snapshot: figures.top_terms(snapshot, field, limit, min_length))

    def fields(self) -> FieldList:
        """Return the fields that can be searched, filtered, sorted by or counted."""
        return self._call(figures.list_fields)

    def statistics(self) -> IndexStatistics:
        """Return the state of the index."""
        return self._call(figures.statistics)

    def failures(self, *, offset: int = 0, limit: int | None = None) -> FailureList:
        """Return the files of the indexed folders that are not in the index, with reasons."""
        check_page(offset, limit)
        if self._limits.names:
            return FailureList(0, [])
        return self._call(
            lambda snapshot: list_failures(snapshot.path, snapshot.folders, offset, limit)
        )

    def files(self) -> tuple[IndexedFolders, dict[str, FileState]]:
        """Return the folders of the documents, and the state of each file by document id."""
        return self._call(lambda snapshot: (snapshot.folders, of_cluster.files(snapshot)))

    def folders(self) -> IndexedFolders:
        """Return the folders that the documents come from."""
        return self._call(lambda snapshot: snapshot.folders)


def _explanation(
    snapshot: ClusterSnapshot, request: SearchRequest, detail: Detail
) -> QueryExplanation:
    selection = ClusterSelection(snapshot, request)
    return explanation.explain(selection, request, detail)


def _similar_chunks(snapshot: ClusterSnapshot, chunk_id: str, limit: int) -> SimilarChunks:
    everything = ClusterSelection(snapshot, SearchRequest(""))
    hit = everything.with_id(chunk_id)
    if hit is None:
        raise ChunkNotFoundError(chunk_id)
    (text,) = everything.contents([hit])
    tree = topic_terms(text, everything.terms)
    if isinstance(tree, Nothing):
        return SimilarChunks(chunk_id, "words", [])
    near = everything.scored_by(tree, limit + 1)
    best = max((other.score for other in near), default=1.0)
    others = [other for other in near if other.doc != hit.doc][:limit]
    return SimilarChunks(
        chunk_id,
        "words",
        [
            SimilarChunk(**chunk, similarity=round(min(1.0, other.score / best), 3))
            for other, (chunk, _) in zip(others, everything.chunks(others), strict=True)
        ],
    )
