"""Vectors of the chunks of an index folder, and those that are nearest to a query.

To find the nearest, the signs of all vectors are compared first, and then the vectors with the most
signs in common. Imports NumPy.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from org.apache.lucene.index import MultiBits
from org.apache.lucene.search import BooleanClause, BooleanQuery, ConstantScoreQuery, ScoreDoc

from shared.query.lucene import scored_again
from shared.search.selection import ChunkVectors
from shared.semantic.encoder import Vector
from shared.storage.vectors import Sample, Vectors, Windows, all_vectors, sample, signs

_CANDIDATES: Final = 500
"""Number of windows with the most similar signs whose cosines are computed."""

_FEW_FILTERED: Final = 1_000
"""Number of chunks that pass the filters up to which their cosines are all computed."""

_BLOCK: Final = 8_192
"""Number of vectors whose signs are compared at once, so that the processor caches them."""

_MOST_TESTED: Final = 20_000
"""Maximum number of candidates that are tested against the filters."""


class FolderVectors(ChunkVectors):
    """The vectors of a commit, of the chunks that a query for those that pass filters allows."""

    def __init__(self, searcher: Any, allowed: Any | None = None) -> None:
        self._searcher, self._allowed = searcher, allowed
        self._reader = searcher.getIndexReader()

    @cached_property
    def _vectors(self) -> Vectors:
        return all_vectors(self._reader)

    @property
    def compared(self) -> int:
        return len(self._vectors.documents)

    def of(self, chunks: Iterable[int]) -> Windows:
        return self._vectors.of(self._reader, chunks)

    def sample(self) -> Sample:
        return sample(self._reader)

    def similar(self, vector: Vector) -> Sequence[int]:
        chunks = (
            _similar(self._vectors, vector, _CANDIDATES)
            if self._allowed is None
            else self._similar_allowed(vector)
        )
        live: Any = MultiBits.getLiveDocs(self._reader)
        return [chunk for chunk in chunks if live is None or live.get(chunk)]

    def _similar_allowed(self, vector: Vector) -> list[int]:
        """Return the chunks that pass the filters with the most signs in common with a query."""
        searcher, allowed = self._searcher, self._allowed
        total = int(searcher.count(allowed))
        if total <= _FEW_FILTERED:
            hits = searcher.search(allowed, max(1, total)).scoreDocs
            return [ScoreDoc.cast_(hit).doc for hit in hits]
        share = total / max(1, self._reader.numDocs())
        most = min(_MOST_TESTED, round(_CANDIDATES / share))
        candidates = _similar(self._vectors, vector, most)
        unscored = [ScoreDoc(document, 0.0) for document in candidates]
        must = BooleanClause.Occur.MUST
        test = BooleanQuery.Builder().add(ConstantScoreQuery(allowed), must).build()
        return [hit.doc for hit in scored_again(searcher, unscored, test) if hit.score > 0]


def _similar(vectors: Vectors, query: Vector, count: int) -> list[int]:
    """Return the chunks of the windows whose vectors have the most signs in common with a query."""
    if len(vectors.documents) <= count:
        return _listed(vectors.documents)
    own = signs(query[None], vectors.mean)
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
    # A histogram of so few different numbers is faster than a partition.
    most = int(np.searchsorted(np.cumsum(np.bincount(differing)), count))
    return _listed(vectors.documents[differing <= most][: 2 * count])


def _listed(documents: npt.NDArray[np.int64]) -> list[int]:
    return [int(document) for document in np.unique(documents)]
