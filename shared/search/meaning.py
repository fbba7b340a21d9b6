"""The chunks nearest in meaning, and fusion of the scores by words and by meaning. Imports NumPy.

To find the nearest vectors, the signs of all are compared first, and then the vectors with the most
signs in common.

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
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from org.apache.lucene.index import MultiBits
from org.apache.lucene.search import BooleanClause, BooleanQuery, ConstantScoreQuery, ScoreDoc

from shared.query.lucene import scored_again
from shared.search.confidence import coverages, unanswered
from shared.search.selection import Meaning, RankedHit, Selection
from shared.semantic.passages import KEY_BYTES
from shared.semantic.vectors import Vector, lengths_of, signs, unit_rows
from shared.storage.vectors import Vectors, all_vectors, stored_values

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

_CANDIDATES: Final = 500
"""Number of chunks with the most similar signs whose cosines are computed."""

_FEW_FILTERED: Final = 3_000
"""Number of chunks that pass the filters up to which their cosines are all computed."""

_BLOCK: Final = 8_192
"""Number of vectors whose signs are compared at once, so that the processor caches them."""

_MOST_TESTED: Final = 20_000
"""Maximum number of candidates that are tested against the filters."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the scores of an answer were combined."""

    weight: float  # of the meaning, from 0 to 1
    scale: float  # the best score by words, with which cosines are multiplied; 1 without any
    unknown: float  # cosine of a chunk without a vector, if it has the best score by words
    compared: int  # the number of vectors that were compared to find the nearest; 0 for none
    added: int  # the number of hits without a word of the query

    def scored(self, hit: RankedHit, cosine: float | None) -> RankedHit:
        """Return a hit with its combined score; the cosine is None if it has no vector."""
        return RankedHit(hit.doc, self._score(hit, cosine), hit.words, cosine)

    def place(self, hit: RankedHit, cosine: float) -> tuple[float, int]:
        """Return a key that sorts a hit by its combined score, best first."""
        return -self._score(hit, cosine), hit.doc

    def _score(self, hit: RankedHit, cosine: float | None) -> float:
        # A chunk without a vector that has a lower score by words has a lower cosine, too.
        meant = self.unknown * hit.words / self.scale if cosine is None else max(0.0, cosine)
        return (1 - self.weight) * hit.words + self.weight * self.scale * meant


def fused(
    selection: Selection, meaning: Meaning, hits: Sequence[RankedHit]
) -> tuple[list[RankedHit], Fusion | None]:
    """Order hits by words and meaning, and add those that are nearest in meaning.

    The hits by words are best first: `RESCORED` of them if there are so many, or more. They stay as
    they are, and how they were scored is None, if nothing is known of their meaning.
    """
    searcher = meaning.searcher
    reader, allowed = searcher.getIndexReader(), meaning.allowed
    near = nearest(searcher, meaning.vector, NEAREST, LEAST_COSINE, allowed) if meaning.adds else {}
    head, tail = hits[:RESCORED], hits[RESCORED:]
    new = [RankedHit(doc, 0.0, 0.0) for doc in near.keys() - {hit.doc for hit in head}]
    added = selection.scored_again(new, selection.query.tree) if new else []
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
    """Return so many of the nearest chunks in meaning, whatever words they have."""
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
    """Return the weight of the meaning by the share of the query in each best hit by words."""
    if shares[0] < _ALL_WORDS:
        return _WITHOUT
    least, most = _WITH_ALL_WORDS
    return least + (most - least) * unanswered(shares)


def _moved(query: Vector, mean: Vector) -> Vector:
    """Return a query's vector moved towards the mean of those of the best hits."""
    moved: Vector = query + _FEEDBACK * mean / np.linalg.norm(mean)
    moved /= np.linalg.norm(moved)
    return moved


