"""Fusion of the scores by words and by meaning. Imports NumPy.

A hit's score is (1 - w) times its score by words, plus w times the cosine of its vector and the
query's times the best score by words. Scores are combined, never ranks: a hit that is far better by
words stays far better (docs/measured/semantic.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from org.apache.lucene.index import MultiBits
from org.apache.lucene.search import BooleanClause, BooleanQuery, ConstantScoreQuery, ScoreDoc

from shared.query.compiler import Compiler
from shared.query.index_terms import terms_of
from shared.query.pipeline import ParsedQuery
from shared.search.coverage import coverages, scored_again
from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit
from shared.semantic.passages import KEY_BYTES
from shared.semantic.vectors import Vector, cosines, signs
from shared.storage.vectors import Vectors, all_vectors, stored_values

RESCORED: Final = 200
"""Number of hits by words that are scored by meaning, too."""

NEAREST: Final = 50
"""Number of chunks nearest in meaning that are added, whatever words they have."""

LEAST_COSINE: Final = 0.3
"""Cosine below which a chunk without a word of the query has nothing to do with it."""

_CANDIDATES: Final = 500
"""Number of chunks with the most similar signs whose cosines are computed."""

_FEW_FILTERED: Final = 3_000
"""Number of chunks that pass the filters up to which their cosines are all computed."""

_MOST_TESTED: Final = 20_000
"""Maximum number of candidates that are tested against the filters."""

_WITH_ALL_WORDS: Final = 0.45
_WITHOUT: Final = 0.75
"""Weights of the meaning if the best hit by words has all words of the query, and if not."""

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

    def score(self, hit: RankedHit) -> float:
        """Return the combined score of a hit."""
        cosine = self.unknown * hit.words / self.scale if hit.cosine is None else hit.cosine
        return (1 - self.weight) * hit.words + self.weight * self.scale * max(0.0, cosine)


def fused(
    searcher: Any,
    query: ParsedQuery,
    meaning: Meaning,
    hits: Sequence[RankedHit],
    allowed: Any | None,
) -> tuple[list[RankedHit], Fusion | None]:
    """Order hits by words and meaning, and add those that are nearest in meaning.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        meaning: its meaning.
        hits: the hits by words, best first: `RESCORED` of them if there are so many, or more.
        allowed: a query for the chunks that pass the filters; None without filters.

    Returns:
        The hits in their new order, and how they were scored; None if nothing is known of their
        meaning, so that they are as they were.
    """
    reader = searcher.getIndexReader()
    vectors = all_vectors(reader)
    nearest = _nearest(searcher, vectors, meaning, allowed) if meaning.adds else {}
    head, tail = hits[:RESCORED], hits[RESCORED:]
    there = {hit.doc for hit in head}
    added = _scored_by_words(searcher, query, nearest.keys() - there)
    known = _cosines(reader, meaning.vector, there) | nearest
    if not known:
        return list(hits), None
    together = [replace(hit, cosine=known.get(hit.doc)) for hit in (*head, *added)]
    best = max(head, key=lambda hit: hit.words, default=None)
    fusion = Fusion(
        weight=min(meaning.most, _weight(searcher, query, best)),
        scale=best.words if best and best.words > 0 else 1.0,
        unknown=max(0.0, *known.values()),
        compared=len(vectors.documents) if meaning.adds else 0,
        added=sum(hit.is_by_meaning for hit in together),
    )
    together = [replace(hit, score=fusion.score(hit)) for hit in together]
    together.sort(key=lambda hit: (-hit.score, hit.doc))
    if fusion.added:
        together = _words_first(searcher, query, together)
    moved = {hit.doc for hit in added}
    return [*together, *(hit for hit in tail if hit.doc not in moved)], fusion


def _weight(searcher: Any, query: ParsedQuery, best: RankedHit | None) -> float:
    if best is None:
        return _WITHOUT
    (share,) = coverages(searcher, query.parts, [best])
    return _WITH_ALL_WORDS if share >= _ALL_WORDS else _WITHOUT


def _words_first(searcher: Any, query: ParsedQuery, hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Put the hits without a word of the query behind the last one with all of them."""
    first = next(place for place, hit in enumerate(hits) if hit.is_by_meaning)
    later = [hit for hit in hits[first:] if not hit.is_by_meaning]
    shares = coverages(searcher, query.parts, later)
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


def _scored_by_words(
    searcher: Any, query: ParsedQuery, documents: Iterable[int]
) -> list[RankedHit]:
    """Return chunks with their scores by words, 0 for one without any of them."""
    unscored = [ScoreDoc(document, 0.0) for document in documents]
    if not unscored:
        return []
    compiler = Compiler(terms_of(searcher.getIndexReader()).query)
    scored = scored_again(searcher, unscored, compiler.query(query.tree))
    return [RankedHit(hit.doc, hit.score, hit.score) for hit in scored]


def _nearest(
    searcher: Any, vectors: Vectors, meaning: Meaning, allowed: Any | None
) -> dict[int, float]:
    """Return the cosines of the chunks that are nearest in meaning, by Lucene's number."""
    if not len(vectors.documents):
        return {}
    documents = (
        _similar(vectors, meaning.vector, _CANDIDATES)
        if allowed is None
        else _similar_allowed(searcher, vectors, meaning.vector, allowed)
    )
    reader = searcher.getIndexReader()
    live: Any = MultiBits.getLiveDocs(reader)
    there = [document for document in documents if live is None or live.get(document)]
    found = _cosines(reader, meaning.vector, there)
    near = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:NEAREST]
    return {document: cosine for document, cosine in near if cosine >= LEAST_COSINE}


def _similar(vectors: Vectors, query: Vector, count: int) -> list[int]:
    """Return the chunks whose vectors have the most signs in common with a query's."""
    own = signs(query[None])
    differing = np.zeros(len(vectors.documents), np.uint16)
    for stored, asked in zip(vectors.signs, own, strict=True):
        differing += np.bitwise_count(stored ^ asked)
    if len(differing) <= count:
        return _listed(vectors.documents)
    return _listed(vectors.documents[np.argpartition(differing, count)[:count]])


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


def _cosines(reader: Any, query: Vector, documents: Iterable[int]) -> dict[int, float]:
    """Return the cosines of those of some chunks that have a vector, by Lucene's number."""
    size = KEY_BYTES + len(query)
    found = [
        (document, value)
        for document, value in stored_values(reader, documents).items()
        if len(value) == size
    ]
    if not found:
        return {}
    rows = np.frombuffer(b"".join(value for _, value in found), np.int8).reshape(len(found), size)
    near = cosines(query, rows[:, KEY_BYTES:])
    return {document: float(cosine) for (document, _), cosine in zip(found, near, strict=True)}
