"""Search by meaning on a node, with the real model."""

import shutil
import signal
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.errors import QueryError
from shared.maintenance.embedding import embed, embedding_state, switch_off, switch_on
from shared.model import schema
from shared.model.filters import Collection, Filter
from shared.model.request import Search
from shared.opensearch import layout
from shared.semantic.windows import key_of, packed
from tests.conftest import Idx, connected
from tests.opensearch.conftest import store_of, write
from tests.opensearch.parity import differences
from tests.opensearch.proxy import Proxy
from tests.opensearch.test_batches import (
    begun_long_ago,
    killed_at,
    replaced_long_ago,
    through,
)
from tests.opensearch.test_parity import requests_of
from tests.programs import PROGRAMS
from tests.server.tool_answers import answer
from tests.shared.semantic.test_e5 import source

pytestmark = [pytest.mark.opensearch, pytest.mark.usefixtures("semantic")]

QUESTION = "Wie viel Geld bekomme ich von Miller, wenn mir gekündigt wird?"
"""A question that has one word in common with all texts."""

TEXTS = {
    "severance": "Employees of Miller who are dismissed receive severance pay of two salaries.",
    "parking": "The garage of Miller opens at six. Cars without a permit of Miller are towed away.",
    "canteen": "Lunch is served by Miller from half past eleven.",
    "printer": "If the printer of Miller reports a paper jam, pull the sheet out slowly.",
}


@pytest.fixture
def meant(address: str) -> str:
    """An index with vectors."""
    write(address, **TEXTS)
    switch_on(address, "e5")
    assert embed(address).chunks == 4
    return address


def found(path: Path | str, query: str = QUESTION, search: Search = "both") -> list[str]:
    with Searcher(path) as searcher:
        return [hit.source_document for hit in searcher.search(query, search=search).results]


def unknown(path: Path | str) -> set[str]:
    """The chunks of which only the words count."""
    with Searcher(path) as searcher:
        hits = searcher.explain(QUESTION, detail="scores").hits
        return {hit.id for hit in hits if "unknown cosine" in str(hit)}


def vectors(address: str) -> int:
    """The number of documents with vectors, visible or not."""
    store = store_of(address)
    store.refresh()
    return len(list(store.connection.hits({"prefix": {layout.KIND: "vectors"}})))


async def test_what_is_asked_in_another_language_is_found_first(idx: Idx, address: str) -> None:
    for name, text in TEXTS.items():
        (idx.folder / "office").mkdir(exist_ok=True)
        (idx.folder / "office" / f"{name}.txt").write_text(text)
    assert "Embedded 4 chunks" in idx("sync", "-i", address, idx.folder / "office").stderr
    assert "4 of 4 chunks embedded" in idx("semantic", "status", "-i", address).stdout

    def asked(*options: str) -> list[str]:
        answered = idx.json("search", QUESTION, "-i", address, *options)
        return [hit["source_document"] for hit in answered["results"]]

    assert asked()[0] == "severance.txt"
    assert asked("--search", "words")[0] == "parking.txt"
    async with connected(Path(address)) as client:
        for search, first in (("both", "severance.txt"), ("words", "parking.txt")):
            arguments = {"query": QUESTION, "search": search}
            told = answer(await client.call_tool("Search", arguments))
            assert told["results"][0]["source_document"] == first
            assert "note" not in told
    assert "meaning" in idx("search", QUESTION, "-i", address, "--explain").stdout


