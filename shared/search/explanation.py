"""Explanation of a query: the result of each step, its terms, and its scores."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, get_args

from java.util import HashSet
from org.apache.lucene.index import Term
from org.apache.lucene.search import Explanation, QueryVisitor

from shared.java.cancellation import check
from shared.messages import quantity
from shared.model.request import Detail, SearchRequest
from shared.model.search_results import (
    ExplainedHit,
    ExplainedStep,
    ExplainedTerm,
    QueryExplanation,
    ScorePart,
)
from shared.query.compiler import Compiler, values_with
from shared.query.limits import running
from shared.query.metadata_filters import shown
from shared.query.metadata_values import ValueWords
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Node, leaves
from shared.search.answer import note_on
from shared.search.lucene_selection import LuceneSelection
from shared.search.ranking import Ranking, best_first, recency
from shared.search.selection import RankedHit, Selection

if TYPE_CHECKING:
    from shared.search.meaning import Fusion

MAX_TERMS: Final = 200
"""Maximum number of listed terms; a pattern may match more."""

MAX_PARTS: Final = 20
"""Maximum number of listed parts of a hit's score, the greatest first."""

_WEIGHT: Final = "weight("

_FEEDBACK: Final = "terms of the best hits"
"""Name of what hits after the first one gain by their terms (`shared.search.feedback`)."""


class ScoreExplanation(Protocol):
    """How a score is made, as Lucene describes it: by a rule, from the scores of details."""

    @property
    def description(self) -> str: ...

    @property
    def score(self) -> float:
        """The value; 0 of what does not match."""

    @property
    def details(self) -> "Sequence[ScoreExplanation]": ...


class Explainer(ABC):
    """What an engine says about the terms and scores of a selection."""

    @abstractmethod
    def terms(self, tree: Node) -> list[ExplainedTerm]:
        """Return the terms of a tree that some chunk has, in any order."""

    @abstractmethod
    def scores(self, hits: Sequence[RankedHit]) -> Sequence[ScoreExplanation]:
        """Return how the score of each hit by words is made."""


def explain(
    selection: Selection, explainer: Explainer, request: SearchRequest, detail: Detail
) -> QueryExplanation:
    """Explain a search, and the scores of its hits from the request's offset on.

    Each level of detail includes those before it.

    Raises:
        QueryError: the query cannot be run.
    """
    query = selection.query
    levels: Sequence[Detail] = get_args(Detail)
    wanted = levels[: levels.index(detail) + 1]
    with running():
        count = request.offset + request.limit
        meaning, recent = selection.meaning(request), recency(request.recency)
        ranking = best_first(selection, count, meaning, recent)
        found = explainer.terms(query.tree) if "terms" in wanted else []
        terms = sorted(found, key=lambda term: (term.document_frequency, term.field, term.term))
        return QueryExplanation(
            query=request.query,
            parsed=" ".join(filter(None, (str(query.read.tree), shown(query.read.filters)))),
            total_hits=selection.count() + (ranking.fusion.added if ranking.fusion else 0),
            languages={code: round(weight, 3) for code, weight in query.languages.items()},
            steps=list(_steps(query, ranking)) if "steps" in wanted else [],
            terms=terms[:MAX_TERMS],
            hits=list(_hits(selection, explainer, ranking, request.offset))
            if "scores" in wanted
            else [],
            notice=quantity(more, "more term") if (more := len(terms) - MAX_TERMS) > 0 else None,
            note=note_on(selection),
        )


def _steps(query: ParsedQuery, ranking: Ranking) -> Iterator[ExplainedStep]:
    yield ExplainedStep("syntax", query.read.classic)
    if query.read.filters:
        yield ExplainedStep("filters", shown(query.read.filters))
    for step, tree in query.steps.items():
        yield ExplainedStep(step, str(tree))
    if fusion := ranking.fusion:
        vectors, added = quantity(fusion.compared, "vector"), quantity(fusion.added, "chunk")
        scale = f"weight {fusion.weight:.2f}, times the best score by words, {fusion.scale:.2f}"
        yield ExplainedStep("meaning", f"{scale}; compared with {vectors}; {added} added")
    if ranking.recency:
        half_life = ranking.recency.half_life
        yield ExplainedStep("recency", f"scores are halved with every {half_life:g} days of age")


