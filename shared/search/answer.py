"""Answers to queries: their hits, the spelling of what may have been meant, and explanations."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, get_args

from shared.analysis.analyzers import tokens
from shared.java.cancellation import check, is_ending
from shared.messages import quantity
from shared.model import metadata, schema
from shared.model.request import BY_SCORE, Detail, SearchRequest
from shared.model.search_results import (
    ExplainedHit,
    ExplainedStep,
    Hit,
    OtherHit,
    QueryExplanation,
    ScorePart,
    SearchAnswer,
    SimilarDocuments,
)
from shared.query.limits import running
from shared.query.lucene import values_with
from shared.query.named_fields import notes_on_folders, shown_filters
from shared.query.pipeline import ParsedQuery
from shared.query.spelling import Correction, more_frequent_words
from shared.query.tree import ValueWords, leaves
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
from shared.search.selection import Meaning, RankedHit, ScoreExplanation, Selection

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

_MOST_TERMS: Final = 200  # in an explanation; a pattern may match more
_MOST_PARTS: Final = 20  # of a hit's score, the greatest first
_WEIGHT: Final = "weight("
_FEEDBACK: Final = "terms of the best hits"  # what hits after the first one gain by them


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
            note=note_on(selection),
            rewritten=request.rewritten,
            total_documents=documents,
        )


def _is_partial(selection: Selection) -> bool:
    return selection.is_stopped or is_ending()


def note_on(selection: Selection) -> str | None:
    """Return the note on the interpretation of a query; None if there is none.

    The first answer without a model that the index has vectors of says so.
    """
    read = selection.query.read
    problem = selection.take_problem()
    notes = list(read.notes)
    if read.filters:
        notes += notes_on_folders(read.filters, selection.has_no_file_in)
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
        similar: Mapping[int, Sequence[str]] = {}
        if newest_only:
            ranking, similar = first_of_newest(selection, find, end)
            hits = [hit for hit in ranking.hits if hit.doc in similar][begin:end]
        else:
            ranking = find(end)
            hits = [*ranking.hits[begin:end]]
        shown = scored(selection, hits) if is_sorted else hits
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


def explain(selection: Selection, request: SearchRequest, detail: Detail) -> QueryExplanation:
    """Explain a search, and the scores of its hits from the request's offset on.

    Each level of detail includes those before it.
    """
    query = selection.query
    levels: Sequence[Detail] = get_args(Detail)
    wanted = levels[: levels.index(detail) + 1]
    with running():
        count = request.offset + request.limit
        meaning, recent = selection.meaning(request), recency(request.recency)
        ranking = best_first(selection, count, meaning, recent)
        found = selection.explained_terms() if "terms" in wanted else []
        terms = sorted(found, key=lambda term: (term.document_frequency, term.field, term.term))
        return QueryExplanation(
            query=request.query,
            parsed=" ".join(
                filter(None, (str(query.read.tree), shown_filters(query.read.filters)))
            ),
            total_hits=selection.count() + (ranking.fusion.added if ranking.fusion else 0),
            languages={code: round(weight, 3) for code, weight in query.languages.items()},
            steps=list(_steps(query, ranking)) if "steps" in wanted else [],
            terms=terms[:_MOST_TERMS],
            hits=list(_explained(selection, ranking, request.offset)) if "scores" in wanted else [],
            notice=quantity(more, "more term") if (more := len(terms) - _MOST_TERMS) > 0 else None,
            note=note_on(selection),
        )


def _steps(query: ParsedQuery, ranking: Ranking) -> Iterator[ExplainedStep]:
    yield ExplainedStep("syntax", query.read.classic)
    if query.read.filters:
        yield ExplainedStep("filters", shown_filters(query.read.filters))
    for step, tree in query.steps.items():
        yield ExplainedStep(step, str(tree))
    if fusion := ranking.fusion:
        vectors, added = quantity(fusion.compared, "vector"), quantity(fusion.added, "chunk")
        scale = f"weight {fusion.weight:.2f}, times the best score by words, {fusion.scale:.2f}"
        yield ExplainedStep("meaning", f"{scale}; compared with {vectors}; {added} added")
    if ranking.recency:
        half_life = ranking.recency.half_life
        yield ExplainedStep("recency", f"scores are halved with every {half_life:g} days of age")


def _explained(selection: Selection, ranking: Ranking, offset: int) -> Iterator[ExplainedHit]:
    expressions = {
        str(values_with(leaf, scored=False)): str(leaf)
        for leaf in leaves(selection.query.tree)
        if isinstance(leaf, ValueWords)
    }
    shown = ranking.hits[offset:]
    factors = ranking.recency.factors(selection, shown) if ranking.recency else [1.0] * len(shown)
    explained = selection.explained(shown)
    together = zip(shown, factors, selection.chunks(shown), explained, strict=True)
    for aged, factor, (chunk, _), explanation in together:
        check()
        # A factor may be 0 for very old documents.
        ranked = replace(aged, score=aged.score / factor) if factor else aged
        found = list(_parts(explanation, expressions))
        if ranking.fusion:
            share = 1 - ranking.fusion.weight
            found = [ScorePart(part.match, round(share * part.score, 4)) for part in found]
            if meant := ranked.score - share * ranked.words:
                known = f"cosine {aged.near.cosine:.3f}" if aged.near else "unknown cosine"
                found.append(ScorePart(f"meaning, {known}", round(meant, 4)))
        elif ranked.score > ranked.words:
            found.append(ScorePart(_FEEDBACK, round(ranked.score - ranked.words, 4)))
        if ranking.recency:
            lost = aged.score - ranked.score if factor else -sum(part.score for part in found)
            found.append(ScorePart(f"recency, times {factor:.3f}", round(lost, 4)))
        parts = sorted(found, key=lambda part: -abs(part.score))
        yield ExplainedHit(chunk["id"], aged.score, parts[:_MOST_PARTS])


def _parts(explanation: ScoreExplanation, expressions: Mapping[str, str]) -> Iterator[ScorePart]:
    """Yield the leaves of an explanation: one for each matching term, phrase or pattern.

    Words stand in place of the expressions that were made from them.
    """
    score, description = explanation.score, explanation.description
    if not score:
        return
    for expression, words in expressions.items():
        constant = f"ConstantScore({expression})"
        description = description.replace(constant, words).replace(expression, words)
    if description.startswith(_WEIGHT):
        match = description.removeprefix(_WEIGHT).partition(" in ")[0]
        yield ScorePart(match, round(score, 4))
        return
    details = explanation.details()
    if details and description.startswith("max of"):
        yield from _parts(max(details, key=lambda part: part.score), expressions)
    elif details and description.startswith(("sum of", "max plus")):
        for part in details:
            yield from _parts(part, expressions)
    else:
        yield ScorePart(description.partition(",")[0], round(score, 4))
