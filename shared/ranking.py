"""The best hits of a query, in two rounds: of the best of the first some count more after all."""

from collections.abc import Sequence
from typing import Any, Final

from org.apache.lucene.search import QueryRescorer, ScoreDoc, TopDocs

from shared.query.pipeline import ParsedQuery

RESCORED: Final = 50
"""Hits whose score is looked at again; with 100, a query of six words took half as long again."""


def best_first(
    searcher: Any, query: ParsedQuery, selection: Any, count: int
) -> tuple[Any, Sequence[Any]]:
    """The hits with the highest scores.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        selection: the same as a query of Lucene, with the filters of the search.
        count: how many hits at most, from 1. As long as the index stays, a greater count only
            adds hits at the end.

    Returns:
        How many hits there are (``TotalHits``), and the best of them (``ScoreDoc``).
    """
    if query.rescoring is None:
        found = searcher.search(selection, count)
        return found.totalHits, _hits(found)
    found = searcher.search(selection, max(count, RESCORED))
    first = _hits(found)
    best = TopDocs(found.totalHits, first[:RESCORED])
    # The class has a method of this name, too, hence JCC's underscore.
    again = QueryRescorer.rescore_(searcher, best, query.rescoring, 1.0, RESCORED)
    return found.totalHits, (*_hits(again), *first[RESCORED:])[:count]


def _hits(found: Any) -> list[Any]:
    return [ScoreDoc.cast_(hit) for hit in found.scoreDocs]
