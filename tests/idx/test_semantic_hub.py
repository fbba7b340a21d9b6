"""Search by meaning with a sentence model of the Hugging Face Hub, from the command line."""

from pathlib import Path

import pytest

from shared import Document
from shared.maintenance.embedding import embedding_state
from shared.settings.defaults import MODEL_CACHE_VARIABLE
from tests.conftest import Idx, add_documents
from tests.hub_server import COMMIT, REPOSITORY, hub
from tests.idx.test_semantic import TEXTS
from tests.shared.semantic.test_folder_model import table_model, write_model

pytestmark = pytest.mark.usefixtures("semantic")


def test_a_model_is_downloaded_by_its_name_and_used_without_a_network(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    add_documents(index, *(Document(name, name, text) for name, text in TEXTS.items()))
    model = write_model(tmp_path / "source", table_model(), pooling="mean")
    files = {file.name: file.read_bytes() for file in model.iterdir()}
    monkeypatch.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "models"))
    name = f"hub:{REPOSITORY}"
    with hub(files, ["en"]) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        run = idx("semantic", "on", "--model", name, "-i", str(index))
    assert f"Preparing the model {name}, once" in run.stderr
    assert f"model {name}@{COMMIT}, 4 dimensions" in run.stdout
    explained = idx("search", "paper jam", "-i", str(index), "--explain").stdout
    assert f"compared with {len(TEXTS)} vectors" in explained
    monkeypatch.setenv("IDX_SEMANTIC", name)
    run = idx("add", "-d", "new", "-t", "New", "-c", "Shareholders vote", "-i", str(index))
    assert "embedded with the model" not in run.stderr
    assert embedding_state(index).pending == 0
