"""Search by meaning from the command line, with the real model."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.maintenance.embedding import embed, embedding_state
from shared.semantic import minilm
from shared.semantic.models import cache_folder
from shared.settings.defaults import MODEL_CACHE_VARIABLE
from tests.conftest import Idx
from tests.programs import PROGRAMS

QUESTION = "How much money do I get if I am laid off?"

TEXTS = {
    "severance": "Employees who are dismissed receive severance pay of two monthly salaries for "
    "each year of service.",
    "parking": "The parking garage opens at six. Cars without a permit are towed away at night.",
    "canteen": "Lunch is served from half past eleven. Vegetarian dishes are marked in green.",
    "printer": "If the printer reports a paper jam, open tray two and pull the sheet out slowly.",
    "holiday": "Staff may take thirty days of paid leave a year; unused days expire in March.",
}


@pytest.fixture(scope="session", autouse=True)
def _model() -> None:
    if not minilm.is_converted(cache_folder()):
        minilm.convert_into(cache_folder())


@pytest.fixture
def office(tmp_path: Path) -> Path:
    return written(tmp_path / "office")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with vectors; copy it."""
    folder = tmp_path_factory.mktemp("semantic")
    office, path = written(folder / "office"), folder / "index"
    for command in (("sync", office), ("semantic", "on")):
        subprocess.run([PROGRAMS / "idx", *command, "-i", path], check=True, capture_output=True)
    return path


@pytest.fixture
def index(prepared: Path, tmp_path: Path) -> Path:
    """An index with vectors of a folder that is elsewhere."""
    return shutil.copytree(prepared, tmp_path / "index")


@pytest.fixture
def synced(idx: Idx, tmp_path: Path, office: Path) -> Path:
    """An index with vectors of `office`."""
    path = tmp_path / "index"
    idx("sync", str(office), "-i", str(path))
    idx("semantic", "on", "-i", str(path))
    return path


def written(folder: Path) -> Path:
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def found(idx: Idx, index: Path, query: str, *options: str) -> list[str]:
    answer = json.loads(idx("search", query, "-i", str(index), "--json", *options).stdout)
    return [hit["source_document"] for hit in answer["results"]]


def test_a_question_in_other_words_finds_the_answer(idx: Idx, index: Path) -> None:
    assert "severance.txt" not in found(idx, index, QUESTION, "--search", "words")[:1]
    answer = json.loads(idx("search", QUESTION, "-i", str(index), "--json").stdout)
    first = answer["results"][0]
    assert first["source_document"] == "severance.txt"
    assert first["matched"] == "meaning"
    assert answer["totalHits"] >= len(answer["results"]) > 0
    assert "by meaning" in idx("search", QUESTION, "-i", str(index)).stdout


def test_a_chunk_with_all_words_stays_first(idx: Idx, index: Path) -> None:
    for query in ("printer paper jam", "severance", "permit"):
        assert found(idx, index, query)[0] == found(idx, index, query, "--search", "words")[0]


def test_a_chunk_with_none_of_the_words_stays_behind_all_that_have_them_all(
    idx: Idx, index: Path
) -> None:
    quay = "The harbour master wrote about tides, buoys, ropes and gulls on the quay that morning. "
    parts = ("The nets were laid on deck.", "A boat drifted off.", "Somebody lost how much money, ")
    scattered = quay * 3 + quay.join(parts) + "if I do get it, I am unsure. " + quay * 2
    with Index(index) as open_index:
        for number in range(6):
            open_index.add(Document(f"asked {number}", "Asked", QUESTION))
        open_index.add(Document("scattered", "Harbour", scattered))
    embed(index)
    answer = json.loads(idx("search", QUESTION, "-i", str(index), "--json").stdout)
    places = {hit["source_document"]: hit for hit in answer["results"]}
    assert places["severance.txt"]["matched"] == "meaning"
    assert places["severance.txt"]["score"] > places["scattered"]["score"]
    assert [*places].index("scattered") < [*places].index("severance.txt")


@pytest.mark.parametrize(
    "query", ['"paper jam"', "pap*", "+printer -tray", "B-17", "title:printer"]
)
def test_syntax_and_names_are_searched_by_words_only(idx: Idx, index: Path, query: str) -> None:
    by_words = idx("search", query, "-i", str(index), "--json", "--search", "words").stdout
    assert idx("search", query, "-i", str(index), "--json").stdout == by_words


@pytest.mark.parametrize(
    "query", ["Wie viel Geld bekomme ich nach der Kündigung", "كم تبلغ التعويضات"]
)
def test_other_languages_are_searched_by_words_only(idx: Idx, index: Path, query: str) -> None:
    assert "meaning" not in idx("search", query, "-i", str(index), "--explain").stdout


def test_all_words_are_still_required(idx: Idx, index: Path) -> None:
    assert found(idx, index, QUESTION, "--operator", "and") == []