def _hits(
    selection: Selection, explainer: Explainer, ranking: Ranking, offset: int
) -> Iterator[ExplainedHit]:
    expressions = {
        str(values_with(leaf, scored=False)): str(leaf)
        for leaf in leaves(selection.query.tree)
        if isinstance(leaf, ValueWords)
    }
    shown = ranking.hits[offset:]
    factors = ranking.recency.factors(selection, shown) if ranking.recency else [1.0] * len(shown)
    explained = explainer.scores(shown)
    known = zip(shown, factors, selection.chunks(shown), explained, strict=True)
    for aged, factor, (chunk, _), explanation in known:
        check()
        # A factor may be 0 for very old documents.
        ranked = replace(aged, score=aged.score / factor) if factor else aged
        found = list(_parts(explanation, expressions))
        if ranking.fusion:
            found = list(_fused_parts(ranked, found, ranking.fusion))
        elif ranked.score > ranked.words:
            found.append(ScorePart(_FEEDBACK, round(ranked.score - ranked.words, 4)))
        if ranking.recency:
            lost = aged.score - ranked.score if factor else -sum(part.score for part in found)
            found.append(ScorePart(f"recency, times {factor:.3f}", round(lost, 4)))
        parts = sorted(found, key=lambda part: -abs(part.score))
        yield ExplainedHit(chunk.id, aged.score, parts[:MAX_PARTS])


def _fused_parts(
    hit: RankedHit, parts: Sequence[ScorePart], fusion: "Fusion"
) -> Iterator[ScorePart]:
    """Yield the parts of a score by words and meaning, given those of the score by words."""
    share = 1 - fusion.weight
    for part in parts:
        yield ScorePart(part.match, round(share * part.score, 4))
    cosine = "unknown cosine" if hit.cosine is None else f"cosine {hit.cosine:.3f}"
    meaning = hit.score - share * hit.words
    if meaning:
        yield ScorePart(f"meaning, {cosine}", round(meaning, 4))


def _readable(match: str, expressions: Mapping[str, str]) -> str:
    """Return the text of a match, with words in place of the expressions made from them."""
    for expression, words in expressions.items():
        match = match.replace(f"ConstantScore({expression})", words).replace(expression, words)
    return match


def _parts(explanation: ScoreExplanation, expressions: Mapping[str, str]) -> Iterator[ScorePart]:
    """Yield the leaves of an explanation: one for each matching term, phrase or pattern."""
    score = explanation.score
    if not score:
        return
    description, details = _readable(explanation.description, expressions), explanation.details
    if description.startswith(_WEIGHT):
        match = description.removeprefix(_WEIGHT).partition(" in ")[0]
        yield ScorePart(match, round(score, 4))
    elif details and description.startswith("max of"):
        yield from _parts(max(details, key=lambda part: part.score), expressions)
    elif details and description.startswith(("sum of", "max plus")):
        for part in details:
            yield from _parts(part, expressions)
    else:
        yield ScorePart(description.partition(",")[0], round(score, 4))


class LuceneExplanation:
    """How a score is made, read from Lucene's explanation as far as somebody asks."""

    def __init__(self, explanation: Any) -> None:
        self._explanation = explanation

    @property
    def description(self) -> str:
        return str(self._explanation.getDescription())

    @cached_property
    def score(self) -> float:
        found = self._explanation
        return float(found.getValue().doubleValue()) if found.isMatch() else 0.0

    @cached_property
    def details(self) -> "list[LuceneExplanation]":
        details = self._explanation.getDetails()
        return [LuceneExplanation(Explanation.cast_(part)) for part in details]


class LuceneExplainer(Explainer):
    """Lucene, which names the terms of patterns, too."""

    def __init__(self, selection: LuceneSelection) -> None:
        self._selection = selection

    def terms(self, tree: Node) -> list[ExplainedTerm]:
        found = HashSet()
        rewritten = self._selection.searcher.rewrite(Compiler().query(tree))
        rewritten.visit(QueryVisitor.termCollector(found))
        terms = ((term.field(), term.text()) for term in map(Term.cast_, found))
        return [
            ExplainedTerm(field, text, frequency)
            for field, text in terms
            if (frequency := self._selection.terms.frequency(field, text))
        ]

    def scores(self, hits: Sequence[RankedHit]) -> list[LuceneExplanation]:
        searcher, ranked = self._selection.searcher, self._selection.ranked
        return [LuceneExplanation(searcher.explain(ranked, hit.doc)) for hit in hits]
