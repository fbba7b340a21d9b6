"""Ranking of hits in rounds: the best hits of the first round are rescored."""

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
"""Number of hits that are rescored; with 100, a query of six words took half as long again."""

ANSWERED: Final = 0.6
"""Share of a query in its best hit beyond which feedback weighs less; if the hit has all of it,
hits with merely common terms must not outrank it."""


@dataclass(frozen=True)
class Ranking:
    """The hits with the highest scores.

    Attributes:
        total_hits: the number of hits (``TotalHits``).
        hits: the best of them (``ScoreDoc``), best first.
        feedback: the common terms of the best hits, as added to the scores.
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
        selection: the same as a Lucene query, with the filters of the search.
        count: the maximum number of hits, from 1. For the same commit, a greater count only adds
            hits at the end.
        evidence: the evidence of the query, for the share of it in the best hit.
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
    """Return the best hits and their total number (``TopDocs``).

    If the query consists of phrases, all hits are counted in the same pass: comparing positions is
    the costliest part, and among so few hits hardly any can be skipped.
    """
    if not all(isinstance(leaf, TermPhrase) for leaf in leaves(query.tree)):
        return searcher.search(selection, count)
    return FacetsCollectorManager.search(
        searcher, selection, count, FacetsCollectorManager()
    ).topDocs()


def unanswered(hits: Sequence[Any], evidence: Evidence) -> float:
    """Return the distance of the best hit from a full answer.

    Args:
        hits: hits (``ScoreDoc``), best first.
        evidence: the evidence of the query.

    Returns:
        From 0, if it has the whole query, to 1.
    """
    return min(1.0, (1 - evidence.coverage(hits[0])) / (1 - ANSWERED)) if hits else 0.0
