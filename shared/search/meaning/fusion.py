"""Fusion of the scores by words and by meaning. Imports NumPy.

A hit's score is (1 - w) times its score by words, plus w times the cosine of its vector and the
query's times the best score by words. Scores are combined, never ranks: a hit that is far better by
words stays far better.

Where the best hit by words lacks some of them, the query's vector is moved towards those of the
best hits (Rocchio 1971, Relevance feedback in information retrieval), and cosines are computed
again.
docs/measured/semantic.md has the effect of each constant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

import numpy as np
from org.apache.lucene.search import ScoreDoc

from shared.query.compiler import Compiler
from shared.query.lucene_terms import terms_of
from shared.query.pipeline import ParsedQuery
from shared.search.confidence import coverages
from shared.search.lucene.feedback import unanswered
from shared.search.lucene.rescoring import scored_again
from shared.search.meaning.nearest import nearest, stored_vectors
from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.selection import Selection
from shared.semantic.vectors import Vector
from shared.storage.vectors import all_vectors

RESCORED: Final = 200
"""Number of hits by words that are scored by meaning, too."""

NEAREST: Final = 50
"""Number of chunks nearest in meaning that are added, whatever words they have."""

LEAST_COSINE: Final = 0.3
"""Cosine below which a chunk without a word of the query has nothing to do with it."""

_WITHOUT: Final = 0.75
"""Weight of the meaning if the best hit by words lacks some of them."""

_WITH_ALL_WORDS: Final = (0.15, 0.45)
"""Weights of the meaning if the best hit by words has all of them: if the next ones have far fewer,
as if somebody looked for this very text, and if they have as many."""

_FEEDBACK: Final = 0.5
"""Distance by which the query's vector is moved towards those of the best hits."""

_FEEDBACK_HITS: Final = 5
"""Number of best hits towards which it is moved."""

_FIRST: Final = 5
"""Number of best hits by words that decide on the weight."""

_ALL_WORDS: Final = 0.999
"""Share of the query from which on a hit has all of it."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the scores of an answer were combined.

    Attributes:
        weight: the weight of the meaning, from 0 to 1.
        scale: the best score by words, with which cosines are multiplied; 1 without any.
        unknown: the cosine that a chunk without a vector is given if it has the best score by
            words, and less if it has less.
        compared: the number of vectors that were compared to find the nearest; 0 for none.
        added: the number of hits without a word of the query.
    """

    weight: float
    scale: float
    unknown: float
    compared: int
    added: int

    def scored(self, hit: RankedHit, cosine: float | None) -> RankedHit:
        """Return a hit with its combined score.

        Args:
            hit: the hit with its score by words.
            cosine: the cosine of its vector and the query's; None if it has no vector.
        """
        return RankedHit(hit.doc, self._score(hit, cosine), hit.words, cosine)

    def place(self, hit: RankedHit, cosine: float) -> tuple[float, int]:
        """Return a key that sorts a hit by its combined score, best first."""
        return -self._score(hit, cosine), hit.doc

    def _score(self, hit: RankedHit, cosine: float | None) -> float:
        meant = self.unknown * hit.words / self.scale if cosine is None else max(0.0, cosine)
        return (1 - self.weight) * hit.words + self.weight * self.scale * meant


