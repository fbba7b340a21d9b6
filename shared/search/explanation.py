"""Explanations: how a query was read, and how the scores of its hits are made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, get_args

from shared.java.cancellation import check
from shared.messages import quantity
from shared.model.request import Detail, SearchRequest
from shared.model.search_results import ExplainedHit, ExplainedStep, QueryExplanation, ScorePart
from shared.query.limits import running
from shared.query.lucene import values_with
from shared.query.named_fields import shown_filters
from shared.query.pipeline import ParsedQuery
from shared.query.tree import ValueWords, leaves
from shared.search.answer import best_first, meaning_of, note_on
from shared.search.selection import Ranking, ScoreExplanation, Selection

_MOST_TERMS: Final = 200  # in an explanation; a pattern may match more
_MOST_PARTS: Final = 20  # of a hit's score, the greatest first
_WEIGHT: Final = "weight("
_FEEDBACK: Final = "terms of the best hits"  # what hits after the first one gain by them


def explain(selection: Selection, request: SearchRequest, detail: Detail) -> QueryExplanation:
    """Explain a search, and the scores of its hits from the request's offset on.

    Each level of detail includes those before it.
    """
    query = selection.query
    levels: Sequence[Detail] = get_args(Detail)
    wanted = levels[: levels.index(detail) + 1]
    with running():
        count = request.offset + request.limit
        meaning = meaning_of(selection, request)
        ranking = best_first(selection, count, meaning, request.recency)
        found = selection.explained_terms() if "terms" in wanted else []
        total = selection.count() + (ranking.fusion.added if ranking.fusion else 0)
        terms = sorted(found, key=lambda term: (term.document_frequency, term.field, term.term))
        return QueryExplanation(
            query=request.query,
            parsed=" ".join(
                filter(None, (str(query.read.tree), shown_filters(query.read.filters)))
            ),
            total_hits=total,
            languages={code: round(weight, 3) for code, weight in query.languages.items()},
            steps=list(_steps(query, ranking)) if "steps" in wanted else [],
            terms=terms[:_MOST_TERMS],
            hits=list(_explained(selection, ranking, request.offset)) if "scores" in wanted else [],
            notice=quantity(more, "more term") if (more := len(terms) - _MOST_TERMS) > 0 else None,
            note=note_on(selection, request, total),
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
