"""Search by meaning through the real server process, with the real model."""

import shutil
from functools import partial
from pathlib import Path

import pytest
from mcp import Client

from shared import Document, Index
from shared.maintenance.embedding import embed, switch_off, switch_on
from shared.semantic.models import encoder_of, install
from tests.conftest import add_documents, connected
from tests.embedding_server import NAME, embeds
from tests.model_server import hangs_up, serving
from tests.server.http.served import served_here
from tests.server.pages.browsing import visit
from tests.server.tool_answers import told
from tests.shared.semantic.test_e5 import source
from tests.shared.semantic.vectors import vectors_of

pytestmark = pytest.mark.usefixtures("semantic")

QUESTION = "How much money do I get if I am laid off?"

DOCUMENTS = (
    Document("severance", "Dismissal", "Dismissed employees receive severance pay of two wages."),
    Document("parking", "Parking", "Cars without a permit are towed away at night."),
    Document("printer", "Printer", "If paper jams, pull the sheet out slowly."),
)


def fill(path: Path) -> None:
    add_documents(path, *DOCUMENTS)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("semantic") / "lucene-index"
    fill(path)
    switch_on(path, "e5")
    embed(path)
    return path


async def test_documents_found_by_meaning_are_counted(client: Client) -> None:
    # "jams" is in one document, and another one has none of the words.
    for query in (QUESTION, "jams: how much money do I get if I am laid off?"):
        found = await told(client, "Search", query=query, group="document", content="none")
        single = await told(client, "Search", query=query, content="none")
        alike = [{**hit, "others": [], "more": 0} for hit in single["results"]]
        assert found["results"] == alike
        assert found["total_documents"] == single["totalHits"] == len(alike)
        assert any(hit.get("matched") for hit in alike)


async def test_a_result_by_meaning_is_marked(client: Client) -> None:
    found = await told(client, "Search", query=QUESTION)
    assert found["results"][0]["source_document"] == "severance"
    assert found["results"][0]["matched"] == "meaning"
    assert found["totalHits"] == len(found["results"])
    assert "note" not in found
    words = await told(client, "Search", query=QUESTION, search="words")
    assert "severance" not in [hit["source_document"] for hit in words["results"]]
    by_words = (await told(client, "Search", query="paper jams"))["results"][0]
    assert by_words["source_document"] == "printer"
    assert "matched" not in by_words


def test_the_page_marks_it_too(index: Path) -> None:
    with served_here(index) as server:
        assert visit(server, "/", q=QUESTION).texts(".matched")[0] == "by meaning"
        assert "by meaning" not in visit(server, "/", q="paper jams").texts(".hit")[0]


async def test_pages_follow_each_other(client: Client) -> None:
    whole = (await told(client, "Search", query=QUESTION))["results"]
    pages = [
        await told(client, "Search", query=QUESTION, limit=1, offset=offset)
        for offset in range(len(whole))
    ]
    assert [page["results"][0]["id"] for page in pages] == [hit["id"] for hit in whole]
    assert {page["totalHits"] for page in pages} == {len(whole)}


async def test_a_model_that_is_missing_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(source(), folder)
    fill(tmp_path / "index")
    monkeypatch.setenv("IDX_SEMANTIC", str(folder))
    switch_on(tmp_path / "index", str(folder))
    embed(tmp_path / "index")
    shutil.rmtree(folder)
    async with connected(tmp_path / "index") as client:
        first = await told(client, "Search", query="paper jams")
        second = await told(client, "Search", query="paper jams")
    assert first["note"].startswith(f"Ranked by words only: the sentence model {folder}")
    assert "note" not in second
    assert first["results"] == second["results"] != []


async def test_a_server_of_models_that_goes_away_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "index")
    with serving(embeds(partial(vectors_of, encoder_of(install("e5"))))) as models:
        name = f"{models.url}#{NAME}"
        monkeypatch.setenv("IDX_SEMANTIC", name)
        switch_on(tmp_path / "index", name)
        embed(tmp_path / "index")
        async with connected(tmp_path / "index", IDX_SEMANTIC=name) as client:
            found = await told(client, "Search", query=QUESTION)
            assert found["results"][0]["source_document"] == "severance"
            models.answer = hangs_up
            first = await told(client, "Search", query="paper jams")
            asked = len(models.requests)
            second = await told(client, "Search", query="sheets of paper")
            assert len(models.requests) == asked
    assert "cannot be reached, or closed the connection" in first["note"]
    assert "note" not in second
    assert first["results"] != []
    assert second["results"] != []


async def test_the_server_follows_the_index(tmp_path: Path) -> None:
    path = tmp_path / "index"
    fill(path)
    async with connected(path) as client:

        async def is_found() -> bool:
            found = await told(client, "Search", query=QUESTION)
            return "severance" in [hit["source_document"] for hit in found["results"]]

        assert not await is_found()
        switch_on(path, "e5")
        assert not await is_found()
        embed(path)
        assert await is_found()
        with Index(path) as index:
            index.delete("severance")
        assert not await is_found()
        add_documents(path, DOCUMENTS[0])
        assert not await is_found()
        embed(path)
        assert await is_found()
        switch_off(path)
        assert not await is_found()
