"""Sentence models of the Hugging Face Hub, from a server on this machine with its protocol."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.errors import SemanticModelError
from shared.semantic.models import encoder_of, install, is_named, needs_preparation
from tests.hub_server import COMMIT, REPOSITORY, HubServer, hub
from tests.shared.semantic.test_folder_model import table_model, write_model
from tests.shared.semantic.vectors import query_vector, vectors_of

NAME = f"hub:{REPOSITORY}"
PINNED = f"{NAME}@{COMMIT}"
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def files_of(model: Path) -> dict[str, bytes]:
    descriptions: dict[str, Any] = {
        "config.json": {"hidden_size": 4, "max_position_embeddings": 512},
        "modules.json": MODULES,
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 100},
        "config_sentence_transformers.json": {"prompts": {"query": "ask: ", "document": "say: "}},
    }
    return {
        **{name: json.dumps(value).encode() for name, value in descriptions.items()},
        "onnx/model.onnx": (model / "model.onnx").read_bytes(),
        "tokenizer.json": (model / "tokenizer.json").read_bytes(),
        "pytorch_model.bin": b"never downloaded",
        "modeling.py": b"raise SystemExit",
    }


@pytest.fixture
def server(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HubServer]:
    model = write_model(tmp_path / "source", table_model())
    with hub(files_of(model), ["de", "fr"]) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def test_a_model_is_downloaded_once_and_pinned(server: HubServer, empty_cache: Path) -> None:
    assert needs_preparation(NAME)
    model = install(NAME)
    assert model.name == PINNED
    assert (model.dimensions, model.pooling, model.max_tokens) == (4, "mean", 100)
    assert (model.query_prefix, model.passage_prefix) == ("ask: ", "say: ")
    assert model.languages == ("de", "fr")
    assert set(server.sent) == server.files.keys() - {"pytorch_model.bin", "modeling.py"}
    (folder,) = empty_cache.iterdir()
    assert sorted(file.name for file in folder.iterdir()) == [
        *("mcp-lucene.json", "model.onnx", "tokenizer.json")
    ]
    assert not needs_preparation(PINNED)
    sent = len(server.sent)
    assert install(NAME) == model
    assert len(server.sent) == sent


def test_no_network_is_used_afterwards(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model = install(NAME)
    before = query_vector(encoder_of(model), "rent")
    server.shutdown()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    assert query_vector(encoder_of(model), "rent") @ before == pytest.approx(1)
    assert install(PINNED) == model
    with pytest.raises(SemanticModelError, match="did not send it"):
        install(NAME)


def test_the_vectors_are_those_of_the_model(server: HubServer) -> None:
    model = install(PINNED)
    assert np.linalg.norm(vectors_of(encoder_of(model), ["rent"])[0]) == pytest.approx(1)
    assert is_named(model, NAME)
    assert not is_named(model, f"{NAME}-2")


def test_a_smaller_model_is_preferred(server: HubServer) -> None:
    server.files["onnx/model_quantized.onnx"] = server.files["onnx/model.onnx"]
    install(NAME)
    assert "onnx/model.onnx" not in server.sent


def test_a_description_of_this_project_has_precedence(server: HubServer) -> None:
    server.files["mcp-lucene.json"] = b'{"dimensions": 4, "pooling": "cls"}'
    assert install(NAME).pooling == "cls"


@pytest.mark.parametrize("languages", [["multilingual"], []])
def test_a_model_may_know_all_languages(server: HubServer, languages: list[str]) -> None:
    server.languages = languages
    assert install(NAME).languages == ()


@pytest.mark.parametrize("file", ["onnx/model.onnx", "config.json"])
def test_a_file_that_is_not_the_one_shown_is_refused(
    server: HubServer, empty_cache: Path, file: str
) -> None:
    content = server.files[file]
    server.sends[file] = content[:-1] + bytes([content[-1] ^ 1])
    with pytest.raises(SemanticModelError, match=f"{file} is not the file that the hub shows"):
        install(NAME)
    assert not empty_cache.exists()


def test_a_model_that_changes_in_the_cache_is_another_one(
    server: HubServer, empty_cache: Path
) -> None:
    model = install(NAME)
    (file,) = empty_cache.glob("*/mcp-lucene.json")
    file.write_text(file.read_text().replace("mean", "cls"))
    with pytest.raises(SemanticModelError, match="not those that the index was embedded with"):
        encoder_of(model)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", {"auto_map": {"AutoModel": "modeling.Model"}}, "needs code of its own"),
        ("modules.json", [{"type": "modeling.Transformer"}], "not supported: modeling.Transf"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "not supported"),
        ("modules.json", [1], "not supported"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "another way than mean"),
        ("1_Pooling/config.json", [], "do not tell how it makes vectors"),
        ("config.json", {}, "do not tell how it makes vectors"),
        ("config.json", {"hidden_size": 5}, r"shape \(4,\), not \(5,\)"),
        ("config.json", {"hidden_size": "4"}, "should be a whole number"),
    ],
)
def test_a_model_that_is_more_than_its_files_is_refused(
    server: HubServer, empty_cache: Path, file: str, content: object, message: str
) -> None:
    server.files[file] = json.dumps(content).encode()
    with pytest.raises(SemanticModelError, match=message):
        install(NAME)
    assert not empty_cache.exists()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("onnx/model.onnx", "it has no ONNX file"),
        ("tokenizer.json", "it has no tokenizer"),
        ("1_Pooling/config.json", "do not tell how it makes vectors"),
    ],
)
def test_a_missing_file_is_named(server: HubServer, file: str, message: str) -> None:
    del server.files[file]
    with pytest.raises(SemanticModelError, match=message):
        install(NAME)


def test_a_description_that_is_not_json_is_named(server: HubServer) -> None:
    server.files["config.json"] = b"{"
    with pytest.raises(SemanticModelError, match=r"config\.json is not JSON"):
        install(NAME)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hub:somebody/nothing", "the hub has no such model"),
        (f"{NAME}@nowhere", "the hub has no such revision"),
        ("hub:somebody", "is named hub:OWNER/NAME"),
        ("hub:../../etc", "is named hub:OWNER/NAME"),
    ],
)
def test_a_model_that_does_not_exist_is_named(server: HubServer, name: str, message: str) -> None:
    with pytest.raises(SemanticModelError, match=message):
        install(name)


def test_a_model_that_is_not_in_the_cache_is_not_downloaded_by_a_search(
    server: HubServer, empty_cache: Path
) -> None:
    model = install(NAME)
    (folder,) = empty_cache.iterdir()
    folder.rename(empty_cache.parent / "elsewhere")
    sent = len(server.sent)
    with pytest.raises(SemanticModelError, match="it is not in the cache"):
        encoder_of(model)
    assert len(server.sent) == sent
