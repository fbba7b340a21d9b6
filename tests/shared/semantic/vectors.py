"""Vectors of texts that are known to have one."""

from collections.abc import Sequence

from shared.semantic.encoder import Encoder
from shared.semantic.vectors import Vector


def vectors_of(encoder: Encoder, texts: Sequence[str]) -> list[Vector]:
    """The vectors of passages, each of which has a token."""
    vectors = [vector for vector in encoder.passages(texts) if vector is not None]
    assert len(vectors) == len(texts)
    return vectors
