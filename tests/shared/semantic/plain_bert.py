"""BERT as its paper describes it, in plain NumPy and without quantization, to compare with."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from shared.semantic.vectors import Vector

Array = npt.NDArray[Any]


def plain_vector(
    tensors: Mapping[str, Array], ids: list[int], *, layers: int, heads: int
) -> Vector:
    """Return the normalized mean of the outputs for some tokens."""

    def dense(hidden: Array, name: str) -> Array:
        product: Array = hidden @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
        return product

    def normalized(hidden: Array, name: str) -> Array:
        centred = hidden - hidden.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        found: Array = centred / deviation * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
        return found

    hidden = tensors["embeddings.word_embeddings.weight"][ids]
    hidden = hidden + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = hidden + tensors["embeddings.token_type_embeddings.weight"][0]
    hidden = normalized(hidden, "embeddings.LayerNorm")
    size = hidden.shape[1] // heads
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            dense(hidden, f"{layer}.attention.self.{name}")
            .reshape(len(ids), heads, size)
            .transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        weights = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(size))
        weights /= weights.sum(-1, keepdims=True)
        context = (weights @ value).transpose(1, 0, 2).reshape(hidden.shape)
        attended = dense(context, f"{layer}.attention.output.dense") + hidden
        hidden = normalized(attended, f"{layer}.attention.output.LayerNorm")
        inner = dense(hidden, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        total = dense(inner, f"{layer}.output.dense") + hidden
        hidden = normalized(total, f"{layer}.output.LayerNorm")
    mean = hidden.mean(axis=0)
    found: Vector = (mean / np.linalg.norm(mean)).astype(np.float32)
    return found
