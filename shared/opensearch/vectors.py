"""Vectors of the windows of chunks, in documents of the cluster beside those of the chunks.

A document of the cluster can only be written as a whole, and the terms of a chunk are not stored.
So its vectors, which are made when it is found by words already, are a document of their own, with
the version of the chunk, so that both are hidden and deleted together, and the batch of whoever has
embedded it. They are only read by the ids of chunks that a call may see.
"""

import hashlib
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.chunk_documents import document_id
from shared.opensearch.connection import Operation
from shared.opensearch.snapshot import ClusterSnapshot
from shared.opensearch.state import Query, by_chance, version_of, visible
from shared.search.selection import ChunkVectors
from shared.semantic.sentence_model import SentenceModel
from shared.storage.vectors import SAMPLED, Sample, Windows, sample_of, windows_of

if TYPE_CHECKING:
    from shared.semantic.encoder import Vector

_KIND: Final = "vectors"

_VALUE: Final = f"stored.{schema.VECTOR}"


def kind_of(model: SentenceModel | None) -> str:
    """Return the kind of the documents with the vectors of a model; None has none."""
    if model is None:
        return _KIND
    made_by = hashlib.sha256((model.sha256 or model.dump()).encode()).hexdigest()
    return f"{_KIND}-{made_by[:16]}"


def are_vectors(model: SentenceModel | None) -> Query:
    """Return a condition that a document has the vectors of a chunk by a model."""
    return {"term": {layout.KIND: kind_of(model)}}


def are_of_others(model: SentenceModel | None) -> Query:
    """Return a condition that a document has the vectors of a chunk by another model."""
    is_any = {"prefix": {layout.KIND: _KIND}}
    return {"bool": {"filter": [is_any], "must_not": [are_vectors(model)]}}


def vectors_id(chunk: str, model: SentenceModel | None) -> str:
    """Return the id on the cluster of the vectors of a chunk, given by its own."""
    return f"{chunk}-{kind_of(model)}"


def vectors_operation(
    batch: int,
    model: SentenceModel | None,
    stored: Mapping[str, str],
    chunk: tuple[str, str] | None = None,
) -> Operation:
    """Return the operation by which a batch writes the vectors of a chunk.

    The chunk is given by its id on the cluster and its version if another batch has written it. The
    names that are stored with its vectors are for a batch that writes it again.
    """
    id_, version = chunk or (
        document_id(batch, stored[schema.ID]),
        version_of(batch, stored[schema.SOURCE_DOCUMENT]),
    )
    source = {layout.KIND: kind_of(model), layout.BATCH: batch, layout.VERSION: version}
    return {"index": {"_id": vectors_id(id_, model)}}, {**source, "stored": stored}


def value_in(stored: Mapping[str, str]) -> bytes:
    """Return the value of a chunk in what is stored of its vectors; empty if there is none."""
    try:
        return b64decode(stored[schema.VECTOR])
    except (KeyError, TypeError, ValueError):
        return b""


class ClusterVectors(ChunkVectors):
    """The vectors of the chunks that a search sees, which cannot be searched.

    It takes a function that runs searches, and one that returns the id on the cluster of a hit.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        ask: Callable[[Sequence[Mapping[str, Any]]], list[Any]],
        id_of: Callable[[int], str],
    ) -> None:
        self._snapshot, self._ask, self._id_of = snapshot, ask, id_of

    @property
    def compared(self) -> int:
        return 0

    def of(self, chunks: Iterable[int]) -> Windows:
        return self._windows({self._id_of(chunk): chunk for chunk in sorted(chunks)})

    def sample(self) -> Sample:
        known = self._snapshot.known
        if known.sample is None:
            # Of chunks, since nothing tells which collections vectors belong to.
            chosen = {"query": by_chance(self._snapshot.visible()), "size": SAMPLED}
            (answer,) = self._ask([{**chosen, "_source": False}])
            ids = (hit["_id"] for hit in answer["hits"]["hits"])
            known.sample = sample_of(self._windows({id_: of for of, id_ in enumerate(ids)}))
        return known.sample

    def similar(self, vector: "Vector") -> Iterable[int]:
        del vector
        return ()

    def _windows(self, numbers: Mapping[str, int]) -> Windows:
        """Return the windows of chunks, by numbers, that are given by their ids on the cluster."""
        model = self._snapshot.model
        wanted = {vectors_id(id_, model): number for id_, number in numbers.items()}
        found = {}
        if wanted:
            query = visible(self._snapshot.state, {"ids": {"values": [*wanted]}})
            (answer,) = self._ask([{"query": query, "size": len(wanted), "_source": [_VALUE]}])
            found = {hit["_id"]: hit["_source"].get("stored") for hit in answer["hits"]["hits"]}
        values = {number: value_in(found.get(id_) or {}) for id_, number in wanted.items()}
        return windows_of(values, model.dimensions if model else 0)