def test_filters_hold_for_chunks_found_by_meaning(idx: Idx, index: Path) -> None:
    only = found(idx, index, QUESTION, "--filter", "file_name=holiday.txt")
    assert only in ([], ["holiday.txt"])


def test_an_explanation_has_both_parts(idx: Idx, index: Path) -> None:
    explained = json.loads(
        idx(
            *("search", "pay after service", "-i", str(index), "--json"),
            *("--explain", "--detail", "scores"),
        ).stdout
    )
    (step,) = [step for step in explained["steps"] if step["step"] == "meaning"]
    assert step["query"].startswith("weight 0.")
    hit = explained["hits"][0]
    assert sum(part["score"] for part in hit["parts"]) == pytest.approx(hit["score"], abs=0.01)
    assert any(part["match"].startswith("meaning, cosine 0.") for part in hit["parts"])


def test_what_is_added_later_is_embedded(idx: Idx, index: Path) -> None:
    text = "Bereaved families receive the wages of the month of death."
    run = idx("add", "-d", "bereaved", "-t", "Bereavement", "-c", text, "-i", str(index))
    assert "Embedded 1 chunk" in run.stderr
    assert found(idx, index, "money for relatives when somebody dies")[0] == "bereaved"


def test_embedding_can_be_left_for_later(idx: Idx, synced: Path, office: Path) -> None:
    (office / "new.txt").write_text("Shareholders vote once a year on the dividend.")
    idx("sync", str(office), "-i", str(synced), "--semantic", "later")
    status = json.loads(idx("semantic", "status", "-i", str(synced), "--json").stdout)
    assert (status["chunks"], status["pending"]) == (6, 1)
    assert "new.txt" in found(idx, synced, "dividend")
    assert "1 are missing" in idx("semantic", "status", "-i", str(synced)).stdout
    assert "6 of 6 chunks" in idx("semantic", "update", "-i", str(synced)).stdout


def test_the_same_text_is_not_embedded_twice(idx: Idx, synced: Path, office: Path) -> None:
    (office / "severance.txt").rename(office / "redundancy.txt")
    run = idx("sync", str(office), "-i", str(synced))
    # The title of a text without a heading is its file's name, so that only this one is new.
    assert "Embedded 1 chunk" in run.stderr
    idx("add", "-d", "twice", "-t", "printer", "-c", TEXTS["printer"], "-i", str(synced))
    before = embedding_state(synced)
    run = idx("rebuild", "-i", str(synced))
    assert embedding_state(synced) == before
    assert "Embedded" not in run.stderr
    assert embedding_state(synced).pending == 0


def test_off_removes_the_vectors(idx: Idx, index: Path) -> None:
    assert "vectors were removed" in idx("semantic", "off", "-i", str(index)).stdout
    assert embedding_state(index).embedded == 0
    assert embedding_state(index).model is None
    assert "off already" in idx("semantic", "off", "-i", str(index)).stdout
    assert "is off" in idx("semantic", "status", "-i", str(index)).stdout
    assert "severance.txt" not in found(idx, index, QUESTION)[:1]


