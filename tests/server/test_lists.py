"""Lists of documents and fields: their order, and how much they show."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent

from shared import Document, Index
from shared.model.document import Metadata
from shared.writing.index import create
from tests.conftest import Connect, Idx, add_documents, connected
from tests.idx.preparation import index_files
from tests.server.tool_answers import answer, error

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
        metadata: Metadata = {"modified": modified} if modified else {}
        # A commit each, so that they lie in several segments.
        add_documents(path, Document(id_, title, "word " * words, metadata))
    return path


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


@pytest.mark.parametrize(
    "order",
    [
        *("source_document", "-modified", "title", "-chunks"),
        *(
            pytest.param(order, marks=pytest.mark.soak)
            for order in ("-source_document", "modified", "-title", "chunks")
        ),
    ],
)
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


@pytest.fixture(scope="module")
def note(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file beside the index that it is in."""
    note = tmp_path_factory.mktemp("note") / "note.txt"
    note.write_text("A note about otters in the river, see DEC-0054.")
    index_files(note.with_name("lucene-index"), note)
    return note


@pytest.fixture(scope="module")
async def note_client(note: Path, client: Client) -> AsyncIterator[Client]:
    async with connected(note.with_name("lucene-index")) as note_client:
        yield note_client


async def test_documents_are_listed_without_hashes_and_sizes_unless_asked(
    idx: Idx, note: Path, note_client: Client
) -> None:
    (brief,) = answer(await note_client.call_tool("ListDocuments", {}))["documents"]
    full = answer(await note_client.call_tool("ListDocuments", {"detail": "full"}))
    assert brief["file_path"] == note.as_posix()
    assert brief["chunk_count"] == brief["max_chunk_index"] == 1
    assert set(brief["metadata"]) == {"file_type", "language", "modified"}
    assert {"content_hash", "file_size", "indexed"} <= full["documents"][0]["metadata"].keys()
    index_path = note.with_name("lucene-index")
    assert json.loads(idx("list", "-i", index_path, "--json").stdout) == full


async def test_fields_take_less_than_4_kb_however_many_there_are(
    idx: Idx, tmp_path: Path, empty_index: Path, connect: Connect
) -> None:
    (tmp_path / "note.txt").write_text("A note about otters in the river.")
    index_files(empty_index, tmp_path / "note.txt")
    with Index(empty_index) as index:
        for number in range(20):
            metadata: Metadata = {f"key {number} {n}": "a value of text " * 9 for n in range(45)}
            index.add(Document(f"{number}", "T", "text", metadata | {"common": "value"}))
    async with connect() as client:
        brief = await client.call_tool("list_fields", {})
        full = answer(
            await client.call_tool("list_fields", {"detail": "full", "max_characters": 1_000_000})
        )
        small = await client.call_tool("list_fields", {"max_characters": 2_000})
    (text,) = brief.content
    assert isinstance(text, TextContent)
    assert len(text.text.encode()) < 4_000
    found = answer(brief)
    names = [field["name"] for field in found["fields"]]
    assert {"content", "title", "source_document", "common", "key 0 0"} <= set(names)
    assert names.index("common") < names.index("key 0 0")
    assert len(names) > 12
    everything = {field["name"] for field in full["fields"]}
    assert {"content_hash", "stems", "key 19 44"} <= everything
    assert len(everything) > 900
    assert full["notice"] is None
    assert found["notice"].startswith(f"{len(everything) - len(names):,} fields left out")
    assert "detail=full" in found["notice"]
    assert json.loads(idx("fields", "--json").stdout)["fields"] == full["fields"]
    (text,) = small.content
    assert isinstance(text, TextContent)
    assert len(text.text) < 2_000


async def test_fields_of_an_index_of_files_are_those_that_help_a_search(
    note_client: Client,
) -> None:
    found = answer(await note_client.call_tool("list_fields", {}))
    names = [field["name"] for field in found["fields"]]
    assert {"file_path", "file_type", "language", "modified"} <= set(names)
    assert {"content_hash", "file_size", "indexed", "languages"}.isdisjoint(names)
    by_name = {field["name"]: field for field in found["fields"]}
    assert by_name["language"]["examples"] == ["en"]
    assert by_name["language"]["filterable"] is True
