"""Answers to queries: their hits, the spelling of what may have been meant, and explanations."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from shared.analysis.analyzers import tokens
from shared.java.cancellation import check, is_ending
from shared.model import metadata, schema
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import Hit, OtherHit, SearchAnswer, SimilarDocuments
from shared.query.limits import running
from shared.query.named_fields import notes_on_folders, notes_on_values
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
from shared.search.selection import (
    RECENT_HITS,
    Found,
    Meaning,
    RankedHit,
    Ranking,
    Recency,
    Selection,
)

_FEW_HITS: Final = 3  # of a poor answer, which gets a suggestion
_HITS_BY_WORDS: Final = 50  # that are looked at first for a page of documents
_HITS_BY_MEANING: Final = 250  # that search by meaning scores again, with those that it adds
_SHOWN_IDS: Final = 5  # of similar documents in a result

_OWN_VALUES: Final = {part.name for part in fields(OtherHit)} - {"file_path"}
"""Values of a hit that its document does not have in common with others."""

TEXTS_OF_A_WORD: Final = 5
"""Number of chunks that are examined for the spelling of a word: it is capitalized at the beginning
of a sentence."""

_WORD: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+")

_LETTERS_MORE: Final = 4  # of a word than its term has, for example due to combining accents


def search(selection: Selection, request: SearchRequest) -> SearchAnswer:
    """Answer a query by the chunks that it and the filters of the request select."""
    query = selection.query
    with running():
        meaning = meaning_of(selection, request)
        ranking, documents, groups = _page(selection, request, meaning)
        best, found = ranking.best[:FIRST_HITS], ranking.found
        total = found.total
        if not found.is_exact and not selection.is_stopped:
            total = selection.count()
        # Hits without a word of the query are not in the total.
        total += ranking.fusion.added if ranking.fusion else 0
        shown = [hit for group in groups for hit in group.hits]
        likely = confidences(selection, query, [*best, *shown])
        values = _values(selection, shown, likely[len(best) :], request, meaning)
        of_documents = request.group == "document"
        stopped = _is_partial(selection)
        facets = [] if stopped else selection.facets(request.facets, of_documents=of_documents)
        results = list(_results(groups, values, request))
        # The same hits decide on every page.
        low_confidence = max(likely[: len(best)], default=0.0) < LOW
        is_poor = low_confidence or total <= _FEW_HITS
        meant = list(more_frequent_words(selection.terms, query.spelling.rare)) if is_poor else []
        corrections = query.spelling.corrections
        suggestion = _suggestion(selection, request.query, [*corrections, *meant])
        is_partial = _is_partial(selection)
        return SearchAnswer(
            query=request.query,
            totalHits=total,
            low_confidence=low_confidence,
            results=results,
            suggestion=suggestion,
            suggestion_applied=bool(corrections) and not meant,
            # Counts of a search that was stopped would be partial.
            facets=[] if is_partial else facets,
            partial=is_partial,
            note=note_on(selection, request, total),
            rewritten=request.rewritten,
            total_documents=documents,
        )


def meaning_of(selection: Selection, request: SearchRequest) -> Meaning | None:
    """Return the meaning of the query; None if it is ranked by its words only."""
    model, encoder = selection.model, selection.encoder
    if request.search == "words" or model is None or encoder is None:
        return None
    from shared.semantic.models import missing_library

    if missing_library():
        # It keeps the reason, which the answer tells.
        encoder.encoder(model)
        return None
    # NumPy is imported only where meaning takes part.
    from shared.search.meaning import meaning_by

    return meaning_by(selection, model, encoder, request)


def _is_partial(selection: Selection) -> bool:
    return selection.is_stopped or is_ending()


def note_on(selection: Selection, request: SearchRequest, total: int) -> str | None:
    """Return the note on the interpretation of a query; None if there is none.

    If there are no hits, values of the request's filters that no document has are the reason.

    The first answer without a model that the index has vectors of says so.
    """
    read = selection.query.read
    problem = selection.take_problem()
    notes = list(read.notes)
    if read.filters:
        notes += notes_on_folders(read.filters, selection.has_no_file_in)
    if not total:
        notes += notes_on_values(request.filters, selection.terms)
    if problem:
        notes.append(f"Ranked by words only: {problem}.")
    return " ".join(notes) or None


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
    return best_first(selection, count, meaning, request.recency)


def best_first(
    selection: Selection,
    count: int,
    meaning: Meaning | None = None,
    half_life: float | None = None,
) -> Ranking:
    """Find so many of the best hits; a greater count only adds hits at the end."""
    if half_life is not None:
        ranking = best_first(selection, max(count, RECENT_HITS), meaning)
        recency = Recency(half_life, datetime.now(UTC))
        aged = recency.applied(selection, ranking.hits)[:count]
        return replace(ranking, hits=aged, best=aged, recency=recency)
    if meaning is None:
        found = selection.best(count)
        return Ranking(found, found.hits, found.hits)
    # NumPy is imported only where meaning takes part.
    from shared.search.meaning import RESCORED, fused, nearest_only

    if meaning.alone:
        near = nearest_only(meaning, count)
        return Ranking(Found(near, len(near), is_exact=True), near, near)
    found = selection.best(max(count, RESCORED), by_topic=False)
    together = fused(selection, meaning, found.hits)
    if together is None:
        return best_first(selection, count)
    every, fusion = together
    hits = every[:count]
    return Ranking(found, hits, hits, fusion)


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
        similar: Mapping[int, Sequence[str]] = {}
        if newest_only:
            ranking, similar = first_of_newest(selection, find, end)
            hits = [hit for hit in ranking.hits if hit.doc in similar][begin:end]
        else:
            ranking = find(end)
            hits = [*ranking.hits[begin:end]]
        shown = selection.scored(hits) if is_sorted else hits
        return ranking, None, [GroupedHits([hit], None, similar.get(hit.doc, ())) for hit in shown]
    least = _HITS_BY_MEANING if meaning else _HITS_BY_WORDS
    keeps_order = is_sorted or browses
    ranking, texts = first_of_documents(
        selection, find, end, least, newest_only=newest_only, keeps_order=keeps_order
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
    for group in groups:
        found = list(islice(values, len(group.hits)))
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
    own = {name: value for name, value in hit.items() if name in _OWN_VALUES}
    return {**own, "passages": passages and passages[:1]}


def _values(
    selection: Selection,
    found: Sequence[RankedHit],
    likely: Sequence[float],
    request: SearchRequest,
    meaning: Meaning | None,
) -> Iterator[dict[str, Any]]:
    """Yield the values of each hit, which comes with its confidence."""
    is_marked = request.content in {"passages", "both", "marked"}
    highlighter = Passages(selection.query, selection.terms) if is_marked else None
    chunks = selection.chunks(found)
    for ranked, confidence, (chunk, count) in zip(found, likely, chunks, strict=True):
        check()
        chunk["passages"] = None
        if highlighter:
            text, language = chunk["content"], str(chunk["metadata"].get(metadata.LANGUAGE, ""))
            if request.content == "marked":
                chunk["content"] = highlighter.marked(text, language)
            else:
                # If nothing in it matches, the window that is nearest in meaning is shown.
                window = ranked.near.window if ranked.near else None
                chunk["passages"] = highlighter.best_in(text, language, window)
        if request.content in {"none", "passages"}:
            chunk["content"] = None
        chunk["score"] = ranked.score
        chunk["confidence"] = confidence
        chunk["matched"] = "meaning" if meaning and ranked.is_by_meaning else None
        chunk["has_next"] = chunk["chunk_index"] < count
        chunk["has_previous"] = chunk["chunk_index"] > 1
        yield chunk


def _suggestion(selection: Selection, query: str, corrections: Sequence[Correction]) -> str | None:
    """Return a query with its corrections, in the spelling of the documents."""
    for correction in corrections:
        word = _as_written(selection, correction.suggestion)
        query = re.sub(rf"\b{re.escape(correction.word)}\b", word, query)
    return query if corrections else None


def _as_written(selection: Selection, term: str) -> str:
    """Return the most common spelling of a term in some chunks, since it has no case or accents."""
    for field in (schema.CONTENT, schema.TITLE):
        found: Counter[str] = Counter(
            word
            for text in selection.texts_with(field, term, TEXTS_OF_A_WORD)
            for word in _WORD.findall(text)
            # Folding a word takes far longer than seeing that it cannot have the term.
            if (word[0].lower() == term[0] or not word[0].isascii())
            and abs(len(word) - len(term)) <= _LETTERS_MORE
            and [token.text for token in tokens(word)] == [term]
        )
        if found:
            # On a tie the lower-case form is the word itself.
            return max(found, key=lambda form: (found[form], form.islower(), form))
    return term
