import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE, WordLevel

from shared.errors import SemanticModelError
from shared.semantic.encoder import OnnxEncoder
from shared.semantic.models import install
from shared.semantic.onnx.graph import Graph
from shared.semantic.passages import KEY_BYTES
from shared.semantic.worker import values_of
from tests.shared.semantic.vectors import vectors_of


def write_model(folder: Path, tokenizer: Path, model: bytes, **description: Any) -> Path:
    """Write a folder with a model, whose tokenizer is that of another one."""
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    shutil.copy(tokenizer / "tokenizer.json", folder)
    (folder / "mcp-lucene.json").write_text(json.dumps({"dimensions": 4, **description}))
    return folder


def table_model(value: float = 1.0, size: int = 4) -> bytes:
    """A model whose output for a token is a row of a table."""
    graph = Graph()
    rows = np.random.default_rng(1).normal(size=(30_522, size)).astype(np.float32) * value
    return graph.file(
        "input_ids",
        ["texts", "tokens"],
        graph.add("Gather", graph.constant(rows), "input_ids"),
        size,
    )


@pytest.fixture
def folder(tmp_path: Path, minilm_folder: Path) -> Path:
    return write_model(tmp_path / "model", minilm_folder, table_model(), pooling="mean")


def test_a_folder_is_a_model(folder: Path) -> None:
    encoder = install(str(folder))
    assert encoder.model.pooling == "mean"
    assert encoder.model.languages == ()
    vector = encoder.query("a few words")
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_prefixes_are_put_before_texts(folder: Path, minilm_folder: Path) -> None:
    without = OnnxEncoder(folder, "x")
    write_model(
        folder, minilm_folder, table_model(), pooling="mean", query_prefix="query: ", max_tokens=20
    )
    with_prefix = OnnxEncoder(folder, "x")
    assert with_prefix.query("rent") @ without.query("query: rent") == pytest.approx(1)
    assert vectors_of(with_prefix, ["rent"])[0] @ without.query("rent") == pytest.approx(1)
    assert with_prefix.model.sha256 != without.model.sha256


def test_the_first_token_can_be_the_vector(folder: Path, minilm_folder: Path) -> None:
    write_model(folder, minilm_folder, table_model(), pooling="cls")
    encoder = OnnxEncoder(folder, "x")
    assert encoder.query("rent") @ encoder.query("pay") == pytest.approx(1)


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
        ('{"dimensions": 4, "prefix": ""}', 'unknown key "prefix"'),
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


def test_other_dimensions_are_refused(folder: Path, minilm_folder: Path) -> None:
    write_model(folder, minilm_folder, table_model(size=5), pooling="mean")
    with pytest.raises(SemanticModelError, match=r"shape \(5,\), not \(4,\)"):
        OnnxEncoder(folder, "x").query("rent")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_outputs_that_are_no_vectors_are_refused(
    folder: Path, minilm_folder: Path, value: float
) -> None:
    write_model(folder, minilm_folder, table_model(value), pooling="mean")
    with pytest.raises(SemanticModelError, match="not finite, or zero"):
        OnnxEncoder(folder, "x").query("rent")


def write_tokenizer(folder: Path, model: BPE | WordLevel) -> None:
    """Replace the tokenizer by one that adds no token of its own."""
    Tokenizer(model).save(str(folder / "tokenizer.json"))


def test_a_text_without_a_token_has_no_vector(folder: Path) -> None:
    write_tokenizer(folder, BPE({"r": 1, "e": 2}, []))
    encoder = OnnxEncoder(folder, "x")
    vector, none = encoder.passages(["re", "🙂"])
    assert vector is not None
    assert none is None
    with pytest.raises(SemanticModelError, match="makes no token of the query"):
        encoder.query("🙂")
    values = values_of(install(str(folder)).model, ["re", "🙂"])
    assert list(map(len, values)) == [KEY_BYTES + 4, KEY_BYTES]


def test_a_tokenizer_that_fails_is_named(folder: Path) -> None:
    write_tokenizer(folder, WordLevel({"rent": 1}, unk_token="[UNK]"))
    with pytest.raises(SemanticModelError, match="its tokenizer failed: "):
        OnnxEncoder(folder, "x").passages(["deposit"])


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SemanticModelError, match="no such folder"):
        install(str(tmp_path / "none"))
