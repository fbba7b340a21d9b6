"""Execution of a query and collection of its hits."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from shared.java.cancellation import check, is_ending
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import Facet, Hit, SearchAnswer
from shared.query.limits import running
from shared.query.plain_language import notes_on_folders
from shared.query.steps.spelling import Correction, more_frequent_words
from shared.search.confidence import FIRST_HITS, LOW, confidences
from shared.search.highlighting import Passages
from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.ranking import best_first, scored
from shared.search.selection import Found, Selection
from shared.search.spelling import as_written

_FEW_HITS: Final = 3
"""Maximum number of hits of a poor answer, which gets a suggestion."""


def search(selection: Selection, request: SearchRequest) -> SearchAnswer:
    """Answer a query.

    Args:
        selection: the chunks that the query and the filters of the request select.
        request: the search request.

    Raises:
        QueryError: the query cannot be run.
        FilterError: a facet or the sort order does not fit the index.
    """
    query = selection.query
    with running():
        meaning = selection.meaning(request)
        best, found, hits, added = _found(selection, request, meaning)
        total = found.total
        if not found.is_exact and not selection.is_stopped:
            total = selection.count()
        total += added
        shown = hits[request.offset : request.offset + request.limit]
        likely = confidences(selection, query, [*best, *shown])
        rated = zip(_hits(selection, shown, request), likely[len(best) :], strict=True)
        facets = _facets(selection, request)
        low_confidence = max(likely[: len(best)], default=0.0) < LOW
        is_poor = low_confidence or total <= _FEW_HITS
        meant = list(more_frequent_words(selection.terms, query.similar.rare)) if is_poor else []
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
            suggestion=_suggestion(selection, request.query, [*corrections, *meant]),
            suggestion_applied=bool(corrections) and not meant,
            facets=facets,
            partial=selection.is_stopped or is_ending(),
            note=note_on(selection),
            rewritten=request.rewritten,
        )


def note_on(selection: Selection) -> str | None:
    """Return the note on the interpretation of a query; None if there is none.

    The first answer without a model that the index has vectors of says so.
    """
    read = selection.query.read
    problem = selection.take_problem()
    notes = (*read.notes, *notes_on_folders(read.filters, selection.has_no_file_in))
    by_words = [f"Ranked by words only: {problem}."] if problem else []
    return " ".join((*notes, *by_words)) or None


def _facets(selection: Selection, request: SearchRequest) -> list[Facet]:
    """Return the facets; empty if the search was stopped, as counts would be partial."""
    if selection.is_stopped or is_ending():
        return []
    facets = selection.facets(request.facets)
    return [] if selection.is_stopped or is_ending() else facets


def _found(
    selection: Selection, request: SearchRequest, meaning: Meaning | None
) -> tuple[Sequence[RankedHit], Found, Sequence[RankedHit], int]:
    """Return the hits with the highest scores, the hits with their number, and the first of them.

    The last number is that of the hits without a word of the query, which are not in the total.

    The hits with the highest scores decide `low_confidence` on every page; the first hits in the
    order of the request include those before the offset.
    """
    count = max(request.offset + request.limit, FIRST_HITS)
    browses = selection.query.browses
    if browses or request.sort != BY_SCORE:
        found = selection.in_order(request.sort, count)
        if browses:
            ranked = [RankedHit(hit.doc, 1.0, 1.0) for hit in found.hits]
            return ranked[:FIRST_HITS], found, ranked, 0
        ranking = best_first(selection, FIRST_HITS)
        return ranking.hits, found, scored(selection, ranking, found.hits), 0
    ranking = best_first(selection, count, meaning)
    added = ranking.fusion.added if ranking.fusion else 0
    return ranking.hits[:FIRST_HITS], ranking.found, ranking.hits, added


def _hits(
    selection: Selection, found: Sequence[RankedHit], request: SearchRequest
) -> Iterator[dict[str, Any]]:
    """Yield the values of each hit, without its confidence."""
    passages = Passages(selection.query) if request.content in {"passages", "both"} else None
    marked = Passages(selection.query) if request.content == "marked" else None
    for ranked, (chunk, count) in zip(found, selection.chunks(found), strict=True):
        check()
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


def _suggestion(selection: Selection, query: str, corrections: Sequence[Correction]) -> str | None:
    """Return a query with its corrections, in the spelling of the documents."""
    for correction in corrections:
        word = as_written(selection, correction.suggestion)
        query = re.sub(rf"\b{re.escape(correction.word)}\b", word, query)
    return query if corrections else None