def test_the_setting_switches_it_on_and_off(
    idx: Idx, office: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    monkeypatch.setenv("IDX_SEMANTIC", "minilm")
    assert "Embedded 5 chunks" in idx("sync", str(office), "-i", str(index)).stderr
    assert found(idx, index, QUESTION)[0] == "severance.txt"
    monkeypatch.setenv("IDX_SEMANTIC", "off")
    assert found(idx, index, QUESTION) == found(idx, index, QUESTION, "--search", "words")


def test_a_missing_model_is_said_and_words_go_on(
    idx: Idx, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(minilm.folder(cache_folder()), folder)
    monkeypatch.setenv("IDX_SEMANTIC", str(folder))
    idx("semantic", "on", "-i", str(index))
    assert found(idx, index, QUESTION)[0] == "severance.txt"
    shutil.rmtree(folder)
    run = idx("search", "printer jam", "-i", str(index))
    assert "printer.txt" in run.stdout
    assert "Ranked by words only: the sentence model" in run.stderr
    assert "no such folder" in run.stderr


def test_without_the_extra_an_index_with_vectors_is_searched_by_words(
    idx: Idx, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    names = "numpy=None, onnxruntime=None, tokenizers=None"
    (hidden / "sitecustomize.py").write_text(f"import sys; sys.modules.update({names})\n")
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    run = idx("search", "printer jam", "-i", str(index))
    assert "printer.txt" in run.stdout
    assert 'needs the extra "semantic" (numpy is not installed)' in run.stderr
    added = idx("add", "--id", "new", "--title", "New", "--content", "A text", "-i", str(index))
    assert 'needs the extra "semantic"' in added.stderr
    assert "the texts are indexed" in added.stderr
    similar = json.loads(idx("similar", "printer.txt", "-i", str(index), "--json").stdout)
    assert similar["compared_by"] == "words"
    assert 'needs the extra "semantic"' in idx("semantic", "on", "-i", str(index), code=1).stderr


def test_another_model_embeds_everything_again(idx: Idx, index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(minilm.folder(cache_folder()), folder)
    (folder / "mcp-lucene.json").write_text('{"dimensions": 384, "max_tokens": 64}')
    run = idx("semantic", "on", "--model", str(folder), "-i", str(index))
    assert "Embedded 5 chunks" in run.stderr
    state = embedding_state(index)
    assert state.model is not None
    assert (state.model.max_tokens, state.embedded) == (64, 5)


def test_a_model_is_prepared_once_and_this_is_said(
    idx: Idx, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL_CACHE_VARIABLE, str(tmp_path / "models"))
    assert "Preparing the model minilm" in idx("semantic", "on", "-i", str(index)).stderr
    assert "Preparing" not in idx("semantic", "on", "-i", str(index)).stderr


def test_a_setting_that_names_another_model_is_said(
    idx: Idx, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDX_SEMANTIC", str(tmp_path / "other"))
    run = idx("add", "-d", "a", "-t", "A", "-c", "text", "-i", str(index))
    assert "embedded with the model minilm, not" in run.stderr


def test_a_model_that_does_not_exist_is_named(idx: Idx, index: Path) -> None:
    run = idx("semantic", "on", "--model", "/none", "-i", str(index), code=1)
    assert run.stderr.startswith("Error: the sentence model /none cannot be used: there is no")


@pytest.mark.soak
def test_a_folder_of_thousands_of_chunks_survives_interruptions(tmp_path: Path) -> None:
    """What was embedded before an interruption is kept, and the next run does the rest."""
    path = tmp_path / "index"
    with Index(path, create=True) as index:
        for number in range(1_500):
            index.add(Document(f"d{number}", f"Note {number}", f"On day {number} it rained."))
    environment = {MODEL_CACHE_VARIABLE: str(cache_folder())}
    command = [str(PROGRAMS / "idx"), "semantic", "on", "-i", str(path)]
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    while embedding_state(path).model is None:
        time.sleep(0.1)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in stderr
    before = embedding_state(path)
    assert before.pending > 0
    done = embed(path)
    assert done.chunks == before.pending
    assert embedding_state(path).pending == 0


@pytest.mark.parametrize("text", ["🙂 " * 40, "x" * 2_000_000, "\u200b", "."])
def test_texts_that_say_nothing_are_embedded(idx: Idx, index: Path, text: str) -> None:
    with Index(index) as open_index:
        open_index.add(Document("odd", "Odd", text))
    embed(index)
    assert embedding_state(index).pending == 0
    with Searcher(index) as searcher:
        assert searcher.search(QUESTION).results[0].source_document == "severance.txt"


def test_chunks_in_other_languages_get_no_vector(index: Path) -> None:
    german = "Wer entlassen wird, erhält eine Abfindung von zwei Monatsgehältern. " * 6
    with Index(index) as open_index:
        open_index.add(Document("abfindung", "Abfindung", german))
    assert embed(index).other_languages == 1
    assert embedding_state(index).pending == 0
    assert embed(index).chunks == 0


def test_similar_chunks_are_printed(idx: Idx, index: Path) -> None:
    run = idx("similar", "severance.txt-chunk-001", "-i", str(index))
    assert "holiday" in run.stdout
    assert "Compared by meaning with severance.txt-chunk-001." in run.stderr
    by_document = json.loads(idx("similar", "severance.txt", "-i", str(index), "--json").stdout)
    assert by_document["chunk_id"] == "severance.txt-chunk-001"
    assert "no chunk has the id" in idx("similar", "none", "-i", str(index), code=1).stderr


def test_eval_compares_words_with_both(idx: Idx, index: Path, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": QUESTION}))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tseverance.txt\t1\n")
    asked = ("eval", "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "-i", str(index))
    run = idx(*asked, "--compare", "words")
    assert "Compared: search by words, and both" in run.stdout
    compared = json.loads(idx(*asked, "--compare", "meaning", "--json").stdout)
    assert [one["name"] for one in compared["configurations"]] == ["meaning", "both"]
    assert compared["configurations"][1]["measures"][0]["mean"] == 1
    assert "not both" in idx(*asked, "--compare", "words", "--set", "b=0.5", code=2).stderr


def test_a_hit_by_meaning_has_confidence(idx: Idx, index: Path) -> None:
    answer = json.loads(idx("search", QUESTION, "-i", str(index), "--json").stdout)
    assert answer["results"][0]["confidence"] > 0.05
    off_topic = json.loads(
        idx("search", "volcanoes erupting in Iceland", "-i", str(index), "--json").stdout
    )
    assert off_topic["low_confidence"] is True
