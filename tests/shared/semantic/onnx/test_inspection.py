import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shared.errors import SemanticModelError
from shared.semantic.onnx.graph import Graph
from shared.semantic.onnx.inspection import check_safe
from shared.semantic.onnx.wire import field, fields, varint


def small_model() -> bytes:
    graph = Graph()
    table = graph.constant(np.ones((3, 4), np.float32))
    return graph.file("input_ids", [1, "tokens"], graph.add("Gather", table, "input_ids"), 4)


def model_with(graph: bytes) -> bytes:
    return field(1, 9) + field(7, graph)


NODE_OF_A_LIBRARY = field(4, "Evil") + field(7, "org.example")
EXTERNAL_TENSOR = field(8, "w") + field(14, 1) + field(13, field(1, "location") + field(2, "/etc"))


def test_an_own_model_is_safe() -> None:
    check_safe(small_model(), "x")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (model_with(field(1, NODE_OF_A_LIBRARY)), "operator Evil of org.example"),
        (model_with(field(5, EXTERNAL_TENSOR)), "weights are in another file"),
        (model_with(field(5, field(14, 1))), "weights are in another file"),
        (model_with(field(15, b"")), "sparse"),
        # In the branch of a condition.
        (
            model_with(field(1, field(4, "If") + field(5, field(6, field(1, NODE_OF_A_LIBRARY))))),
            "operator Evil",
        ),
        (
            model_with(field(1, field(4, "Constant") + field(5, field(5, EXTERNAL_TENSOR)))),
            "weights are in another file",
        ),
        (small_model() + field(25, field(7, NODE_OF_A_LIBRARY)), "operator Evil"),
        (b"", "no graph"),
        (b"not a model at all", "not an ONNX file"),
        (small_model()[:-10], "not an ONNX file"),
        (b"\xff" * 100, "no end"),
    ],
)
def test_an_unsafe_model_is_refused(model: bytes, message: str) -> None:
    with pytest.raises(SemanticModelError, match=message):
        check_safe(model, "x")


def test_deep_graphs_are_refused() -> None:
    graph = field(2, "inner")
    for _ in range(200):
        graph = field(1, field(4, "If") + field(5, field(6, graph)))
    with pytest.raises(SemanticModelError, match="nested too deeply"):
        check_safe(model_with(graph), "x")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_model_or_an_error(content: bytes) -> None:
    try:
        check_safe(content, "x")
    except SemanticModelError:
        return
    assert any(number == 7 for number, _ in fields(content))


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**63 - 1])
def test_numbers_are_read_as_they_are_written(number: int) -> None:
    ((_, found),) = fields(varint(1 << 3) + varint(number))
    assert found == number
