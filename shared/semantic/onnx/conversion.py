"""Conversion of a BERT sentence model to ONNX with weights of 8 bits.

The graph is the encoder of BERT (Devlin et al. 2019, https://arxiv.org/abs/1810.04805) for one text
at a time, the mean of its outputs and their normalization (Reimers and Gurevych 2019,
https://arxiv.org/abs/1908.10084). Weights of matrices have a scale for each of their columns, since
one for a whole matrix distorts: a least cosine of .88 to the unconverted model instead of .97.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from shared.errors import SemanticModelError
from shared.semantic.onnx.graph import Graph

INPUT: Final = "input_ids"
"""Name of the input: the numbers of the tokens, of shape (1, tokens)."""

_MAX_WEIGHT: Final = 63
"""Greatest quantized weight, one bit less than fits: processors without VNNI add pairs of products
in 16 bits, which would overflow, so that vectors would depend on the processor."""

Array: TypeAlias = npt.NDArray[Any]


def convert(tensors: Mapping[str, Array], config: Mapping[str, Any], name: str) -> bytes:
    """Return a BERT model as an ONNX file from a text's tokens to its vector of length 1.

    Args:
        tensors: the weights by their names in the library transformers.
        config: the ``config.json`` of the model.
        name: the name of the file of the weights, for messages.

    Raises:
        SemanticModelError: a weight is missing, or its shape does not fit.
    """
    try:
        return _Bert(tensors, config).file()
    except KeyError as error:
        raise SemanticModelError(name, f"it has no weights {error}") from error
    except (TypeError, ValueError) as error:
        raise SemanticModelError(
            name, f"its weights do not fit its config.json ({error})"
        ) from error


class _Bert:
    """A graph of BERT under construction; axes of texts come first: (1, tokens, dimensions)."""

    def __init__(self, tensors: Mapping[str, Array], config: Mapping[str, Any]) -> None:
        self._tensors = tensors
        self._graph = Graph()
        self._size: int = config["hidden_size"]
        self._heads: int = config["num_attention_heads"]
        self._layers: int = config["num_hidden_layers"]
        self._epsilon: float = config["layer_norm_eps"]
        if config["hidden_act"] != "gelu" or config["model_type"] != "bert":
            raise ValueError("it is not a BERT with the activation gelu")

    def file(self) -> bytes:
        """Return the ONNX file of the whole model."""
        hidden = self._embedded()
        for layer in range(self._layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        add, axis = self._graph.add, self._axes(1)
        pooled = add("ReduceMean", hidden, axis, keepdims=0)
        length = add("ReduceL2", pooled, self._axes(1), keepdims=1)
        return self._graph.file(INPUT, [1, "tokens"], add("Div", pooled, length), self._size)

    def _embedded(self) -> str:
        """Append the sum of the embeddings of tokens, positions and the first segment."""
        add = self._graph.add
        words, scales = _quantized(self._tensors["embeddings.word_embeddings.weight"], axis=1)
        token = add("Cast", add("Gather", self._graph.constant(words), INPUT), to=1)
        scale = add("Gather", self._graph.constant(scales), INPUT)
        positions = (
            self._tensors["embeddings.position_embeddings.weight"]
            + self._tensors["embeddings.token_type_embeddings.weight"][0]
        )
        count = add("Shape", INPUT, start=1)
        position = add("Slice", self._graph.constant(positions), self._axes(0), count)
        total = add("Add", add("Mul", token, scale), position)
        return self._normalized(total, "embeddings.LayerNorm.")

    def _layer(self, hidden: str, prefix: str) -> str:
        add = self._graph.add
        own = f"{prefix}attention.self."
        names = ("query", "key", "value")
        # One product instead of three quantizes its input once.
        weight = np.concatenate([self._tensors[f"{own}{name}.weight"] for name in names])
        bias = np.concatenate([self._tensors[f"{own}{name}.bias"] for name in names])
        together = self._dense(hidden, weight, bias)
        parts = self._graph.add_many("Split", len(names), together, axis=2, num_outputs=len(names))
        context = add("MultiHeadAttention", *parts, microsoft=True, num_heads=self._heads)
        attended = self._sum(hidden, context, f"{prefix}attention.output.")
        inner = add("Gelu", self._dense_named(attended, f"{prefix}intermediate.dense."))
        return self._sum(attended, inner, f"{prefix}output.")

    def _sum(self, hidden: str, added: str, prefix: str) -> str:
        """Append a dense layer around which the hidden state is led, and normalize the sum."""
        total = self._graph.add("Add", self._dense_named(added, f"{prefix}dense."), hidden)
        return self._normalized(total, f"{prefix}LayerNorm.")

    def _dense_named(self, hidden: str, prefix: str) -> str:
        return self._dense(hidden, self._tensors[f"{prefix}weight"], self._tensors[f"{prefix}bias"])

    def _dense(self, hidden: str, weight: Array, bias: Array) -> str:
        """Append a product with a matrix of 8 bits; the hidden state is quantized on the way."""
        add = self._graph.add
        quantized, scales = _quantized(np.ascontiguousarray(weight.T), axis=0)
        small, scale, zero = self._graph.add_many("DynamicQuantizeLinear", 3, hidden)
        product = add("MatMulInteger", small, self._graph.constant(quantized), zero)
        # In this order ONNX Runtime makes one operation of all: DynamicQuantizeMatMul.
        factor = add("Mul", scale, self._graph.constant(scales.reshape(-1)))
        scaled = add("Mul", add("Cast", product, to=1), factor)
        return add("Add", scaled, self._graph.constant(bias))

    def _normalized(self, hidden: str, prefix: str) -> str:
        scale = self._graph.constant(self._tensors[f"{prefix}weight"])
        bias = self._graph.constant(self._tensors[f"{prefix}bias"])
        return self._graph.add(
            "LayerNormalization", hidden, scale, bias, axis=-1, epsilon=self._epsilon
        )

    def _axes(self, axis: int) -> str:
        return self._graph.constant(np.array([axis], np.int64))


def _quantized(weight: Array, axis: int) -> tuple[Array, Array]:
    """Return a matrix in 8 bits and its scales along the other axis, which stays with length 1."""
    scales = np.maximum(np.abs(weight).max(axis=axis, keepdims=True), 1e-12) / _MAX_WEIGHT
    return np.round(weight / scales).astype(np.int8), scales.astype(np.float32)