def test_hits_and_scores_are_those_of_a_folder(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    queries: list[dict[str, Any]] = [
        {"query": QUESTION},
        {"query": "Miller paper jam", "group": "document"},
        {"query": "Miller dismissed", "limit": 2},
        {"query": "Wann gibt es bei Miller etwas zu essen?", "offset": 1},
    ]
    for path in (folder, address):
        write(path, **TEXTS)
    with Searcher(folder) as one, Searcher(address) as other:
        assert differences(one, other, queries) == []
        for work in (lambda path: switch_on(path, "e5"), embed):
            for path in (folder, address):
                work(path)
            # Nothing is remembered of what was there before.
            assert differences(one, other, queries) == []
        assert other.search(QUESTION).results[0].source_document == "severance"
        with pytest.raises(QueryError, match="search by both, or words"):
            other.search(QUESTION, search="meaning")


def test_a_search_by_meaning_takes_one_request_more(meant: str) -> None:
    def asked(search: Search) -> int:
        before = requests_of(searcher)
        assert searcher.search("Miller", search=search, limit=1).results
        return requests_of(searcher) - before

    with Searcher(meant) as searcher:
        asked("words")
        assert (asked("words"), asked("both"), asked("both")) == (1, 4, 2)


def test_a_chunk_that_is_written_again_has_no_vectors_until_it_is_embedded(
    idx: Idx, meant: str
) -> None:
    with Index(meant) as index:
        for name in ("parking", "severance"):
            other = {"parking": "severance", "severance": "parking"}[name]
            index.add(Document(name, name.title(), TEXTS[other]))
    state = embedding_state(meant)
    assert (state.chunks, state.embedded) == (4, 2)
    assert "2 are missing" in idx("semantic", "status", "-i", meant).stdout
    assert unknown(meant) == {"parking-chunk-001", "severance-chunk-001"}
    assert "Embedded 2 chunks" in idx("semantic", "update", "-i", meant).stderr
    assert unknown(meant) == set()
    assert found(meant)[0] == "parking"
    assert vectors(meant) == 6
    store_of(meant).change(replaced_long_ago)
    write(meant, canteen="Another text")
    assert vectors(meant) == 4, "they are deleted with the chunks"
    idx("delete", "-i", meant, "canteen")
    assert embedding_state(meant).embedded == embedding_state(meant).chunks == 3


def test_chunks_that_are_written_again_as_they_were_keep_their_vectors(address: str) -> None:
    words = [f"word{number}" for number in range(600)]
    write(address, long=" ".join(words), short="text")
    switch_on(address, "e5")
    embed(address)
    with Index(address) as index:
        index.add(Document("long", "Long", " ".join([*words, "more"] * 2)))
        index.add(Document("long", "Long", " ".join([*words[:-1], "other"])))
        index.add(Document("short", "Another title", "text"))
    state = embedding_state(address)
    assert (state.chunks, state.embedded) == (4, 2), "all but the last, and the other title"
    assert embed(address).chunks == 2
    with Index(address) as index:
        for text in ([*words[:-1], "other"], words[:300]):
            index.add(Document("long", "Long", " ".join(text)))
        index.delete("short")
    state = embedding_state(address)
    assert (state.chunks, state.embedded) == (2, 1)


def test_vectors_of_a_text_that_was_replaced_meanwhile_are_not_stored(meant: str) -> None:
    write(meant, parking="Another text of Miller.")
    wrong = dict.fromkeys(["parking-chunk-001", "unknown-chunk-001"], bytes(17))
    with Index(meant) as index:
        assert index.set_vectors(wrong) == 0
    assert embedding_state(meant).embedded == 3


def test_vectors_that_come_after_their_text_was_deleted_are_not_counted(address: str) -> None:
    write(address, **TEXTS)
    switch_on(address, "e5")
    with Index(address) as index:
        known = {f"{of}-chunk-001": packed(key_of(of.title(), TEXTS[of]), []) for of in TEXTS}
        assert index.set_vectors(known) == 4
        write(address, parking=TEXTS["printer"])
        store_of(address).change(replaced_long_ago)
        write(address, canteen=TEXTS["printer"])
        assert embedding_state(address).embedded == 0
    assert (embedding_state(address).embedded, embedding_state(address).pending) == (2, 2)
    store_of(address).change(replaced_long_ago)
    write(address, other="Another text")
    assert vectors(address) == 2


def test_a_model_is_switched_off_and_on(meant: str, idx: Idx) -> None:
    assert switch_off(meant)
    assert vectors(meant) == 0
    assert found(meant) == found(meant, search="words")
    assert "Search by meaning is off" in idx("semantic", "status", "-i", meant).stdout
    assert "4 of 4 chunks embedded" in idx("semantic", "on", "-i", meant).stdout
    assert found(meant)[0] == "severance"


def test_a_missing_model_is_said_as_in_a_folder_and_words_go_on(address: str, idx: Idx) -> None:
    model, said = idx.folder / "model", []
    idx.setenv("IDX_SEMANTIC", str(shutil.copytree(source(), model)))
    for path in (address, idx.folder / "index"):
        write(path, **TEXTS)
        assert found(path) == found(path, search="words")
        idx("semantic", "on", "-i", path)
        assert found(path)[0] == "severance"
    shutil.rmtree(model)
    for path in (address, idx.folder / "index"):
        run = idx("search", QUESTION, "-i", path)
        assert run.stdout.startswith("1. Parking")
        said.append(run.stderr)
    assert "Ranked by words only: the sentence model" in said[0]
    assert said[0] == said[1]


def test_a_rebuild_keeps_the_vectors(meant: str, idx: Idx) -> None:
    before = found(meant)
    idx("rebuild", "-i", meant)
    assert embedding_state(meant).pending == 0
    assert found(meant) == before


def test_shards_find_their_vectors(address: str, idx: Idx) -> None:
    idx("init", "-i", address, "--shards", "3")
    write(address, **TEXTS)
    switch_on(address, "e5")
    embed(address)
    assert embedding_state(address).pending == 0
    assert found(address)[0] == "severance"


def test_a_part_is_ranked_by_its_own_vectors(address: str, meant: str) -> None:
    """Not even the mean of its cosines tells of others."""
    alone, whole = f"{address}-alone", f"{address}-whole"
    open_ = [Document(name, name.title(), text, {"access": "all"}) for name, text in TEXTS.items()]
    secret = [
        Document(f"s{number}", "Geld", f"Miller zahlt {number} Euro Geld aus.", {"access": "few"})
        for number in range(20)
    ]
    for path, documents in ((alone, open_), (whole, [*open_, *secret])):
        with Index(path, create=True) as index:
            for document in documents:
                index.add(document)
        switch_on(path, "e5")
        embed(path)
    collection = Collection("open", "", (Filter("access", value="all"),))
    with Searcher(whole, collections=[collection]) as everything, Searcher(alone) as reference:
        part = everything.within(["open"])
        for query in (QUESTION, "Geld"):
            nearness = [hit.confidence for hit in reference.search(query).results]
            hits = part.search(query).results
            assert {hit.source_document for hit in hits} <= {*TEXTS}
            assert [hit.confidence for hit in hits] == pytest.approx(nearness, abs=2e-3)


def test_words_count_alone_where_others_have_damaged_vectors(meant: str) -> None:
    store = store_of(meant)
    store.refresh()
    hits = list(store.connection.hits({"prefix": {layout.KIND: "vectors"}}))
    damaged: list[dict[str, Any]] = [
        {},
        {"stored": None},
        {"stored": {schema.VECTOR: "not Base64"}},
        {"stored": {schema.VECTOR: b64encode(b"x" * 30).decode()}},
    ]
    for hit, stored in zip(hits, damaged, strict=True):
        kept = {name: value for name, value in hit["_source"].items() if name != "stored"}
        assert not list(store.bulk([({"index": {"_id": hit["_id"]}}, kept | stored)]))
    store.refresh()
    assert found(meant) == found(meant, search="words")


@pytest.mark.parametrize(
    ("request_", "number", "is_done"),
    [("/_bulk", 1, False), ("/_bulk", 1, True), ("/_refresh", 1, True), ("PUT", 2, False)],
    ids=["open", "sent", "refreshed", "not-published"],
)
def test_a_killed_writer_leaves_no_vectors_of_another_text(
    address: str, proxy: Proxy, idx: Idx, request_: str, number: int, *, is_done: bool
) -> None:
    write(address, **TEXTS)
    switch_on(address, "e5")
    pids = killed_at(proxy, request_, number, is_done=is_done)
    command: list[Path | str] = [
        PROGRAMS / "idx",
        "semantic",
        "update",
        "-i",
        through(proxy, address),
    ]
    with subprocess.Popen(command) as writer:
        pids.append(writer.pid)
        assert writer.wait(60) == -signal.SIGKILL
    swapped = {"parking": TEXTS["severance"], "severance": TEXTS["parking"]}
    write(address, **swapped)
    store_of(address).change(begun_long_ago)
    assert "4 of 4 chunks embedded" in idx("semantic", "update", "-i", address).stdout
    assert found(address)[0] == "parking"
