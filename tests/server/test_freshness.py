"""What a search sees: every commit at once, whoever makes it, whenever the server started."""

import asyncio
from pathlib import Path
from typing import Any

from mcp import Client

from shared import Document
from tests.conftest import Connect, Idx, add_documents
from tests.server.other_writer import other_writer
from tests.server.tool_answers import error, refused, told


async def search(client: Client, query: str, **arguments: Any) -> dict[str, Any]:
    return await told(client, "Search", query=query, **arguments)


async def test_a_server_started_before_the_index_finds_each_document_at_once(
    idx: Idx, index_path: Path, connect_by_stdio: Connect
) -> None:
    async with connect_by_stdio() as client:
        early = await client.call_tool("Search", {"query": "anything"})
        assert "there is no index at" in error(early)
        idx("init")
        assert (await search(client, "anything"))["totalHits"] == 0
        idx("add", "-d", "0", "-t", "T", "-c", "unique0 common")
        assert (await search(client, "unique0"))["totalHits"] == 1
        with other_writer(index_path) as add:
            for number in range(1, 8):
                await asyncio.to_thread(add, str(number), f"unique{number} common")
                found = await search(client, f"unique{number}")
                assert found["results"][0]["id"] == f"{number}-chunk-001"
                assert (await search(client, "common"))["totalHits"] == number + 1


async def test_deletions_and_replacements_are_seen_at_once(
    idx: Idx, empty_index: Path, connect_by_stdio: Connect
) -> None:
    long = " ".join(f"word{number}" for number in range(700))
    idx("add", "-d", "a", "-t", "A", "-c", long)
    async with connect_by_stdio() as client:
        following = {"chunk_id": "a-chunk-002"}
        step = await told(client, "get_next_chunk", **following)
        assert step["chunk"]["id"] == "a-chunk-003"
        idx("add", "-d", "a", "-t", "A", "-c", " ".join(long.split()[:300]))
        assert (await told(client, "get_next_chunk", **following))["chunk"] is None
        idx("delete", "a")
        message = await refused(client, "get_next_chunk", **following)
        assert "no chunk has the id 'a-chunk-002'" in message


async def test_concurrent_searches_while_another_process_writes(
    empty_index: Path, connect_by_stdio: Connect
) -> None:
    def text(version: int) -> str:
        return " ".join([f"version{version}"] * 700)

    add_documents(empty_index, Document("a", "A", text(0)))
    writing = True
    answers = 0

    async def read_whole_documents(client: Client) -> None:
        nonlocal answers
        while writing:
            read = await told(client, "get_document_chunks", source_document_id="a", count=10)
            chunks = read["chunks"]
            assert len(chunks) == read["total_chunks"] == 4
            versions = {word for chunk in chunks for word in chunk["content"].split()}
            assert len(versions) == 1
            found = await search(client, "version*", limit=3, content="none")
            assert found["totalHits"] == 4
            answers += 1

    async with connect_by_stdio() as client, asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(read_whole_documents(client))
        with other_writer(empty_index) as add:
            for version in range(1, 4):
                await asyncio.to_thread(add, "a", text(version))
                while answers < 10 * version:
                    await asyncio.sleep(0.01)
        writing = False
    assert answers >= 30
