"""Running a query and collecting its hits."""

from collections.abc import Sequence
from typing import Any

from org.apache.lucene.search import ScoreDoc, TotalHits

from shared.facets import count_facets
from shared.filter_query import filtered
from shared.indexed_folder import IndexedFolders
from shared.lucene_document import CHUNK_FIELDS, from_lucene, stored_fields
from shared.passages import Passages
from shared.query.limits import running
from shared.query.pipeline import ParsedQuery, prepare
from shared.ranking import best_first
from shared.results import Hit, SearchAnswer
from shared.search_options import BY_SCORE, SearchRequest
from shared.sorting import document_order, order


def search(searcher: Any, request: SearchRequest, folders: IndexedFolders) -> SearchAnswer:
    """Answer a query.

    Args:
        searcher: a Lucene searcher.
        request: what is looked for.
        folders: the folders of the index.

    Raises:
        QueryParseError: the query is not valid syntax.
        QueryError: the query is too long or too large.
        FilterError: a filter, a facet or the order does not fit the index.
    """
    reader = searcher.getIndexReader()
    query = prepare(request, searcher)
    selection = filtered(query.lucene, request.filters, reader, folders)
    with running():
        total_hits, found = _top(searcher, query, selection, request)
        total = total_hits.value()
        if total_hits.relation() != TotalHits.Relation.EQUAL_TO:
            matching = filtered(query.matching, request.filters, reader, folders)
            total = searcher.count(matching)
        return SearchAnswer(
            query=request.query,
            totalHits=total,
            results=_hits(searcher, found[request.offset :], query, request, folders),
            facets=count_facets(searcher, query.matching, request.facets, request.filters, folders),
        )


def _top(
    searcher: Any, query: ParsedQuery, selection: Any, request: SearchRequest
) -> tuple[Any, Sequence[Any]]:
    """How many hits there are, and the first of them, those of the offset included."""
    count = request.offset + request.limit
    if request.sort == BY_SCORE and not query.browses:
        ranking = best_first(searcher, query, selection, count)
        return ranking.total_hits, ranking.hits
    browsed = request.sort == BY_SCORE
    by_field = document_order() if browsed else order(request.sort, searcher.getIndexReader())
    found = searcher.search(selection, count, by_field, True)
    return found.totalHits, [ScoreDoc.cast_(hit) for hit in found.scoreDocs]


def _hits(
    searcher: Any,
    found: Sequence[Any],
    query: ParsedQuery,
    request: SearchRequest,
    folders: IndexedFolders,
) -> list[Hit]:
    passages = Passages(query.tree) if request.content == "passages" else None
    stored = searcher.storedFields()
    loaded = stored_fields(*CHUNK_FIELDS)
    hits = []
    for ranked in found:
        chunk = from_lucene(stored.document(ranked.doc, loaded), folders)
        hit = {
            **vars(chunk),
            "content": chunk.content if request.content == "full" else None,
            "score": 1.0 if query.browses else ranked.score,
            "passages": passages.of(chunk.content) if passages else None,
        }
        hits.append(Hit(**hit))
    return hits
