"""Search by meaning from the command line, with the real model."""

import json
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.maintenance.embedding import embed, embedding_state, switch_on
from shared.search.lucene_vectors import FolderVectors
from tests.conftest import Idx, add_documents
from tests.programs import PROGRAMS, Started, run
from tests.shared.semantic.test_e5 import source
from tests.systems import limits_processes

pytestmark = pytest.mark.usefixtures("semantic")

QUESTION = "How much money do I get if I am laid off?"

TEXTS = {
    "severance": "Employees who are dismissed receive severance pay of two monthly salaries for "
    "each year of service.",
    "parking": "The parking garage opens at six. Cars without a permit are towed away at night.",
    "canteen": "Lunch is served from half past eleven. Vegetarian dishes are marked in green.",
    "printer": "If the printer reports a paper jam, open tray two and pull the sheet out slowly.",
    "holiday": "Staff may take thirty days of paid leave a year; unused days expire in March.",
}


@pytest.fixture
def office(tmp_path: Path) -> Path:
    return written(tmp_path / "office")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with vectors; copy it."""
    folder = tmp_path_factory.mktemp("semantic")
    office, path = written(folder / "office"), folder / "index"
    run(PROGRAMS / "idx", "sync", office, "-i", path)
    return path


@pytest.fixture
def index(prepared: Path, tmp_path: Path) -> Path:
    """An index with vectors of a folder that is elsewhere."""
    return shutil.copytree(prepared, tmp_path / "index")


@pytest.fixture
def synced(idx: Idx, office: Path) -> Path:
    """An index with vectors of `office`."""
    path = idx.folder / "index"
    idx("sync", str(office), "-i", str(path))
    return path


def written(folder: Path) -> Path:
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def found(idx: Idx, index: Path, query: str, *options: str) -> list[str]:
    answer = idx.json("search", query, "-i", str(index), *options)
    return [hit["source_document"] for hit in answer["results"]]


def test_a_question_in_other_words_finds_the_answer(idx: Idx, index: Path) -> None:
    assert "severance.txt" not in found(idx, index, QUESTION, "--search", "words")[:1]
    answer = idx.json("search", QUESTION, "-i", str(index))
    first = answer["results"][0]
    assert first["source_document"] == "severance.txt"
    assert first["matched"] == "meaning"
    assert answer["totalHits"] >= len(answer["results"]) > 0
    assert "by meaning" in idx("search", QUESTION, "-i", str(index)).stdout


def test_without_documents_there_is_nothing_to_embed(idx: Idx) -> None:
    failed = idx("sync", "nowhere", "-i", str(idx.folder / "index"), code=1)
    assert "nowhere: there is no such file or folder" in failed.stderr
    assert "Warning" not in failed.stderr


@pytest.mark.parametrize(
    ("folder", "question"),
    [
        ("Adler Bakery", "How soon does the maker of bread pay?"),
        ("Falcon Shipping", "How soon does the one with the vessels pay?"),
    ],
)
def test_the_folder_of_a_file_tells_what_it_is_about(idx: Idx, folder: str, question: str) -> None:
    for name, days in (("Adler Bakery", "ten"), ("Falcon Shipping", "sixty")):
        (idx.folder / "customers" / name).mkdir(parents=True)
        text = f"Bills are settled within {days} days of receipt."
        (idx.folder / "customers" / name / "terms.txt").write_text(text)
    path = idx.folder / "index"
    idx("sync", "customers", "-i", str(path))
    assert found(idx, path, question)[0] == f"{folder}/terms.txt"


def test_a_chunk_with_all_words_stays_first(idx: Idx, index: Path) -> None:
    for query in ("printer paper jam", "severance", "permit"):
        assert found(idx, index, query)[0] == found(idx, index, query, "--search", "words")[0]


@pytest.mark.parametrize("query", ['"paper jam"', "pap*", "+printer -tray", "title:printer"])
def test_syntax_is_searched_by_words_only(idx: Idx, index: Path, query: str) -> None:
    by_words = idx("search", query, "-i", str(index), "--json", "--search", "words").stdout
    assert idx("search", query, "-i", str(index), "--json").stdout == by_words


def test_an_identifier_or_a_number_is_looked_for_by_words(idx: Idx, index: Path) -> None:
    with Index(index) as open_index:
        for name in ("B-17", "B-18", "C-40"):
            text = f"Form {name} is filled in twice and handed in on the second floor."
            open_index.add(Document(name, f"Form {name}", text))
        open_index.add(
            Document("price", "Price", "The lid is 19,90 €, 7 % off. Telephone 030 7654321.")
        )
    embed(index)
    # No vector tells these forms, or two prices, from each other.
    for query in ("B-17", "B-99", "B-17 C-40", "9,90", "030 1234567", "19 %"):
        by_words = idx("search", query, "-i", str(index), "--json", "--search", "words").stdout
        assert idx("search", query, "-i", str(index), "--json").stdout == by_words
    assert found(idx, index, "Where do I hand in C-40?")[0] == "C-40"


@pytest.mark.parametrize(
    "query", ["Wie viel Geld bekomme ich nach der Kündigung", "كم تبلغ التعويضات"]
)
def test_a_question_in_another_language_finds_the_answer(idx: Idx, index: Path, query: str) -> None:
    assert found(idx, index, query, "--search", "words") == []
    assert found(idx, index, query)[0] == "severance.txt"


def test_a_question_in_an_unknown_script_is_searched_by_words_only(idx: Idx, index: Path) -> None:
    assert "weight" in idx("search", "who pays", "-i", str(index), "--explain").stdout
    assert "weight" not in idx("search", "ⵎⴰⵏⵡⴰ ⵉⵜⵜⴰⴽⴽⴰⵏ", "-i", str(index), "--explain").stdout


def test_a_hit_by_meaning_shows_its_nearest_part(idx: Idx, index: Path) -> None:
    filler = "The harbour master wrote about tides, buoys, ropes and gulls on the quay. " * 10
    answer = f"{TEXTS['severance']} It is paid out with the last salary. Nobody else receives it."
    with Index(index) as open_index:
        open_index.add(Document("long", "Work", f"{filler}{answer} {filler}"))
        open_index.delete("severance.txt")
    embed(index)
    with Searcher(index) as searcher:
        hits = searcher.search(QUESTION, content="passages").results
    (hit,) = [hit for hit in hits if hit.source_document == "long"]
    assert hit.matched == "meaning"
    assert hit.passages is not None
    assert "severance pay" in hit.passages[0]
    assert len(hit.passages[0]) < len(filler)
    assert "severance pay" in idx("search", QUESTION, "-i", str(index)).stdout


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


def test_words_count_the_more_the_rarer_and_the_more_of_them_the_best_hit_has(
    idx: Idx, index: Path
) -> None:
    def weight(query: str) -> float:
        """Return the weight of the meaning, as the explanation has it."""
        explained = idx.json("search", query, "-i", str(index), "--explain", "--detail", "steps")
        (step,) = [step for step in explained["steps"] if step["step"] == "meaning"]
        return float(step["query"].split()[1].strip(","))

    assert weight("employees receive severance pay") == 0.4
    # One is in the name of the file, too.
    assert weight("severance glaciers") < weight("tow glaciers")
    assert weight("severance pay glaciers") < weight("severance glaciers")
    assert weight("severance glaciers") < weight("severance glaciers volcanoes")


def test_what_is_added_later_is_embedded(idx: Idx, index: Path) -> None:
    text = "Bereaved families receive the wages of the month of death."
    run = idx("add", "-d", "bereaved", "-t", "Bereavement", "-c", text, "-i", str(index))
    assert "Embedded 1 chunk" in run.stderr
    assert found(idx, index, "money for relatives when somebody dies")[0] == "bereaved"


def status(idx: Idx, index: Path) -> tuple[str | None, int, int]:
    """The name of the model, and the number of chunks and of those without vectors."""
    shown = idx.json("semantic", "status", "-i", str(index))
    return shown["model"] and shown["model"]["name"], shown["chunks"], shown["pending"]


def test_embedding_can_be_left_for_later(idx: Idx, synced: Path, office: Path) -> None:
    (office / "new.txt").write_text("Shareholders vote once a year on the dividend.")
    idx("sync", str(office), "-i", str(synced), "--vectors", "later")
    assert status(idx, synced) == ("e5", 6, 1)
    assert "new.txt" in found(idx, synced, "dividend")
    assert "1 are missing" in idx("semantic", "status", "-i", str(synced)).stdout
    assert "6 of 6 chunks" in idx("semantic", "update", "-i", str(synced)).stdout


@limits_processes
def test_no_room_for_vectors_leaves_the_words(idx: Idx, synced: Path, office: Path) -> None:
    (office / "new.txt").write_text("Shareholders vote once a year on the dividend.")
    idx("sync", str(office), "-i", str(synced), "--vectors", "later")
    update = ("semantic", "update", "-i", str(synced))
    failed = idx(*update, code=1, prefix=("prlimit", "--fsize=100"))
    assert "failed: File too large; the index still has its last commit" in failed.stderr
    assert status(idx, synced) == ("e5", 6, 1)
    assert "new.txt" in found(idx, synced, "dividend")
    assert "6 of 6 chunks" in idx(*update).stdout


ADD = ("add", "-d", "note", "-t", "Note", "-c", "Shareholders vote once a year.")
CREATORS: dict[str, tuple[str, ...]] = {
    "a text": ADD,
    "a file": ("add", "severance.txt"),
    "a folder": ("sync", "notes"),
    "a JSON file": ("bulk", "-j", "notes.jsonl"),
}
"""Commands that create an index with one text."""


@pytest.mark.parametrize("command", CREATORS)
@pytest.mark.parametrize(
    ("vectors", "model", "pending"), [("now", "e5", 0), ("later", "e5", 1), ("off", None, 0)]
)
def test_a_new_index_has_meaning_unless_its_first_command_says_no(
    idx: Idx, command: str, vectors: str, model: str | None, pending: int
) -> None:
    (idx.folder / "notes").mkdir()
    for file in ("severance.txt", "notes/severance.txt"):
        (idx.folder / file).write_text(TEXTS["severance"])
    (idx.folder / "notes.jsonl").write_text('{"Id": "note", "Title": "Note", "Content": "A text."}')
    index = idx.folder / "index"
    idx(*CREATORS[command], "-i", str(index), "--vectors", vectors)
    assert status(idx, index) == (model, 1, pending)
    # It stays so.
    idx("add", "-d", "second", "-t", "Second", "-c", "Another text.", "-i", str(index))
    assert status(idx, index) == (model, 2, 0)


@pytest.mark.parametrize("command", [ADD, ("init",)])
def test_the_setting_off_holds_for_new_indexes(idx: Idx, command: Sequence[str]) -> None:
    idx.setenv("IDX_SEMANTIC", "off")
    idx(*command, "-i", str(idx.folder / "index"))
    assert status(idx, idx.folder / "index")[0] is None


def test_a_new_index_without_texts_has_meaning_too(idx: Idx) -> None:
    index = idx.folder / "index"
    idx("init", "-i", str(index))
    assert status(idx, index) == ("e5", 0, 0)
    assert "Embedded 1 chunk" in idx(*ADD, "-i", str(index)).stderr


def test_an_index_that_was_made_without_stays_without(idx: Idx, office: Path) -> None:
    index = idx.folder / "index"
    add_documents(index, Document("old", "Old", "An index of an earlier version."))
    assert "Embedded" not in idx(*ADD, "-i", str(index)).stderr
    assert "Embedded" not in idx("sync", str(office), "-i", str(index)).stderr
    assert "Embedded" not in idx("rebuild", "-i", str(index)).stderr
    assert status(idx, index) == (None, 7, 0)


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


def test_the_setting_switches_it_on_and_off(idx: Idx, office: Path) -> None:
    index = idx.folder / "index"
    with Index(index, create=True):
        pass
    idx.setenv("IDX_SEMANTIC", "e5")
    assert "Embedded 5 chunks" in idx("sync", str(office), "-i", str(index)).stderr
    assert found(idx, index, QUESTION)[0] == "severance.txt"
    idx.setenv("IDX_SEMANTIC", "off")
    assert found(idx, index, QUESTION) == found(idx, index, QUESTION, "--search", "words")


def test_a_missing_model_is_said_and_words_go_on(idx: Idx, index: Path) -> None:
    folder = idx.folder / "model"
    shutil.copytree(source(), folder)
    idx.setenv("IDX_SEMANTIC", str(folder))
    idx("semantic", "on", "-i", str(index))
    assert found(idx, index, QUESTION)[0] == "severance.txt"
    shutil.rmtree(folder)
    run = idx("search", "printer jam", "-i", str(index))
    assert "printer.txt" in run.stdout
    assert "Ranked by words only: the sentence model" in run.stderr
    assert "there is no such model or folder" in run.stderr


def test_without_the_extra_an_index_with_vectors_is_searched_by_words(
    idx: Idx, index: Path
) -> None:
    idx.without("numpy", "onnxruntime", "marisa_trie")
    run = idx("search", "printer jam", "-i", str(index))
    assert "printer.txt" in run.stdout
    assert 'needs the extra "semantic" (numpy is not installed)' in run.stderr
    added = idx("add", "--id", "new", "--title", "New", "--content", "A text", "-i", str(index))
    assert 'needs the extra "semantic"' in added.stderr
    assert "the texts are indexed" in added.stderr
    similar = idx.json("similar", "printer.txt", "-i", str(index))
    assert similar["compared_by"] == "words"
    assert 'needs the extra "semantic"' in idx("semantic", "on", "-i", str(index), code=1).stderr


def test_another_model_embeds_everything_again(idx: Idx, index: Path) -> None:
    folder = idx.folder / "model"
    shutil.copytree(source(), folder)
    values = json.loads((folder / "mcp-lucene.json").read_text())
    (folder / "mcp-lucene.json").write_text(json.dumps({**values, "max_tokens": 64}))
    run = idx("semantic", "on", "--model", str(folder), "-i", str(index))
    assert "Embedded 5 chunks" in run.stderr
    state = embedding_state(index)
    assert state.model is not None
    assert (state.model.max_tokens, state.embedded) == (64, 5)


def test_vectors_of_other_files_of_the_model_are_not_taken_for_its_own(
    idx: Idx, index: Path
) -> None:
    folder = idx.folder / "model"
    shutil.copytree(source(), folder)
    idx.setenv("IDX_SEMANTIC", str(folder))
    idx("semantic", "on", "-i", str(index))
    values = json.loads((folder / "mcp-lucene.json").read_text())
    (folder / "mcp-lucene.json").write_text(json.dumps({**values, "max_tokens": 64}))
    for command in ("status", "update"):
        run = idx("semantic", command, "-i", str(index))
        assert "Searches rank by words only" in run.stderr
        assert "embed the index again: idx semantic on" in run.stderr


def test_a_setting_that_names_another_model_is_said(idx: Idx, index: Path) -> None:
    idx.setenv("IDX_SEMANTIC", str(idx.folder / "other"))
    run = idx("add", "-d", "a", "-t", "A", "-c", "text", "-i", str(index))
    assert "embedded with the model e5, not" in run.stderr


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
    run = Started(PROGRAMS / "idx", "semantic", "on", "-i", path)
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


@pytest.mark.parametrize(
    "text", ["🙂 " * 40, pytest.param("x" * 20_000, marks=pytest.mark.soak), "\u200b", "."]
)
def test_texts_that_say_nothing_are_embedded(idx: Idx, index: Path, text: str) -> None:
    add_documents(index, Document("odd", "Odd", text))
    embed(index)
    assert embedding_state(index).pending == 0
    with Searcher(index) as searcher:
        assert searcher.search(QUESTION).results[0].source_document == "severance.txt"


def test_chunks_in_unknown_scripts_get_no_vector(index: Path) -> None:
    add_documents(index, Document("tamazight", "ⵜⴰⵎⴰⵣⵉⵖⵜ", "ⵜⴰⵎⴰⵣⵉⵖⵜ ⴷ ⵜⵓⵜⵍⴰⵢⵜ. " * 6))
    assert embed(index).other_languages == 1
    assert embedding_state(index).pending == 0
    assert embed(index).chunks == 0


def test_similar_chunks_are_printed(idx: Idx, index: Path) -> None:
    run = idx("similar", "severance.txt-chunk-001", "-i", str(index))
    assert "holiday" in run.stdout
    assert "Compared by meaning with severance.txt-chunk-001." in run.stderr
    by_document = idx.json("similar", "severance.txt", "-i", str(index))
    assert by_document["chunk_id"] == "severance.txt-chunk-001"
    assert "no chunk has the id" in idx("similar", "none", "-i", str(index), code=1).stderr


def test_eval_compares_words_with_both(idx: Idx, index: Path) -> None:
    (idx.folder / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": QUESTION}))
    (idx.folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tseverance.txt\t1\n")
    asked = ("eval", "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "-i", str(index))
    assert "Compared: search by words, and both" in idx(*asked, "--compare", "words").stdout
    compared = idx.json(*asked, "--compare", "meaning")
    assert [one["name"] for one in compared["configurations"]] == ["meaning", "both"]
    assert compared["configurations"][1]["measures"][0]["mean"] == 1
    assert "not both" in idx(*asked, "--compare", "words", "--set", "b=0.5", code=2).stderr


def test_a_hit_by_meaning_has_confidence(idx: Idx, index: Path) -> None:
    answer = idx.json("search", QUESTION, "-i", str(index))
    assert answer["results"][0]["confidence"] > 0.05
    off_topic = idx.json("search", "volcanoes erupting in Iceland", "-i", str(index))
    assert off_topic["low_confidence"] is True


def test_the_nearest_of_many_texts_may_be_near_by_chance(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Searcher(index) as searcher:
        few = searcher.search(QUESTION).results[0].confidence
        for count in (500, 1_000_000):
            monkeypatch.setattr(FolderVectors, "compared", count)
            assert (searcher.search(QUESTION).results[0].confidence < few) is (count > 500)


@pytest.mark.parametrize(
    ("query", "documents"),
    [
        (
            "Wie lange gilt die Garantie?",
            [
                Document("1", "Terms", "The warranty ends three years after delivery."),
                Document("2", "Hausordnung", "Die Regel gilt für alle, auch in den Ferien."),
                Document("3", "Kantine", "Mittagessen gibt es ab halb zwölf."),
                Document("4", "Urlaub", "Dreißig Tage Urlaub im Jahr."),
            ],
        ),
        (
            "how is the filter of part B-17 changed",
            [
                Document("1", "Order 4711", "Part B-17 was ordered in May."),
                Document(
                    "2",
                    "Maintenance",
                    "To change the filter, close the valve, open the lid and pull the old one out.",
                ),
                Document("3", "Canteen", "Lunch is served from half past eleven."),
                Document("4", "Holiday", "Thirty days of paid leave a year."),
            ],
        ),
        (
            "12 March 2024",
            [
                Document(
                    "1",
                    "Bank",
                    "We refer to our letter of 12/03/2024, of which a copy is enclosed for you.",
                ),
                Document("2", "Letter", "Letter of 12/04/2024."),
                Document("3", "Canteen", "Lunch is served from half past eleven."),
            ],
        ),
    ],
    ids=[
        "a text in another language has none of the words",
        "a vector knows no identifier",
        "a vector knows no day",
    ],
)
def test_words_and_meaning_together_decide(idx: Idx, query: str, documents: list[Document]) -> None:
    path = idx.folder / "index"
    add_documents(path, *documents)
    switch_on(path, "e5")
    embed(path)
    assert found(idx, path, query)[0] == "1"


def test_a_damaged_model_keeps_nothing_out_of_a_new_index(idx: Idx, office: Path) -> None:
    package = shutil.copytree(source(), idx.folder / "packages" / source().name)
    (package / "model.bin").write_bytes(b"cut short")
    done = run(
        *(PROGRAMS / "idx", "sync", office, "-i", idx.folder / "index"),
        env={**os.environ, "PYTHONPATH": str(idx.folder / "packages")},
    )
    assert f"Added {len(TEXTS)}" in done.stdout
    assert "model.bin does not have the hash" in done.stderr
    assert "idx semantic on" in done.stderr
    assert found(idx, idx.folder / "index", "paper jam")[0] == "printer.txt"
