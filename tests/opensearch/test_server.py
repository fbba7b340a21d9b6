"""The server on an index on a node."""

import re
from pathlib import Path

import pytest

from tests.conftest import Idx, connected
from tests.opensearch.node import Node
from tests.opensearch.proxy import before
from tests.server.tool_answers import answer, error

pytestmark = pytest.mark.opensearch


def add(idx: Idx, address: str, text: str) -> None:
    idx("add", "-i", address, "--id", "d", "--title", "D", "-c", text)


async def test_every_search_sees_what_was_written_before(idx: Idx, node: Node) -> None:
    address = f"{node.address}/fresh"
    async with connected(Path(address)) as client:
        assert "there is no index" in error(await client.call_tool("Search", {"query": "word"}))
        for number in range(4):
            add(idx, address, f"word number{number}")
            found = answer(await client.call_tool("Search", {"query": f"number{number}"}))
            assert [hit["content"] for hit in found["results"]] == [f"word number{number}"]
        idx("delete", "-i", address, "d")
        assert answer(await client.call_tool("Search", {"query": "word"}))["totalHits"] == 0
        node.request("DELETE", "/fresh-000001")
        add(idx, address, "another word")
        found = answer(await client.call_tool("Search", {"query": "another"}))
        assert found["totalHits"] == 1, "another index has taken the name"


async def test_shards_get_no_more_time_than_the_call_has(idx: Idx, node: Node) -> None:
    with before(node) as proxy:
        proxy.asks_who = False
        address = f"opensearch://127.0.0.1:{proxy.port}/budget"
        add(idx, address, "the garden of the tenant by the boat")
        for budget, most in (("2", 2_000), ("60", 10_000)):
            async with connected(Path(address), "--time-budget", budget) as client:
                await client.call_tool("Search", {"query": "garden"})
                proxy.bodies.clear()
                await client.call_tool("Search", {"query": "garden tenant boat"})
            given = re.findall(rb'"timeout": ?"([0-9]+)ms"', b"".join(proxy.bodies))
            assert given
            assert all(most - 1_900 < int(each) <= most for each in given)


async def test_documents_are_listed_and_read_as_resources(idx: Idx, node: Node) -> None:
    address = f"{node.address}/listed"
    add(idx, address, " ".join(["word"] * 600))
    async with connected(Path(address)) as client:
        listed = await client.list_resources()
        names = {str(resource.uri) for resource in listed.resources}
        assert any("d" in name for name in names)
        told = answer(await client.call_tool("ListDocuments", {}))
        assert (told["total_documents"], told["total_chunks"]) == (1, 3)
        said = error(await client.call_tool("get_next_chunk", {"chunk_id": "e-chunk-001"}))
        assert "e-chunk-001" in said
