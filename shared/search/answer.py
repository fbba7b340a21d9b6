"""Execution of a query, collection of its hits, and the spelling of what may have been meant."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, Final

from shared.analysis.analyzers import tokens
from shared.java.cancellation import check, is_ending
from shared.model import metadata, schema
from shared.model.request import BY_SCORE, SearchRequest, Texts
from shared.model.search_results import (
    ChunkText,
    Facet,
    Hit,
    OtherHit,
    SearchAnswer,
    SimilarDocuments,
)
from shared.query.limits import running
from shared.query.named_fields import notes_on_folders
from shared.query.spelling import Correction, more_frequent_words
from shared.search.confidence import FIRST_HITS, LOW, confidences
from shared.search.grouping import (
    GroupedHits,
    by_score,
    first_of_documents,
    first_of_newest,
    in_groups,
    only_by_meaning,
)
from shared.search.highlighting import Passages
from shared.search.ranking import Ranking, best_first, recency, scored
from shared.search.selection import Meaning, RankedHit, Selection

_FEW_HITS: Final = 3
"""Maximum number of hits of a poor answer, which gets a suggestion."""

_HITS_BY_WORDS: Final = 50
"""Number of hits that are looked at first for a page of documents."""

_HITS_BY_MEANING: Final = 250
"""Number of hits that search by meaning scores again, with those that it adds."""

_SHOWN_IDS: Final = 5
"""Maximum number of ids of similar documents in a result."""

_OWN_VALUES: Final = {part.name for part in fields(OtherHit)} - {"file_path"}
"""Values of a hit that its document does not have in common with others."""

TEXTS_OF_A_WORD: Final = 5
"""Number of chunks that are examined for the spelling of a word: it is capitalized at the beginning
of a sentence."""

_WORD: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+")

_LETTERS_MORE: Final = 4
"""Maximum difference in length between a word and its term, for example due to combining
accents."""


def search(selection: Selection, request: SearchRequest) -> SearchAnswer:
    """Answer a query by the chunks that it and the filters of the request select."""
    query = selection.query
    with running():
        meaning = selection.meaning(request)
        ranking, documents, groups = _page(selection, request, meaning)
        best, found = ranking.best[:FIRST_HITS], ranking.found
        total = found.total
        if not found.is_exact and not selection.is_stopped:
            total = selection.count()
        # Hits without a word of the query are not in the total.
        total += ranking.fusion.added if ranking.fusion else 0
        shown = [hit for group in groups for hit in group.hits]
        likely = confidences(selection, query, [*best, *shown])
        rated = zip(_hits(selection, shown, request), likely[len(best) :], strict=True)
        values = iter([{**hit, "confidence": confidence} for hit, confidence in rated])
        facets = _facets(selection, request)
        # The same hits decide on every page.
        low_confidence = max(likely[: len(best)], default=0.0) < LOW
        is_poor = low_confidence or total <= _FEW_HITS
        meant = list(more_frequent_words(selection.terms, query.spelling.rare)) if is_poor else []
        corrections = query.spelling.corrections
        return SearchAnswer(
            query=request.query,
            totalHits=total,
            low_confidence=low_confidence,
            results=list(_results(groups, values, request)),
            suggestion=_suggestion(selection, request.query, [*corrections, *meant]),
            suggestion_applied=bool(corrections) and not meant,
            facets=facets,
            partial=selection.is_stopped or is_ending(),
            note=note_on(selection),
            rewritten=request.rewritten,
            total_documents=documents,
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
    facets = selection.facets(request.facets, of_documents=request.group == "document")
    return [] if selection.is_stopped or is_ending() else facets


def _ordered(
    selection: Selection, request: SearchRequest, meaning: Meaning | None, count: int
) -> Ranking:
    """Return so many hits in the order of a request, which include those before the offset."""
    count = max(count, FIRST_HITS)
    if selection.query.browses:
        found = selection.in_order(request.sort, count)
        hits = [RankedHit(hit.doc, 1.0, 1.0) for hit in found.hits]
        return Ranking(found, hits, hits)
    if request.sort != BY_SCORE:
        found = selection.in_order(request.sort, count)
        return Ranking(found, found.hits, best_first(selection, FIRST_HITS).hits)
    return best_first(selection, count, meaning, recency(request.recency))


def _page(
    selection: Selection, request: SearchRequest, meaning: Meaning | None
) -> tuple[Ranking, int | None, list[GroupedHits]]:
    """Return the first hits, the number of documents, and the results of a page.

    The number of documents is None if the results are single chunks.
    """
    begin, end = request.offset, request.offset + request.limit
    browses = selection.query.browses
    is_sorted = request.sort != BY_SCORE and not browses
    newest_only = request.versions == "newest"

    def find(count: int) -> Ranking:
        return _ordered(selection, request, meaning, count)

    if request.group == "none":
        ranking, similar = first_of_newest(selection, find, end) if newest_only else (find(end), {})
        hits = [hit for hit in ranking.hits if not newest_only or hit.doc in similar][begin:end]
        shown = scored(selection, hits) if is_sorted else hits
        return ranking, None, [GroupedHits([hit], None, similar.get(hit.doc, ())) for hit in shown]
    ranking, texts = first_of_documents(
        selection,
        find,
        end,
        _HITS_BY_MEANING if meaning else _HITS_BY_WORDS,
        newest_only=newest_only,
        keeps_order=is_sorted or browses,
    )
    groups = in_groups(selection, texts[begin:], ranking, is_sorted=is_sorted)
    if is_sorted:
        groups = [group.scored(selection) for group in groups]
    elif not browses and any(group.similar for group in groups):
        groups = by_score(selection, ranking, groups)
    documents = selection.count_documents()
    if ranking.fusion and ranking.fusion.added:
        documents += len(only_by_meaning(selection, ranking.hits))
    return ranking, documents, groups


def _results(
    groups: Sequence[GroupedHits], values: Iterator[dict[str, Any]], request: SearchRequest
) -> Iterator[Hit]:
    """Yield the results that are likely enough, with the values of all hits in order."""
    for group in groups:
        found = [next(values) for _ in group.hits]
        likely = [hit for hit in found if hit["confidence"] >= request.min_confidence]
        if not likely:
            continue
        ids = group.similar
        similar = SimilarDocuments(len(ids), [*ids[:_SHOWN_IDS]]) if ids else None
        if group.more is None:
            yield Hit(**likely[0], similar_documents=similar)
            continue
        others = [OtherHit(**_only_own(hit)) for hit in likely[1:]]
        more = group.more + len(found) - len(likely)
        yield Hit(**likely[0], others=others, more=more, similar_documents=similar)


def _only_own(hit: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a hit without those of its document, and with its best passage."""
    passages = hit["passages"]
    return {name: hit[name] for name in _OWN_VALUES} | {"passages": passages and passages[:1]}


