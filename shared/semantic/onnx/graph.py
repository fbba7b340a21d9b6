"""Writer of ONNX graphs: nodes, constants and the file around them.

The numbers of fields and types are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy.typing as npt

from shared.semantic.onnx.wire import field, varint

_IR_VERSION: Final = 9

_OPERATOR_SET: Final = 20
"""Version of ONNX's operators, the first one with ``Gelu``."""

_MICROSOFT: Final = "com.microsoft"
"""Domain of the operators that ONNX Runtime adds."""

_TYPES: Final = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
"""ONNX's number of each type of elements (``TensorProto.DataType``)."""

_FLOAT: Final = 1
_INT: Final = 2
"""ONNX's numbers of the types of attributes (``AttributeProto.AttributeType``)."""

Array: TypeAlias = npt.NDArray[Any]

Dimension = int | str
"""Length of an axis, or the name of one that is not fixed."""


class Graph:
    """A graph under construction; each operator is appended and returns the name of its output."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._count = 0

    def constant(self, value: Array) -> str:
        """Add a constant tensor and return its name."""
        name = self._name()
        dimensions = b"".join(map(varint, value.shape))
        little_endian = value.astype(value.dtype.newbyteorder("<"))
        tensor = [
            field(1, dimensions),
            field(2, _TYPES[value.dtype.name]),
            field(8, name),
            field(9, little_endian.tobytes()),
        ]
        self._constants.append(b"".join(tensor))
        return name

    def add(self, operator: str, *inputs: str, microsoft: bool = False, **attributes: float) -> str:
        """Append a node with one output, and return the name of the output.

        Args:
            operator: the name of the operator.
            inputs: the names of its inputs; "" for one that is left out.
            microsoft: whether the operator is one that ONNX Runtime adds.
            attributes: its attributes.
        """
        (name,) = self.add_many(operator, 1, *inputs, microsoft=microsoft, **attributes)
        return name

    def add_many(
        self,
        operator: str,
        outputs: int,
        *inputs: str,
        microsoft: bool = False,
        **attributes: float,
    ) -> list[str]:
        """Append a node with several outputs, and return their names; see `add`."""
        names = [self._name() for _ in range(outputs)]
        node = [field(1, name) for name in inputs]
        node += [field(2, name) for name in names]
        node += [field(4, operator)]
        node += [field(5, _attribute(key, value)) for key, value in attributes.items()]
        if microsoft:
            node.append(field(7, _MICROSOFT))
        self._nodes.append(b"".join(node))
        return names

    def file(self, input_: str, input_shape: Sequence[Dimension], output: str, size: int) -> bytes:
        """Return the file of the graph.

        Args:
            input_: the name of its input, of type int64.
            input_shape: the shape of this input.
            output: the name of its output, of type float32 and shape (1, `size`).
            size: the number of dimensions of a vector.
        """
        graph = [field(1, node) for node in self._nodes]
        graph += [
            field(2, "sentence_model"),
            *(field(5, constant) for constant in self._constants),
            field(11, _value(input_, "int64", input_shape)),
            field(12, _value(output, "float32", [1, size])),
        ]
        model = [
            field(1, _IR_VERSION),
            field(2, "mcp-lucene"),
            field(7, b"".join(graph)),
            field(8, field(1, "") + field(2, _OPERATOR_SET)),
            field(8, field(1, _MICROSOFT) + field(2, 1)),
        ]
        return b"".join(model)

    def _name(self) -> str:
        self._count += 1
        return f"t{self._count}"


def _attribute(name: str, value: float) -> bytes:
    number, kind = (2, _FLOAT) if isinstance(value, float) else (3, _INT)
    return field(1, name) + field(number, value) + field(20, kind)


def _value(name: str, element: str, shape: Sequence[Dimension]) -> bytes:
    dimensions = [field(1, field(1 if isinstance(one, int) else 2, one)) for one in shape]
    tensor = field(1, _TYPES[element]) + field(2, b"".join(dimensions))
    return field(1, name) + field(2, field(1, tensor))
