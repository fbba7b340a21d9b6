"""Vectors of texts that are known to have one."""

from collections.abc import Sequence

from shared.semantic.encoder import Encoder, Vector


def vectors_of(encoder: Encoder, texts: Sequence[str]) -> list[Vector]:
    """The vectors of passages, in a script that the model knows."""
    vectors = [vector for vector in encoder.passages(texts) if vector is not None]
    assert len(vectors) == len(texts)
    return vectors


def query_vector(encoder: Encoder, text: str) -> Vector:
    """The vector of a query, in a script that the model knows."""
    vector = encoder.query(text)
    assert vector is not None
    return vector
