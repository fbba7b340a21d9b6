"""Chunks whose vectors are nearest to one. Imports NumPy.

The signs of all vectors are compared first, and then the vectors with the most signs in common.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from org.apache.lucene.index import MultiBits
from org.apache.lucene.search import BooleanClause, BooleanQuery, ConstantScoreQuery, ScoreDoc

from shared.search.lucene.rescoring import scored_again
from shared.semantic.passages import KEY_BYTES
from shared.semantic.vectors import Vector, lengths_of, signs, unit_rows
from shared.storage.vectors import Vectors, all_vectors, stored_values

_CANDIDATES: Final = 500
"""Number of chunks with the most similar signs whose cosines are computed."""

_FEW_FILTERED: Final = 3_000
"""Number of chunks that pass the filters up to which their cosines are all computed."""

_BLOCK: Final = 8_192
"""Number of vectors whose signs are compared at once, so that the processor caches them."""

_MOST_TESTED: Final = 20_000
"""Maximum number of candidates that are tested against the filters."""


def nearest(
    searcher: Any, vector: Vector, count: int, least: float, allowed: Any | None = None
) -> dict[int, float]:
    """Return the cosines of the nearest chunks, by Lucene's number.

    Args:
        searcher: a Lucene searcher.
        vector: a vector of length 1.
        count: the maximum number of chunks.
        least: the least cosine.
        allowed: a query for the chunks that pass the filters; None without filters.
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
    """Vectors of chunks.

    Attributes:
        documents: Lucene's numbers of the chunks.
        rows: their vectors, one a row, as they are stored.
        lengths: the lengths of these.
    """

    documents: Sequence[int]
    rows: npt.NDArray[np.float32]
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