def _hits(
    selection: Selection, found: Sequence[RankedHit], request: SearchRequest
) -> Iterator[dict[str, Any]]:
    """Yield the values of each hit, without its confidence."""
    is_marked = request.content in {"passages", "both", "marked"}
    highlighter = Passages(selection.query, selection.terms) if is_marked else None
    for ranked, (chunk, count) in zip(found, selection.chunks(found), strict=True):
        check()
        content, passages = _texts(chunk, highlighter, request.content)
        yield {
            **vars(chunk),
            "content": content,
            "score": ranked.score,
            "matched": "meaning" if ranked.is_by_meaning else None,
            "has_next": chunk.chunk_index < count,
            "has_previous": chunk.chunk_index > 1,
            "passages": passages,
        }


def _texts(
    chunk: ChunkText, highlighter: Passages | None, wanted: Texts
) -> tuple[str | None, list[str] | None]:
    """Return the content and the passages of a chunk, as far as they are wanted."""
    if highlighter is None:
        return (chunk.content if wanted == "full" else None), None
    language = str(chunk.metadata.get(metadata.LANGUAGE, ""))
    if wanted == "marked":
        return highlighter.marked(chunk.content, language), None
    passages = highlighter.best_in(chunk.content, language)
    return (chunk.content if wanted == "both" else None), passages


def _suggestion(selection: Selection, query: str, corrections: Sequence[Correction]) -> str | None:
    """Return a query with its corrections, in the spelling of the documents."""
    for correction in corrections:
        word = _as_written(selection, correction.suggestion)
        query = re.sub(rf"\b{re.escape(correction.word)}\b", word, query)
    return query if corrections else None


def _as_written(selection: Selection, term: str) -> str:
    """Return the most common spelling of a term in some chunks, since it has no case or accents."""
    for field in (schema.CONTENT, schema.TITLE):
        found = Counter(_forms(selection, field, term))
        if found:
            # On a tie the lower-case form is the word itself.
            return max(found, key=lambda form: (found[form], form.islower(), form))
    return term


def _forms(selection: Selection, field: str, term: str) -> Iterator[str]:
    for text in selection.texts_with(field, term, TEXTS_OF_A_WORD):
        for word in _WORD.findall(text):
            # Folding a word takes far longer than seeing that it cannot have the term.
            begins_alike = word[0].lower() == term[0] or not word[0].isascii()
            may_be = begins_alike and abs(len(word) - len(term)) <= _LETTERS_MORE
            if may_be and [token.text for token in tokens(word)] == [term]:
                yield word
