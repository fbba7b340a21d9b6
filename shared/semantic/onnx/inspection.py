"""Inspection of ONNX files from elsewhere, before ONNX Runtime loads them.

A file may name operators of a library that would have to be loaded, and files with its weights
anywhere on the disk; neither is needed by a sentence model.
"""

from collections.abc import Iterator
from typing import Final

from shared.errors import SemanticModelError
from shared.semantic.onnx.wire import WireError, fields

_DOMAINS: Final = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
"""Domains of the operators that are part of ONNX Runtime."""

_MAX_DEPTH: Final = 20
"""Maximum depth of graphs within graphs, such as the branches of a condition."""

_GRAPH: Final = 7
_FUNCTION: Final = 25
_NODES_OF_FUNCTION: Final = 7
_NODE: Final = 1
_INITIALIZER: Final = 5
_SPARSE_INITIALIZER: Final = 15
_OPERATOR: Final = 4
_ATTRIBUTE: Final = 5
_DOMAIN: Final = 7
_TENSORS: Final = frozenset({5, 10})
_GRAPHS: Final = frozenset({6, 11})
_EXTERNAL_DATA: Final = 13
_DATA_LOCATION: Final = 14
"""Numbers of fields in ONNX's messages."""


def check_safe(content: bytes, name: str) -> None:
    """Check that a file needs nothing but itself and ONNX Runtime.

    Args:
        content: the ONNX file.
        name: the model as it was named, for messages.

    Raises:
        SemanticModelError: it has operators of another library, or its weights are in other files,
            or it is not an ONNX file.
    """
    try:
        problem = next(_problems_of_model(memoryview(content)), None)
    except WireError as error:
        raise SemanticModelError(
            name, f"it is not an ONNX file, or is cut short: {error}"
        ) from error
    if problem:
        raise SemanticModelError(name, problem)


def _problems_of_model(model: memoryview) -> Iterator[str]:
    found = dict.fromkeys((_GRAPH, _FUNCTION), 0)
    for number, value in fields(model):
        if isinstance(value, int):
            continue
        if number == _GRAPH:
            found[_GRAPH] += 1
            yield from _problems_of_graph(value, 0)
        elif number == _FUNCTION:
            for part, node in fields(value):
                if part == _NODES_OF_FUNCTION and not isinstance(node, int):
                    yield from _problems_of_node(node, 0)
    if not found[_GRAPH]:
        raise WireError("it has no graph")


def _problems_of_graph(graph: memoryview, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        yield "its graphs are nested too deeply"
        return
    for number, value in fields(graph):
        if isinstance(value, int):
            continue
        if number == _NODE:
            yield from _problems_of_node(value, depth)
        elif number == _INITIALIZER:
            yield from _problems_of_tensor(value)
        elif number == _SPARSE_INITIALIZER:
            yield "it has sparse weights, which sentence models do not have"


def _problems_of_node(node: memoryview, depth: int) -> Iterator[str]:
    operator = domain = ""
    for number, value in fields(node):
        if isinstance(value, int):
            continue
        if number == _OPERATOR:
            operator = _text(value)
        elif number == _DOMAIN:
            domain = _text(value)
        elif number == _ATTRIBUTE:
            yield from _problems_of_attribute(value, depth)
    if domain not in _DOMAINS:
        yield f"it needs the operator {operator[:40]} of {domain[:40]}, which is another library"


def _problems_of_attribute(attribute: memoryview, depth: int) -> Iterator[str]:
    for number, value in fields(attribute):
        if isinstance(value, int):
            continue
        if number in _GRAPHS:
            yield from _problems_of_graph(value, depth + 1)
        elif number in _TENSORS:
            yield from _problems_of_tensor(value)


def _problems_of_tensor(tensor: memoryview) -> Iterator[str]:
    for number, value in fields(tensor):
        if number == _EXTERNAL_DATA or (number == _DATA_LOCATION and value):
            yield "its weights are in another file; only a model in one file is loaded"


def _text(value: memoryview) -> str:
    return bytes(value).decode(errors="replace")
