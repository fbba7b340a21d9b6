"""The best hits of a query, in rounds: of the best of the first some count more after all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from org.apache.lucene.facet import FacetsCollectorManager
from org.apache.lucene.search import ScoreDoc

from shared.query.compiler import Compiler
from shared.query.index_terms import terms_of
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Node, Nothing, TermPhrase, leaves, weighted
from shared.search.coverage import Evidence, scored_again
from shared.search.feedback import topic_terms, topic_words

RESCORED: Final = 50
"""Hits whose score is looked at again; with 100, a query of six words took half as long again."""

ANSWERED: Final = 0.6
"""The share of a query in its best hit from which on feedback counts less; where the hit has all of
it, what others have in common must not come before it."""


@dataclass(frozen=True)
class Ranking:
    """The hits with the highest scores.

    Attributes:
        total_hits: how many hits there are (``TotalHits``).
        hits: the best of them (``ScoreDoc``), best first.
        feedback: what the best hits have in common, as it was added to the scores.
    """

    total_hits: Any
    hits: Sequence[Any]
    feedback: Node = Nothing()  # noqa: RUF009 - it cannot change


def best_first(
    searcher: Any, query: ParsedQuery, selection: Any, count: int, evidence: Evidence
) -> Ranking:
    """Find the hits with the highest scores.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        selection: the same as a query of Lucene, with the filters of the search.
        count: how many hits at most, from 1. As long as the index stays, a greater count only
            adds hits at the end.
        evidence: tells how much of the query a hit has.
    """
    gives_feedback = query.weights.feedback and topic_words(query.parsed)
    if query.lucene.rescoring is None and not gives_feedback:
        found = _found(searcher, query, selection, count)
        return Ranking(found.totalHits, [ScoreDoc.cast_(hit) for hit in found.scoreDocs])
    found = _found(searcher, query, selection, max(count, RESCORED))
    hits = [ScoreDoc.cast_(hit) for hit in found.scoreDocs]
    best, others = hits[:RESCORED], hits[RESCORED:]
    if query.lucene.rescoring is not None:
        best = scored_again(searcher, best, query.lucene.rescoring)
    feedback: Node = Nothing()
    weight = query.weights.feedback * unanswered(best, evidence) if gives_feedback else 0.0
    if weight:
        terms = terms_of(searcher.getIndexReader())
        feedback = weighted(topic_terms(searcher, query, best, terms), weight)
        if not isinstance(feedback, Nothing):
            best = scored_again(searcher, best, Compiler(terms.query).query(feedback))
    return Ranking(found.totalHits, [*best, *others][:count], feedback)


def _found(searcher: Any, query: ParsedQuery, selection: Any, count: int) -> Any:
    """The best hits and how many there are (``TopDocs``).

    Phrases are counted to the last on the way: to compare positions takes longest, and of hits
    that are few already hardly any can be skipped.
    """
    if not all(isinstance(leaf, TermPhrase) for leaf in leaves(query.tree)):
        return searcher.search(selection, count)
    return FacetsCollectorManager.search(
        searcher, selection, count, FacetsCollectorManager()
    ).topDocs()


def unanswered(hits: Sequence[Any], evidence: Evidence) -> float:
    """How far the best hit is from what was asked for.

    Args:
        hits: hits (``ScoreDoc``), best first.
        evidence: tells how much of the query a hit has.

    Returns:
        From 0, where it has all of it, to 1.
    """
    return min(1.0, (1 - evidence.coverage(hits[0])) / (1 - ANSWERED)) if hits else 0.0
