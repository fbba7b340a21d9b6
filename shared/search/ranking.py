"""Ranking of hits in rounds: the best hits of the first round are rescored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from org.apache.lucene.facet import FacetsCollectorManager
from org.apache.lucene.search import ScoreDoc, TotalHits

from shared.query.compiler import Compiler
from shared.query.index_terms import terms_of
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Node, Nothing, TermPhrase, any_of, leaves, weighted
from shared.search.coverage import coverages, scored_again
from shared.search.feedback import HITS, topic_terms, topic_words, unanswered
from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit

if TYPE_CHECKING:
    from shared.search.meaning.fusion import Fusion

RESCORED: Final = 50
"""Number of hits that are rescored; with 100, a query of six words took half as long again."""


@dataclass(frozen=True)
class Ranking:
    """The hits with the highest scores.

    Attributes:
        total_hits: the number of hits (``TotalHits``).
        hits: the best of them, best first.
        feedback: the common terms of the best hits, as added to the scores.
        rescored: Lucene's numbers of the hits that were rescored.
        fusion: how meaning took part in the scores; None if it did not.
    """

    total_hits: Any
    hits: Sequence[RankedHit]
    feedback: Node = Nothing()  # noqa: RUF009 - it cannot change
    rescored: frozenset[int] = frozenset()
    fusion: "Fusion | None" = None


def best_first(
    searcher: Any,
    query: ParsedQuery,
    selection: Any,
    count: int,
    meaning: Meaning | None = None,
    allowed: Any | None = None,
) -> Ranking:
    """Find the hits with the highest scores.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        selection: the same as a Lucene query, with the filters of the search.
        count: the maximum number of hits, from 1. For the same commit, a greater count only adds
            hits at the end.
        meaning: the meaning of the query; None to rank by words only.
        allowed: a query for the chunks that pass the filters; None without filters.
    """
    if meaning is None:
        return _best_by_words(searcher, query, selection, count)
    # NumPy is imported only where meaning takes part.
    from shared.search.meaning.fusion import RESCORED as BY_MEANING, fused, nearest_only

    if meaning.alone:
        hits = nearest_only(searcher, meaning, allowed, count)
        total = TotalHits(len(hits), TotalHits.Relation.EQUAL_TO)
        return Ranking(total, hits)

    by_words = _best_by_words(searcher, query, selection, max(count, BY_MEANING))
    hits, fusion = fused(searcher, query, meaning, by_words.hits, allowed)
    return replace(by_words, hits=hits[:count], fusion=fusion)


def _best_by_words(searcher: Any, query: ParsedQuery, selection: Any, count: int) -> Ranking:
    words = topic_words(query.telling) if query.weights.feedback else 0
    if query.lucene.rescoring is None and not words:
        found = _found(searcher, query, selection, count)
        hits = [ScoreDoc.cast_(hit) for hit in found.scoreDocs]
        return Ranking(found.totalHits, list(map(_ranked, hits)))
    found = _found(searcher, query, selection, max(count, RESCORED))
    hits = [ScoreDoc.cast_(hit) for hit in found.scoreDocs]
    best, others = hits[:RESCORED], hits[RESCORED:]
    terms = terms_of(searcher.getIndexReader())
    feedback = _feedback(searcher, query, best[:HITS], words) if words and best else Nothing()
    again = any_of(query.rescored, feedback)
    if best and not isinstance(again, Nothing):
        best = scored_again(searcher, best, Compiler(terms.query).query(again))
    ranked = list(map(_ranked, [*best, *others][:count]))
    return Ranking(found.totalHits, ranked, feedback, frozenset(hit.doc for hit in best))


def _ranked(hit: Any) -> RankedHit:
    return RankedHit(hit.doc, hit.score, hit.score)


def scored(
    searcher: Any, query: ParsedQuery, ranking: Ranking, hits: Sequence[Any]
) -> list[RankedHit]:
    """Return hits in the same order, with the scores that they have in a ranking.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        ranking: the hits of the query with the highest scores.
        hits: any of its hits (``ScoreDoc``).
    """
    compiler = Compiler(terms_of(searcher.getIndexReader()).query)
    whole = compiler.query(any_of(query.tree, query.rescored, ranking.feedback))
    unscored = [ScoreDoc(hit.doc, 0.0) for hit in hits]
    scores = {hit.doc: hit.score for hit in scored_again(searcher, unscored, whole)}
    return [RankedHit(hit.doc, scores[hit.doc], scores[hit.doc]) for hit in hits]


def _feedback(searcher: Any, query: ParsedQuery, best: Sequence[Any], words: int) -> Node:
    """Return the common terms of the best hits; `Nothing` if one of them is the answer."""
    weight = query.weights.feedback * unanswered(coverages(searcher, query.parts, best)) * words
    if not weight:
        return Nothing()
    terms = terms_of(searcher.getIndexReader())
    return weighted(topic_terms(searcher, best, terms), weight)


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