def _words_first(selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Put the hits without a word of the query behind the last one with all of them."""
    first = next(place for place, hit in enumerate(hits) if hit.is_by_meaning)
    later = [hit for hit in hits[first:] if not hit.is_by_meaning]
    shares = coverages(selection, later)
    whole = [hit.doc for hit, share in zip(later, shares, strict=True) if share >= _ALL_WORDS]
    if not whole:
        return list(hits)
    last = next(place for place, hit in enumerate(hits) if hit.doc == whole[-1])
    until = hits[: last + 1]
    return [
        *(hit for hit in until if not hit.is_by_meaning),
        *(hit for hit in until if hit.is_by_meaning),
        *hits[last + 1 :],
    ]


def nearest(
    searcher: Any, vector: Vector, count: int, least: float, allowed: Any | None = None
) -> dict[int, float]:
    """Return the cosines of so many of the nearest chunks, by Lucene's number, the nearest first.

    The vector has length 1; only chunks that match the allowed query, if there is one, count.
    """
    reader = searcher.getIndexReader()
    vectors = all_vectors(reader)
    if not len(vectors.documents):
        return {}
    documents = (
        _similar(vectors, vector, _CANDIDATES)
        if allowed is None
        else _similar_allowed(searcher, vectors, vector, allowed)
    )
    live: Any = MultiBits.getLiveDocs(reader)
    there = [document for document in documents if live is None or live.get(document)]
    found = stored_vectors(reader, there, vector).cosines(vector)
    near = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:count]
    return {document: cosine for document, cosine in near if cosine >= least}


def vector_of(value: bytes) -> Vector | None:
    """Return the vector of a stored value, with length 1; None if it has only a key."""
    stored = np.frombuffer(value, np.int8)[KEY_BYTES:]
    if not len(stored):
        return None
    row: Vector = unit_rows(stored[None])[0]
    return row


def _similar(vectors: Vectors, query: Vector, count: int) -> list[int]:
    """Return the chunks whose vectors have the most signs in common with a query's."""
    own = signs(query[None])
    differing = np.zeros(len(vectors.documents), np.uint16)
    both = np.empty(_BLOCK, np.uint64)
    bits = np.empty(_BLOCK, np.uint8)
    for begin in range(0, len(differing), _BLOCK):
        block = differing[begin : begin + _BLOCK]
        size = len(block)
        for stored, asked in zip(vectors.signs[:, begin : begin + size], own[:, 0], strict=True):
            np.bitwise_xor(stored, asked, out=both[:size])
            np.bitwise_count(both[:size], out=bits[:size])
            block += bits[:size]
    if len(differing) <= count:
        return _listed(vectors.documents)
    # A histogram of so few different numbers is faster than a partition.
    most = int(np.searchsorted(np.cumsum(np.bincount(differing)), count))
    return _listed(vectors.documents[differing <= most][: 2 * count])


def _similar_allowed(searcher: Any, vectors: Vectors, query: Vector, allowed: Any) -> list[int]:
    """Return the chunks that pass the filters and have the most signs in common with a query."""
    total = int(searcher.count(allowed))
    if total <= _FEW_FILTERED:
        hits = searcher.search(allowed, max(1, total)).scoreDocs
        return [ScoreDoc.cast_(hit).doc for hit in hits]
    share = total / max(1, searcher.getIndexReader().numDocs())
    candidates = _similar(vectors, query, min(_MOST_TESTED, round(2 * _CANDIDATES / share)))
    unscored = [ScoreDoc(document, 0.0) for document in candidates]
    test = BooleanQuery.Builder().add(ConstantScoreQuery(allowed), BooleanClause.Occur.MUST).build()
    return [hit.doc for hit in scored_again(searcher, unscored, test) if hit.score > 0]


def _listed(documents: npt.NDArray[np.int64]) -> list[int]:
    return [int(document) for document in documents]


@dataclass(frozen=True, slots=True, eq=False)
class StoredVectors:
    """Vectors of chunks."""

    documents: Sequence[int]  # Lucene's numbers of the chunks
    rows: npt.NDArray[np.float32]  # one vector a row, as they are stored
    lengths: npt.NDArray[np.float32]

    def cosines(self, query: Vector) -> dict[int, float]:
        """Return the cosines with a vector of length 1, by Lucene's number of the chunk."""
        cosines = (self.rows @ query) / self.lengths
        return dict(zip(self.documents, cosines.tolist(), strict=True))

    def mean_of(self, documents: Iterable[int]) -> Vector:
        """Return the mean of the vectors of some of the chunks, each with length 1."""
        places = [self.documents.index(document) for document in documents]
        mean: Vector = (self.rows[places] / self.lengths[places, None]).mean(axis=0)
        return mean


def stored_vectors(reader: Any, documents: Iterable[int], query: Vector) -> StoredVectors:
    """Return the vectors of those of some chunks that have one like a query's."""
    size = KEY_BYTES + len(query)
    found = {
        document: value
        for document, value in stored_values(reader, documents).items()
        if len(value) == size
    }
    stored = np.frombuffer(b"".join(found.values()), np.int8).reshape(len(found), size)
    rows = stored[:, KEY_BYTES:].astype(np.float32)
    return StoredVectors(list(found), rows, lengths_of(rows))
