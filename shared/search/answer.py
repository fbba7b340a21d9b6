"""Execution of a query and collection of its hits."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from org.apache.lucene.search import MatchAllDocsQuery, ScoreDoc, TotalHits

from shared.java.cancellation import check, is_ending
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import Facet, Hit, SearchAnswer
from shared.query.limits import running
from shared.query.pipeline import ParsedQuery, parse_query
from shared.query.plain_language import notes_on_folders
from shared.query.steps.spelling import Correction, more_frequent_words
from shared.search.confidence import FIRST_HITS, LOW, confidences
from shared.search.facets import count_facets
from shared.search.filter_query import filtered
from shared.search.highlighting import Passages
from shared.search.meaning.query_meaning import Meaning, meaning_of
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.ranking import best_first, scored
from shared.search.sorting import document_order, order
from shared.search.spelling import as_written
from shared.storage.commits import Snapshot
from shared.storage.mapping import CHUNK_FIELDS, counted_from_lucene, stored_fields

_FEW_HITS: Final = 3
"""Maximum number of hits of a poor answer, which gets a suggestion."""


def search(snapshot: Snapshot, request: SearchRequest) -> SearchAnswer:
    """Answer a query.

    Args:
        snapshot: the commit to be searched.
        request: the search request.

    Raises:
        QueryParseError: the query is not valid syntax.
        QueryError: the query is too long or too large.
        InvalidTextError: the query is not valid Unicode.
        FilterError: a filter, a facet or the sort order does not fit the index.
    """
    query = parse_query(request, snapshot)
    if query.lucene.costly:
        snapshot = snapshot.stoppable()
    searcher = snapshot.searcher
    request = replace(request, filters=(*request.filters, *query.read.filters))
    selection = filtered(query.lucene.ranked, request.filters, snapshot)
    with running():
        meaning = meaning_of(snapshot, query, request)
        allowed = (
            filtered(MatchAllDocsQuery(), request.filters, snapshot) if request.filters else None
        )
        best, total_hits, found, added = _found(
            searcher, query, selection, request, meaning, allowed
        )
        total = total_hits.value()
        if total_hits.relation() != TotalHits.Relation.EQUAL_TO and not searcher.timedOut():
            total = searcher.count(filtered(query.lucene.matching, request.filters, snapshot))
        total += added
        shown = found[request.offset : request.offset + request.limit]
        likely = confidences(searcher, query, [*best, *shown])
        hits = _hits(snapshot, shown, query, request)
        rated = zip(hits, likely[len(best) :], strict=True)
        facets = _facets(snapshot, query, request)
        low_confidence = max(likely[: len(best)], default=0.0) < LOW
        is_poor = low_confidence or total <= _FEW_HITS
        meant = list(more_frequent_words(snapshot.reader, query.similar.rare)) if is_poor else []
        corrections = query.similar.corrections
        return SearchAnswer(
            query=request.query,
            totalHits=total,
            low_confidence=low_confidence,
            results=[
                Hit(**hit, confidence=confidence)
                for hit, confidence in rated
                if confidence >= request.min_confidence
            ],
            suggestion=_suggestion(searcher, request.query, [*corrections, *meant]),
            suggestion_applied=bool(corrections) and not meant,
            facets=facets,
            partial=bool(searcher.timedOut()) or is_ending(),
            note=note_on(query, snapshot),
            rewritten=request.rewritten,
        )


def note_on(query: ParsedQuery, snapshot: Snapshot) -> str | None:
    """Return the note on the interpretation of a query; None if there is none.

    The first answer without a model that the index has vectors of says so.
    """
    problem = snapshot.encoder.take_problem() if snapshot.encoder else None
    notes = (*query.read.notes, *notes_on_folders(query.read.filters, snapshot))
    by_words = [f"Ranked by words only: {problem}."] if problem else []
    return " ".join((*notes, *by_words)) or None


def _facets(snapshot: Snapshot, query: ParsedQuery, request: SearchRequest) -> list[Facet]:
    """Return the facets; empty if the search was stopped, as counts would be partial."""
    searcher = snapshot.searcher
    if searcher.timedOut() or is_ending():
        return []
    facets = count_facets(snapshot, query.lucene.matching, request.facets, request.filters)
    return [] if searcher.timedOut() or is_ending() else facets


def _found(
    searcher: Any,
    query: ParsedQuery,
    selection: Any,
    request: SearchRequest,
    meaning: Meaning | None,
    allowed: Any | None,
) -> tuple[Sequence[RankedHit], Any, Sequence[RankedHit], int]:
    """Return the hits with the highest scores, the total number of hits, and the first of them.

    The last number is that of the hits without a word of the query, which are not in the total.

    The hits with the highest scores decide `low_confidence` on every page; the first hits in the
    order of the request include those before the offset.
    """
    count = max(request.offset + request.limit, FIRST_HITS)
    by_score = request.sort == BY_SCORE
    if query.browses or not by_score:
        reader = searcher.getIndexReader()
        in_order = document_order() if by_score else order(request.sort, reader)
        top = searcher.search(selection, count, in_order, True)
        found = [ScoreDoc.cast_(hit) for hit in top.scoreDocs]
        if query.browses:
            ranked = [RankedHit(hit.doc, 1.0, 1.0) for hit in found]
            return ranked[:FIRST_HITS], top.totalHits, ranked, 0
        ranking = best_first(searcher, query, selection, FIRST_HITS)
        return ranking.hits, top.totalHits, scored(searcher, query, ranking, found), 0
    ranking = best_first(searcher, query, selection, count, meaning, allowed)
    added = ranking.fusion.added if ranking.fusion else 0
    return ranking.hits[:FIRST_HITS], ranking.total_hits, ranking.hits, added


def _hits(
    snapshot: Snapshot,
    found: Sequence[Any],
    query: ParsedQuery,
    request: SearchRequest,
) -> Iterator[dict[str, Any]]:
    """Yield the values of each hit, without its confidence."""
    passages = Passages(query) if request.content in {"passages", "both"} else None
    marked = Passages(query) if request.content == "marked" else None
    stored = snapshot.searcher.storedFields()
    loaded = stored_fields(*CHUNK_FIELDS)
    for ranked in found:
        check()
        document = stored.document(ranked.doc, loaded)
        chunk, count = counted_from_lucene(document, snapshot.folders)
        yield {
            **vars(chunk),
            "content": marked.marked(chunk.content)
            if marked
            else chunk.content
            if request.content in {"full", "both"}
            else None,
            "score": ranked.score,
            "matched": "meaning" if ranked.is_by_meaning else None,
            "has_next": chunk.chunk_index < count,
            "has_previous": chunk.chunk_index > 1,
            "passages": passages.best_in(chunk.content) if passages else None,
        }


def _suggestion(searcher: Any, query: str, corrections: Sequence[Correction]) -> str | None:
    """Return a query with its corrections, in the spelling of the documents."""
    for correction in corrections:
        word = as_written(searcher, correction.suggestion)
        query = re.sub(rf"\b{re.escape(correction.word)}\b", word, query)
    return query if corrections else None
