"""Ranking of hits by words, by meaning and by age."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.recency import RECENT_HITS, Recency
from shared.search.selection import Found, Selection

if TYPE_CHECKING:
    from shared.search.meaning.fusion import Fusion


@dataclass(frozen=True)
class Ranking:
    """The hits with the highest scores.

    Attributes:
        found: the hits by words, with their number.
        hits: the best of them, best first.
        fusion: how meaning took part in the scores; None if it did not.
        recency: how the scores fall with the age of a document; None if they do not.
    """

    found: Found
    hits: Sequence[RankedHit]
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
    found = selection.best(count)
    return Ranking(found, found.hits)


def scored(selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Return hits in the same order, with their scores by words.

    Args:
        selection: the selection that the hits are of.
        hits: any of its hits.
    """
    unscored = [replace(hit, score=0.0, words=0.0) for hit in hits]
    again = selection.scored_again(unscored, selection.query.tree)
    scores = {hit.doc: hit for hit in again}
    return [scores[hit.doc] for hit in hits]
