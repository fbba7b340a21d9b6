"""Running a query and collecting its hits."""

from collections.abc import Sequence
from typing import Any

from org.apache.lucene.analysis import Analyzer
from org.apache.lucene.search import MatchAllDocsQuery, ScoreDoc, Sort, SortField, TotalHits

from shared import schema
from shared.filter_query import filtered
from shared.filters import Filter
from shared.indexed_folder import IndexedFolders
from shared.lucene_document import CHUNK_FIELDS, from_lucene, stored_fields
from shared.passages import passages
from shared.query import parse, running
from shared.results import Hit, SearchAnswer
from shared.search_options import Content, Operator, Syntax


def search(
    searcher: Any,
    analyzer: Analyzer,
    text: str,
    *,
    limit: int,
    offset: int,
    filters: Sequence[Filter],
    operator: Operator,
    syntax: Syntax,
    content: Content,
    folders: IndexedFolders,
) -> SearchAnswer:
    """Answer a query; see `shared.searcher.Searcher.search` for the arguments."""
    query = parse(text, analyzer, operator, syntax)
    selection = filtered(query, filters, searcher.getIndexReader(), folders)
    with running():
        found = _top(searcher, query, selection, offset + limit)
        total = found.totalHits.value()
        if found.totalHits.relation() != TotalHits.Relation.EQUAL_TO:
            total = searcher.count(selection)
        stored = searcher.storedFields()
        loaded = stored_fields(*CHUNK_FIELDS)
        results = []
        for score_doc in list(found.scoreDocs)[offset:]:
            ranked = ScoreDoc.cast_(score_doc)
            chunk = from_lucene(stored.document(ranked.doc, loaded), folders)
            hit = {
                **vars(chunk),
                "content": chunk.content if content == "full" else None,
                "score": 1.0 if query_matches_all(query) else ranked.score,
                "passages": passages(query, chunk.content, analyzer)
                if content == "passages"
                else None,
            }
            results.append(Hit(**hit))
    return SearchAnswer(query=text, totalHits=total, results=results)


def query_matches_all(query: Any) -> bool:
    """Whether a query browses: it matches every chunk, each with the same score."""
    return bool(MatchAllDocsQuery.instance_(query))


def _top(searcher: Any, query: Any, selection: Any, count: int) -> Any:
    if query_matches_all(query):
        return searcher.search(selection, count, document_order())
    return searcher.search(selection, count)


def document_order() -> Any:
    """Sort by document id, then by place in the document."""
    return Sort(
        [
            SortField(schema.SOURCE_DOCUMENT, SortField.Type.STRING),
            SortField(schema.CHUNK_INDEX, SortField.Type.INT),
        ]
    )
