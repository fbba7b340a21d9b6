"""Lists of documents and fields: their order, and how much they show."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from shared import Document, Index
from shared.document import Metadata
from shared.index import create
from tests.conftest import Connect, Idx, connected
from tests.server.answers import answer, error

pytestmark = pytest.mark.anyio

DOCUMENTS = (
    ("c", "zebra", 1, "2024-05-01T00:00:00Z"),
    ("a/2", "Älter", 700, "2023-05-01T00:00:00Z"),
    ("a/1", "Banana", 300, None),
    ("b", "apple", 300, "2025-01-01T00:00:00Z"),
    ("d", "banana", 1, "2024-05-01T00:00:00Z"),
)
"""Ids, titles, words, and when they were modified."""

ORDERS = {
    "source_document": ["a/1", "a/2", "b", "c", "d"],
    "-source_document": ["d", "c", "b", "a/2", "a/1"],
    "modified": ["a/2", "c", "d", "b", "a/1"],
    "-modified": ["b", "c", "d", "a/2", "a/1"],
    "title": ["a/2", "b", "a/1", "d", "c"],
    "-title": ["c", "a/1", "d", "b", "a/2"],
    "chunks": ["c", "d", "a/1", "b", "a/2"],
    "-chunks": ["a/2", "a/1", "b", "c", "d"],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lists") / "lucene-index"
    create(path)
    for id_, title, words, modified in DOCUMENTS:
        # A commit each, so that they lie in several segments.
        with Index(path) as index:
            metadata: Metadata = {"modified": modified} if modified else {}
            index.add(Document(id_, title, "word " * words, metadata))
    return path


@pytest.fixture(scope="module")
async def client(index: Path) -> AsyncIterator[Client]:
    async with connected(index) as client:
        yield client


async def listed(client: Client, **arguments: Any) -> list[str]:
    found = answer(await client.call_tool("ListDocuments", arguments))
    return [document["source_document"] for document in found["documents"]]


@pytest.mark.parametrize("order", ORDERS)
async def test_documents_come_in_the_order_that_was_asked_for(client: Client, order: str) -> None:
    expected = ORDERS[order]
    assert await listed(client, sort=order) == expected
    pages = [await listed(client, sort=order, offset=place, limit=2) for place in (0, 2, 4, 6)]
    assert pages == [expected[0:2], expected[2:4], expected[4:], []]
    in_folder = [id_ for id_ in expected if id_.startswith("a/")]
    assert await listed(client, sort=order, prefix="a/") == in_folder
    assert await listed(client, sort=order, prefix="a/", offset=1, limit=5) == in_folder[1:]
    assert await listed(client, sort=order, prefix="zzz") == []


@pytest.mark.parametrize("order", ORDERS)
def test_idx_list_takes_the_same_orders(idx: Idx, index: Path, order: str) -> None:
    arguments = ("list", "-i", index, "--sort", order, "--offset", 1, "--limit", 3)
    found = json.loads(idx(*arguments, "--json").stdout)
    assert [each["source_document"] for each in found["documents"]] == ORDERS[order][1:4]
    assert (found["total_documents"], found["total_chunks"]) == (5, 10)
    assert "5 documents, 10 chunks" in idx(*arguments).stdout


async def test_the_order_of_titles_and_chunks_is_that_of_the_newest_commit(
    empty_index: Path, connect: Connect
) -> None:
    async with connect() as client:
        for order in ORDERS:
            assert await listed(client, sort=order) == []
        with Index(empty_index) as index:
            index.add(Document("a", "First", "text"))
            index.add(Document("b", "Second", "text"))
            index.add(Document("c", "Third", "text"))
        # Nothing has this metadata.
        assert await listed(client, sort="-modified") == ["a", "b", "c"]
        assert await listed(client, sort="title") == ["a", "b", "c"]
        assert await listed(client, sort="-chunks") == ["a", "b", "c"]
        with Index(empty_index) as index:
            index.add(Document("a", "Zuletzt", "word " * 700))
            index.delete("b")
        assert await listed(client, sort="title") == ["c", "a"]
        assert await listed(client, sort="chunks") == ["c", "a"]


async def test_an_order_that_does_not_exist_is_refused_with_those_that_do(
    client: Client, idx: Idx, index: Path
) -> None:
    told = error(await client.call_tool("ListDocuments", {"sort": "size"}))
    assert "the argument 'sort' is 'size'" in told
    assert "'-modified'" in told
    assert "'-modified'" in idx("list", "-i", index, "--sort", "size", code=2).stderr
