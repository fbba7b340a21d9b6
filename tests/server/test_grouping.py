"""Results of the tool `Search` grouped by document, and the newest version of several."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.conftest import Connect, add_documents
from tests.idx.letters import VERSIONS, letters
from tests.idx.test_grouping import DOCUMENTS, QUERY, write_documents
from tests.server.tool_answers import told


@pytest.fixture
async def client(empty_index: Path, connect: Connect) -> AsyncIterator[Client]:
    """A client of a server on a long document with the word in each of many chunks, and others."""
    write_documents(empty_index)
    async with connect() as client:
        yield client


def documents(found: dict[str, Any]) -> list[str]:
    return [hit["source_document"] for hit in found["results"]]


async def test_a_page_has_as_many_documents_as_results(client: Client) -> None:
    async def search(**arguments: Any) -> Any:
        return await told(client, "Search", query=QUERY, **arguments)

    single = await search(content="none", limit=10)
    assert documents(single).count("long") == 10
    assert not {"total_documents"} & single.keys()
    assert not {"others", "more"} & single["results"][0].keys()
    total = single["totalHits"]

    grouped = await search(group="document", content="none", facets=["kind"])
    assert documents(grouped)[0] == "long"
    assert len(set(documents(grouped))) == len(grouped["results"]) == 10
    assert (grouped["totalHits"], grouped["total_documents"]) == (total, DOCUMENTS)
    # The first three are those that single results begin with, and the others are counted.
    best = grouped["results"][0]
    together = [best, *best["others"]]
    assert [hit["id"] for hit in together] == [hit["id"] for hit in single["results"][:3]]
    assert [hit["score"] for hit in together] == [hit["score"] for hit in single["results"][:3]]
    assert best["more"] == total - (DOCUMENTS - 1) - 3
    assert grouped["results"][1]["others"] == []
    assert grouped["results"][1]["more"] == 0

    # A page continues the one before.
    following = await search(group="document", content="none", offset=10)
    assert not {*documents(grouped)} & {*documents(following)}
    assert {*documents(grouped), *documents(following)} == {
        "long",
        *(f"town-{number:02d}" for number in range(DOCUMENTS - 1)),
    }
    # Facets count what the results are.
    assert grouped["facets"][0]["values"] == [
        {"value": "note", "count": DOCUMENTS - 1},
        {"value": "book", "count": 1},
    ]
    (by_chunk,) = (await search(facets=["kind"]))["facets"]
    assert by_chunk["values"][0] == {"value": "book", "count": total - (DOCUMENTS - 1)}

    # Passages are grouped unless something else is asked for.
    assert "total_documents" in await search(content="passages")
    assert "total_documents" not in await search(content="passages", group="none")
    # The order of the documents is that of the request, their chunks are best first.
    ordered = await search(group="document", sort="-source_document", content="none", limit=20)
    assert documents(ordered) == sorted(documents(ordered), reverse=True)
    assert ordered["results"][-1]["id"] == best["id"]
    assert ordered["results"][-1]["others"] == best["others"]


@pytest.mark.parametrize("content", ["auto", "passages", "full"])
async def test_a_grouped_answer_is_as_short_as_another_one(client: Client, content: str) -> None:
    arguments: dict[str, Any] = {"query": QUERY, "group": "document", "content": content}
    found = await told(client, "Search", **arguments)
    size = len(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
    assert size <= {"auto": 6_000, "passages": 10_000, "full": 40_000}[content]
    best = found["results"][0]
    assert best["more"] + len(best["others"]) == found["totalHits"] - found["total_documents"]
    if content == "full":
        assert all(other["content"] for other in best["others"])
        arguments["max_characters"] = 5_000
        found = await told(client, "Search", **arguments)
        assert len(json.dumps(found, separators=(",", ":"))) <= 5_000
        assert found["notice"]


async def test_an_agent_gets_the_newest_version_and_the_ids_of_the_others(
    empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, *letters())
    async with connect() as client:

        async def search(**arguments: Any) -> Any:
            return await told(client, "Search", query="harbour", **{"limit": 20, **arguments})

        def documents(found: Any) -> set[str]:
            return {hit["source_document"] for hit in found["results"]}

        plain = await search(content="none")
        assert {*VERSIONS} <= documents(plain)
        assert not any("similar_documents" in hit for hit in plain["results"])

        for arguments in (
            {"content": "passages"},
            {"content": "none", "group": "document"},
            {"content": "none", "sort": "-modified"},
            {"content": "none", "versions": "newest"},
        ):
            found = await search(**arguments)
            assert documents(found) & {*VERSIONS} == {"final"}, arguments
            (hit,) = [hit for hit in found["results"] if "similar_documents" in hit]
            assert hit["similar_documents"] == {"count": 2, "ids": ["second", "draft"]}
            assert found["totalHits"] == plain["totalHits"]

        assert {*VERSIONS} <= documents(await search(content="passages", versions="all"))
        # The number stays where the ids have no room.
        short = await search(content="passages", limit=1, max_characters=2_000, sort="-modified")
        assert short["results"][0]["similar_documents"]["count"] == 2
