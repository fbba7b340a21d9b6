"""Search by meaning with a sentence model of the Hugging Face Hub, from the command line."""

import json
from pathlib import Path

import pytest

from shared import Document, Index
from shared.maintenance.embedding import embedding_state
from shared.semantic import minilm
from shared.semantic.models import cache_folder
from shared.settings.defaults import MODEL_CACHE_VARIABLE
from tests.conftest import Idx
from tests.hub_server import COMMIT, REPOSITORY, hub
from tests.idx.test_semantic import QUESTION, TEXTS


def test_a_model_is_downloaded_by_its_name_and_used_without_a_network(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    with Index(index, create=True) as open_index:
        for name, text in TEXTS.items():
            open_index.add(Document(name, name, text))
    converted = minilm.folder(cache_folder())
    files = {file.name: file.read_bytes() for file in converted.iterdir()}
    monkeypatch.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "models"))
    name = f"hub:{REPOSITORY}"
    with hub(files, ["en"]) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        run = idx("semantic", "on", "--model", name, "-i", str(index))
    assert f"Preparing the model {name}, once" in run.stderr
    assert f"model {name}@{COMMIT}, 384 dimensions" in run.stdout
    found = json.loads(idx("search", QUESTION, "-i", str(index), "--json").stdout)
    assert found["results"][0]["source_document"] == "severance"
    monkeypatch.setenv("IDX_SEMANTIC", name)
    run = idx("add", "-d", "new", "-t", "New", "-c", "Shareholders vote", "-i", str(index))
    assert "embedded with the model" not in run.stderr
    assert embedding_state(index).pending == 0
