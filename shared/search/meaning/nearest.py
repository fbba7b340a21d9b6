"""Chunks whose vectors are nearest to one. Imports NumPy.

The signs of all vectors are compared first, and then the vectors with the most signs in common.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from org.apache.lucene.index import MultiBits
from org.apache.lucene.search import BooleanClause, BooleanQuery, ConstantScoreQuery, ScoreDoc

from shared.search.coverage import scored_again
from shared.semantic.passages import KEY_BYTES
from shared.semantic.vectors import Vector, signs, unit_rows
from shared.storage.vectors import Vectors, all_vectors, stored_values

_CANDIDATES: Final = 500
"""Number of chunks with the most similar signs whose cosines are computed."""

_FEW_FILTERED: Final = 3_000
"""Number of chunks that pass the filters up to which their cosines are all computed."""

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
    found = cosines_of(unit_vectors(reader, there, vector), vector)
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
    for stored, asked in zip(vectors.signs, own, strict=True):
        differing += np.bitwise_count(stored ^ asked)
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


def unit_vectors(reader: Any, documents: Iterable[int], query: Vector) -> dict[int, Vector]:
    """Return the vectors of those of some chunks that have one, with length 1."""
    size = KEY_BYTES + len(query)
    found = [
        (document, value)
        for document, value in stored_values(reader, documents).items()
        if len(value) == size
    ]
    stored = np.frombuffer(b"".join(value for _, value in found), np.int8)
    rows = unit_rows(stored.reshape(len(found), size)[:, KEY_BYTES:])
    return {document: row for (document, _), row in zip(found, rows, strict=True)}


def cosines_of(rows: Mapping[int, Vector], query: Vector) -> dict[int, float]:
    """Return the cosines of vectors with a query's, by Lucene's number of the chunk."""
    if not rows:
        return {}
    products = np.stack(list(rows.values())) @ query
    return {document: float(cosine) for document, cosine in zip(rows, products, strict=True)}
