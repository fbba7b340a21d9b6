"""Sentence models on a server or the hub, by the command line."""

import json
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from shared import Document, Index
from shared.maintenance.embedding import embedding_state
from shared.semantic.encoder import Encoder
from shared.semantic.models import encoder_of, install
from shared.semantic.sentence_model import SentenceModel
from shared.settings.defaults import MODEL_CACHE_VARIABLE
from tests.conftest import Idx, add_documents
from tests.embedding_server import NAME, counting, embeds
from tests.hub_server import COMMIT, REPOSITORY, hub
from tests.idx.test_semantic import QUESTION, TEXTS
from tests.idx.watched import PATIENCE, Watch
from tests.model_server import ModelServer, hangs_up, is_silent, sends_bytes, serving
from tests.shared.semantic.test_folder_model import table_model, write_model
from tests.shared.semantic.vectors import vectors_of

pytestmark = pytest.mark.usefixtures("semantic")


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return encoder_of(install("e5"))


@pytest.fixture
def server(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server of the real model, which the settings name."""
    with serving(embeds(partial(vectors_of, encoder))) as server:
        monkeypatch.setenv("IDX_SEMANTIC", name_of(server))
        yield server


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    add_documents(path, *(Document(name, name, text) for name, text in TEXTS.items()))
    return path


def name_of(server: ModelServer) -> str:
    return f"{server.url}#{NAME}"


def first(idx: Idx, index: Path) -> str:
    found = idx.json("search", QUESTION, "-i", str(index))
    return str(found["results"][0]["source_document"])


def test_an_index_is_embedded_and_searched(idx: Idx, index: Path, server: ModelServer) -> None:
    run = idx("semantic", "on", "--model", name_of(server), "-i", str(index))
    assert "are sent to" not in run.stderr
    assert "5 of 5 chunks embedded" in run.stdout
    assert "384 dimensions" in run.stdout
    assert first(idx, index) == "severance"
    idx("add", "-d", "new", "-t", "New", "-c", "Shareholders vote once a year", "-i", str(index))
    assert embedding_state(index).pending == 0


def test_texts_are_embedded_by_several_requests(idx: Idx, index: Path) -> None:
    with Index(index) as open_index:
        for number in range(100):
            open_index.add(Document(f"d{number}", f"Note {number}", f"On day {number} it rained."))
    with serving(embeds(counting)) as server:
        idx("semantic", "on", "--model", name_of(server), "-i", str(index))
    assert embedding_state(index).pending == 0
    assert max(len(request.body["input"]) for request in server.requests) > 1
    assert len(server.requests) < 30


def test_that_texts_leave_the_machine_is_said(idx: Idx, index: Path, server: ModelServer) -> None:
    # An address of this machine that does not show it.
    name = name_of(server).replace("127.0.0.1", "127.1")
    host = f"127.1:{server.server_port}"
    run = idx("semantic", "on", "--model", name, "-i", str(index))
    assert f"the texts of this index, and queries, are sent to {host}, unencrypted" in run.stderr
    assert f"idx config set semantic '{name}'" in run.stderr
    assert embedding_state(index).pending == 0
    requests = len(server.requests)
    run = idx("search", QUESTION, "-i", str(index))
    assert f"texts would be sent to {host}, which only the index names" in run.stderr
    assert len(server.requests) == requests
    idx.setenv("IDX_SEMANTIC", name)
    assert first(idx, index) == "severance"


def test_an_index_that_names_a_server_elsewhere_sends_nothing(idx: Idx, index: Path) -> None:
    with Index(index) as open_index:
        open_index.sentence_model = SentenceModel("https://models.example/v1#small", "", 4)
    run = idx("semantic", "update", "-i", str(index), code=1)
    assert "texts would be sent to models.example, which only the index names" in run.stderr
    run = idx("search", "printer jam", "-i", str(index))
    assert "printer" in run.stdout
    assert "Ranked by words only" in run.stderr


def test_a_server_that_goes_away_is_said_and_words_go_on(
    idx: Idx, index: Path, server: ModelServer
) -> None:
    idx("semantic", "on", "--model", name_of(server), "-i", str(index))
    for failure in (hangs_up, sends_bytes(b"", 500), is_silent):
        server.answer = failure
        run = idx("search", "printer jam", "-i", str(index))
        assert "printer" in run.stdout
        assert "Ranked by words only: the sentence model http://127.0.0.1" in run.stderr


def test_a_server_that_does_not_answer_is_an_error(idx: Idx, index: Path) -> None:
    with serving(sends_bytes(b"{}", 401)) as server:
        run = idx("semantic", "on", "--model", name_of(server), "-i", str(index), code=1)
    assert run.stderr.startswith("Error: the sentence model http://127.0.0.1")
    assert "answered with HTTP status 401; check its key" in run.stderr
    assert embedding_state(index).model is None


def test_the_rest_is_embedded_when_the_server_is_back(
    idx: Idx, index: Path, encoder: Encoder, server: ModelServer
) -> None:
    idx("semantic", "on", "--model", name_of(server), "-i", str(index), "--vectors", "later")
    server.answer = sends_bytes(b"{}", 400)
    run = idx("semantic", "update", "-i", str(index), code=1)
    assert "answered with HTTP status 400" in run.stderr
    assert embedding_state(index).pending == 5
    server.answer = embeds(partial(vectors_of, encoder))
    idx("semantic", "update", "-i", str(index))
    assert embedding_state(index).pending == 0
    assert first(idx, index) == "severance"


def test_an_address_with_a_password_is_refused(idx: Idx, tmp_path: Path) -> None:
    idx.setenv("IDX_CONFIG", str(tmp_path / "config.toml"))
    address = "http://me:swordfish@models.example/v1#small"
    run = idx("config", "set", "semantic", address, code=1)
    assert "put a key into the variable IDX_SEMANTIC_API_KEY" in run.stderr
    assert "swordfish" not in run.stderr
    idx("config", "set", "semantic", "https://models.example/v1#small")
    shown = idx.json("config", "show")
    assert "models.example" in json.dumps(shown)


def test_the_key_is_sent_and_never_shown(idx: Idx, index: Path, server: ModelServer) -> None:
    idx.setenv("IDX_SEMANTIC_API_KEY", "sk-swordfish")
    run = idx("semantic", "on", "--model", name_of(server), "-i", str(index))
    assert {request.headers["authorization"] for request in server.requests} == {
        "Bearer sk-swordfish"
    }
    assert "swordfish" not in run.stdout + run.stderr


@pytest.mark.soak
def test_a_watch_goes_on_while_it_embeds(tmp_path: Path) -> None:
    answers = threading.Event()

    def slowly(texts: Sequence[str]) -> list[list[float]]:
        if any("It snowed" in text for text in texts):
            answers.wait(PATIENCE)
        return counting(texts)

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("It snowed.")
    with (
        serving(embeds(slowly)) as server,
        Watch(tmp_path, folder, environment={"IDX_SEMANTIC": name_of(server)}) as watch,
    ):
        watch.until(
            lambda: any("It snowed" in str(request.body) for request in server.requests),
            "embedding",
        )
        (folder / "b.txt").write_text("It rained.")
        watch.until_texts({"a.txt": "It snowed.", "b.txt": "It rained."})
        assert embedding_state(watch.index).embedded == 0
        answers.set()
        watch.until(lambda: embedding_state(watch.index).pending == 0, "vectors")


def test_a_model_is_downloaded_by_its_name_and_used_without_a_network(
    idx: Idx, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    add_documents(index, *(Document(name, name, text) for name, text in TEXTS.items()))
    model = write_model(tmp_path / "source", table_model(), pooling="mean")
    files = {file.name: file.read_bytes() for file in model.iterdir()}
    idx.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "models"))
    name = f"hub:{REPOSITORY}"
    with hub(files, ["en"]) as server:
        idx.setenv("HF_ENDPOINT", server.url)
        run = idx("semantic", "on", "--model", name, "-i", str(index))
    assert f"Preparing the model {name}, once" in run.stderr
    assert f"model {name}@{COMMIT}, 4 dimensions" in run.stdout
    explained = idx("search", "paper jam", "-i", str(index), "--explain").stdout
    assert f"compared with {len(TEXTS)} vectors" in explained
    idx.setenv("IDX_SEMANTIC", name)
    run = idx("add", "-d", "new", "-t", "New", "-c", "Shareholders vote", "-i", str(index))
    assert "embedded with the model" not in run.stderr
    assert embedding_state(index).pending == 0
