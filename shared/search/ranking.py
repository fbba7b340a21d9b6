"""Ranking of hits in rounds: the best hits of the first round are rescored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from shared.query.tree import Node, Nothing, any_of, weighted
from shared.search.coverage import coverages
from shared.search.feedback import HITS, topic_terms, topic_words, unanswered
from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.recency import RECENT_HITS, Recency
from shared.search.selection import Found, Selection

if TYPE_CHECKING:
    from shared.search.meaning.fusion import Fusion

RESCORED: Final = 50
"""Number of hits that are rescored; with 100, a query of six words took half as long again."""


@dataclass(frozen=True)
class Ranking:
    """The hits with the highest scores.

    Attributes:
        found: the hits before they were rescored, with their number.
        hits: the best of them, best first.
        feedback: the common terms of the best hits, as added to the scores.
        rescored: the numbers of the hits that were rescored.
        fusion: how meaning took part in the scores; None if it did not.
        recency: how the scores fall with the age of a document; None if they do not.
    """

    found: Found
    hits: Sequence[RankedHit]
    feedback: Node = Nothing()  # noqa: RUF009 - it cannot change
    rescored: frozenset[int] = frozenset()
    fusion: "Fusion | None" = None
    recency: Recency | None = None


def best_first(
    selection: Selection,
    count: int,
    meaning: Meaning | None = None,
    recency: Recency | None = None,
) -> Ranking:
    """Find the hits with the highest scores.

    Args:
        selection: what the query and the filters of the search select.
        count: the maximum number of hits, from 1. For the same commit, a greater count only adds
            hits at the end.
        meaning: the meaning of the query; None to rank by words only.
        recency: how scores fall with the age of a document; None if they do not.
    """
    if recency is not None:
        ranking = best_first(selection, max(count, RECENT_HITS), meaning)
        aged = recency.applied(selection, ranking.hits)
        return replace(ranking, hits=aged[:count], recency=recency)
    if meaning is None:
        return _best_by_words(selection, count)
    # NumPy is imported only where meaning takes part.
    from shared.search.meaning.fusion import RESCORED as BY_MEANING, fused, nearest_only

    if meaning.alone:
        hits = nearest_only(meaning, count)
        return Ranking(Found(hits, len(hits), is_exact=True), hits)

    by_words = _best_by_words(selection, max(count, BY_MEANING))
    hits, fusion = fused(selection, meaning, by_words.hits)
    return replace(by_words, hits=hits[:count], fusion=fusion)


def _best_by_words(selection: Selection, count: int) -> Ranking:
    query = selection.query
    words = topic_words(query.telling) if query.weights.feedback else 0
    if isinstance(query.rescored, Nothing) and not words:
        found = selection.best(count)
        return Ranking(found, found.hits)
    found = selection.best(max(count, RESCORED))
    best, others = found.hits[:RESCORED], found.hits[RESCORED:]
    feedback = _feedback(selection, best, words) if words and best else Nothing()
    again = any_of(query.rescored, feedback)
    if best and not isinstance(again, Nothing):
        best = selection.scored_again(best, again)
    ranked = [*best, *others][:count]
    return Ranking(found, ranked, feedback, frozenset(hit.doc for hit in best))


def scored(selection: Selection, ranking: Ranking, hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Return hits in the same order, with the scores that they have in a ranking.

    Args:
        selection: the selection that the hits are of.
        ranking: the hits of the query with the highest scores.
        hits: any of its hits.
    """
    query = selection.query
    whole = any_of(query.tree, query.rescored, ranking.feedback)
    unscored = [replace(hit, score=0.0, words=0.0) for hit in hits]
    scores = {hit.doc: hit for hit in selection.scored_again(unscored, whole)}
    return [scores[hit.doc] for hit in hits]


def _feedback(selection: Selection, best: Sequence[RankedHit], words: int) -> Node:
    """Return the common terms of the best hits; `Nothing` if one of them is the answer."""
    query = selection.query
    shares = coverages(selection, query.parts, best[:HITS])
    weight = query.weights.feedback * unanswered(shares) * words
    return weighted(topic_terms(selection, best), weight) if weight else Nothing()