def fused(
    selection: Selection,
    meaning: Meaning,
    hits: Sequence[RankedHit],
) -> tuple[list[RankedHit], Fusion | None]:
    """Order hits by words and meaning, and add those that are nearest in meaning.

    Args:
        selection: the selection that the hits are of.
        meaning: the meaning of its query.
        hits: the hits by words, best first: `RESCORED` of them if there are so many, or more.

    Returns:
        The hits in their new order, and how they were scored; None if nothing is known of their
        meaning, so that they are as they were.
    """
    query, searcher = selection.query, meaning.searcher
    reader, allowed = searcher.getIndexReader(), meaning.allowed
    near = nearest(searcher, meaning.vector, NEAREST, LEAST_COSINE, allowed) if meaning.adds else {}
    head, tail = hits[:RESCORED], hits[RESCORED:]
    added = _scored_by_words(meaning, query, near.keys() - {hit.doc for hit in head})
    together = [*head, *added]
    vectors = stored_vectors(reader, {hit.doc for hit in together}, meaning.vector)
    if not vectors.documents:
        return list(hits), None
    best = sorted(head, key=lambda hit: (-hit.words, hit.doc))[:_FIRST]
    shares = coverages(selection, best) if best else [0.0]
    has_all_words = shares[0] >= _ALL_WORDS
    weight = min(meaning.most, _weight(shares))
    scale = best[0].words if best and best[0].words > 0 else 1.0
    compared = len(all_vectors(reader).documents) if meaning.adds else 0
    cosines = vectors.cosines(meaning.vector)
    fusion = _fusion(together, cosines, weight, scale, compared)
    if not has_all_words:
        known = (hit for hit in together if hit.doc in cosines)
        first = nsmallest(_FEEDBACK_HITS, known, lambda hit: fusion.place(hit, cosines[hit.doc]))
        mean = vectors.mean_of(hit.doc for hit in first)
        cosines = vectors.cosines(_moved(meaning.vector, mean))
        fusion = _fusion(together, cosines, weight, scale, compared)
    scored = [fusion.scored(hit, cosines.get(hit.doc)) for hit in together]
    ordered = sorted(scored, key=lambda hit: (-hit.score, hit.doc))
    if fusion.added:
        ordered = _words_first(selection, ordered)
    moved = {hit.doc for hit in added}
    return [*ordered, *(hit for hit in tail if hit.doc not in moved)], fusion


def nearest_only(meaning: Meaning, count: int) -> list[RankedHit]:
    """Return the nearest chunks in meaning, whatever words they have.

    Args:
        meaning: the meaning of a query.
        count: the maximum number of chunks.
    """
    near = nearest(meaning.searcher, meaning.vector, count, -1.0, meaning.allowed)
    return [RankedHit(document, max(0.0, near[document]), 0.0, near[document]) for document in near]


def _fusion(
    hits: Sequence[RankedHit],
    cosines: Mapping[int, float],
    weight: float,
    scale: float,
    compared: int,
) -> Fusion:
    added = sum(not hit.words and hit.doc in cosines for hit in hits)
    return Fusion(weight, scale, max(0.0, *cosines.values()), compared, added)


def _weight(shares: Sequence[float]) -> float:
    """Return the weight of the meaning.

    Args:
        shares: the share of the query in each of the best hits by words.
    """
    if shares[0] < _ALL_WORDS:
        return _WITHOUT
    least, most = _WITH_ALL_WORDS
    return least + (most - least) * unanswered(shares)


def _moved(query: Vector, mean: Vector) -> Vector:
    """Return a query's vector moved towards the mean of those of the best hits."""
    moved: Vector = query + _FEEDBACK * mean / np.linalg.norm(mean)
    moved /= np.linalg.norm(moved)
    return moved


def _has_all_words(selection: Selection, hits: Sequence[RankedHit]) -> list[bool]:
    return [share >= _ALL_WORDS for share in coverages(selection, hits)]


def _words_first(selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Put the hits without a word of the query behind the last one with all of them."""
    first = next(place for place, hit in enumerate(hits) if hit.is_by_meaning)
    later = [hit for hit in hits[first:] if not hit.is_by_meaning]
    are_whole = _has_all_words(selection, later)
    whole = [hit.doc for hit, is_whole in zip(later, are_whole, strict=True) if is_whole]
    if not whole:
        return list(hits)
    last = next(place for place, hit in enumerate(hits) if hit.doc == whole[-1])
    until = hits[: last + 1]
    return [
        *(hit for hit in until if not hit.is_by_meaning),
        *(hit for hit in until if hit.is_by_meaning),
        *hits[last + 1 :],
    ]


def _scored_by_words(
    meaning: Meaning, query: ParsedQuery, documents: Iterable[int]
) -> list[RankedHit]:
    """Return chunks with their scores by words, 0 for one without any of them."""
    unscored = [ScoreDoc(document, 0.0) for document in documents]
    if not unscored:
        return []
    compiler = Compiler(terms_of(meaning.searcher.getIndexReader()).query)
    scored = scored_again(meaning.searcher, unscored, compiler.query(query.tree))
    return [RankedHit(hit.doc, hit.score, hit.score) for hit in scored]
