import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import BPE, WordLevel

from shared.errors import SemanticModelError
from shared.semantic.encoder import OnnxEncoder
from shared.semantic.models import encoder_of, install, stored_vectors_of
from tests.shared.semantic.vectors import query_vector, vectors_of
from tests.systems import makes_links

LETTERS = {chr(code): code for code in range(128)}
"""Tokens of a tokenizer that knows no others, and leaves out what is none of them."""


def write_tokenizer(folder: Path, model: BPE | WordLevel) -> None:
    """Write a tokenizer that adds no token of its own."""
    Tokenizer(model).save(str(folder / "tokenizer.json"))


def write_model(folder: Path, model: bytes, **description: Any) -> Path:
    """Write a folder with a model, whose tokens are letters."""
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    write_tokenizer(folder, BPE(LETTERS, []))
    (folder / "mcp-lucene.json").write_text(json.dumps({"dimensions": 4, **description}))
    return folder


def table_model(value: float = 1.0, size: int = 4) -> bytes:
    """A model whose output for a token is a row of a table."""
    rows = np.random.default_rng(1).normal(size=(len(LETTERS), size)).astype(np.float32) * value
    return model_with(helper.make_node("Gather", ["rows", "input_ids"], ["vectors"]), rows)


def model_with(node: Any, rows: Any, location: str = "") -> bytes:
    """A model of one node, whose weights are in it, or in the file at a location."""
    tensor = numpy_helper.from_array(rows, "rows")
    if location:
        onnx.external_data_helper.set_external_data(tensor, location)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
    given = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
    found = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", "tokens", None])
    graph = helper.make_graph([node], "table", [given], [found], [tensor])
    operators = [helper.make_opsetid("", 20), helper.make_opsetid("org.example", 1)]
    content: bytes = helper.make_model(
        graph, opset_imports=operators, ir_version=10
    ).SerializeToString()
    return content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model", table_model(), pooling="mean")


def test_a_folder_is_a_model(folder: Path) -> None:
    model = install(str(folder))
    assert (model.pooling, model.languages) == ("mean", ())
    mean, deviation = model.unrelated
    # Texts of the same letters are alike.
    assert 0.5 < mean < 1
    assert deviation < 0.3
    assert np.linalg.norm(query_vector(encoder_of(model), "a few words")) == pytest.approx(1)


def test_prefixes_are_put_before_texts_and_long_ones_are_cut(folder: Path) -> None:
    without = OnnxEncoder(folder, "x")
    write_model(folder, table_model(), pooling="mean", query_prefix="query: ", max_tokens=20)
    cut = OnnxEncoder(folder, "x")
    asked = query_vector(cut, "rent")
    assert asked @ query_vector(without, "query: rent") == pytest.approx(1)
    assert vectors_of(cut, ["rent"])[0] @ query_vector(without, "rent") == pytest.approx(1)
    long = query_vector(cut, "rent" * 100)
    assert long @ query_vector(without, "query: rentrentrentr") == pytest.approx(1)
    assert cut.model.sha256 != without.model.sha256


def test_the_first_token_can_be_the_vector(folder: Path) -> None:
    write_model(folder, table_model(), pooling="cls")
    encoder = OnnxEncoder(folder, "x")
    assert query_vector(encoder, "rent") @ query_vector(encoder, "ray") == pytest.approx(1)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("{", "is not JSON"),
        ("[]", 'no "dimensions"'),
        ('{"dimensions": "4"}', "should be a whole number"),
        ('{"dimensions": true}', "should be a whole number"),
        ('{"dimensions": 0}', "dimensions should be from 1"),
        ('{"dimensions": 4, "pooling": "max"}', "pooling should be one of"),
        ('{"dimensions": 4, "max_tokens": 0}', "max_tokens should be at least 1"),
        ('{"dimensions": 4, "unrelated": [0.5, 0]}', "a mean and a standard deviation"),
        ('{"dimensions": 4, "unrelated": [0.5]}', "not enough values"),
        ('{"dimensions": 4, "prefix": ""}', 'unknown key "prefix".*upgrade'),
    ],
)
def test_a_wrong_description_is_named(folder: Path, description: str, message: str) -> None:
    (folder / "mcp-lucene.json").write_text(description)
    with pytest.raises(SemanticModelError, match=message):
        OnnxEncoder(folder, "x")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "mcp-lucene.json"])
def test_a_missing_or_cut_file_is_named(folder: Path, file: str) -> None:
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SemanticModelError):
        OnnxEncoder(folder, "x")
    (folder / file).unlink()
    with pytest.raises(SemanticModelError, match=file):
        OnnxEncoder(folder, "x")


def test_other_dimensions_are_refused(folder: Path) -> None:
    write_model(folder, table_model(size=5), pooling="mean")
    with pytest.raises(SemanticModelError, match=r"shape \(5,\), not \(4,\)"):
        OnnxEncoder(folder, "x").query("rent")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_outputs_that_are_no_vectors_are_refused(folder: Path, value: float) -> None:
    write_model(folder, table_model(value), pooling="mean")
    with pytest.raises(SemanticModelError, match="not finite, or zero"):
        OnnxEncoder(folder, "x").query("rent")


def test_a_text_without_a_token_has_no_vector(folder: Path) -> None:
    encoder = OnnxEncoder(folder, "x")
    (vector, none) = encoder.passages(["re", "🙂"])
    assert vector is not None
    assert none is None
    assert encoder.query("🙂") is None
    assert [*map(len, stored_vectors_of(install(str(folder)), ["re", "🙂"]))] == [4, 0]


def test_a_tokenizer_that_fails_is_named(folder: Path) -> None:
    write_tokenizer(folder, WordLevel({"rent": 1}, unk_token="[UNK]"))
    with pytest.raises(SemanticModelError, match="it failed: "):
        OnnxEncoder(folder, "x").passages(["deposit"])


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SemanticModelError, match="there is no such model or folder"):
        install(str(tmp_path / "none"))


GATHER = helper.make_node("Gather", ["rows", "input_ids"], ["vectors"])
ROWS = np.ones((len(LETTERS), 4), np.float32)


@pytest.mark.parametrize(
    "location", ["../weights", "{outside}", pytest.param("link", marks=makes_links)]
)
def test_weights_outside_the_folder_are_refused(folder: Path, location: str) -> None:
    outside = folder.parent / "weights"
    for file in (outside, folder / "inside"):
        file.write_bytes(ROWS.tobytes())
    install(str(write_model(folder, model_with(GATHER, ROWS, "inside"), pooling="mean")))
    if location == "link":
        (folder / "link").symlink_to(outside)
    write_model(folder, model_with(GATHER, ROWS, location.format(outside=outside)), pooling="mean")
    with pytest.raises(SemanticModelError, match=r"model\.onnx: .*External data path"):
        install(str(folder))


@pytest.mark.parametrize("domain", ["org.example", "com.nobody", ""])
def test_operators_that_are_none_of_the_library_s_are_refused(folder: Path, domain: str) -> None:
    node = helper.make_node("Evil", ["rows", "input_ids"], ["vectors"], domain=domain)
    write_model(folder, model_with(node, ROWS), pooling="mean")
    with pytest.raises(SemanticModelError, match=r"model\.onnx: .*Evil"):
        install(str(folder))


@pytest.mark.parametrize("content", [b"", b"not a model at all", b"\xff" * 100])
def test_a_file_that_is_no_model_is_refused(folder: Path, content: bytes) -> None:
    with pytest.raises(SemanticModelError, match=r"model\.onnx: "):
        install(str(write_model(folder, content)))
