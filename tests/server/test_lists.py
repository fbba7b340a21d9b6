"""Lists of documents and fields, and the length of all answers, which say what they left out."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult
from pydantic_core import to_json

from shared import Document, Index
from shared.model.document import Metadata
from shared.writing.index import create
from tests.conftest import Connect, Idx, add_documents, connected
from tests.idx.preparation import index_files
from tests.server.tool_answers import answer, error, refused, text_of, told

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
    found = await told(client, "ListDocuments", **arguments)
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


@pytest.mark.parametrize("order", ["source_document", "-modified", "title", "-chunks"])
def test_idx_list_takes_the_same_orders(idx: Idx, index: Path, order: str) -> None:
    arguments = ("list", "-i", index, "--sort", order, "--offset", 1, "--limit", 3)
    found = idx.json(*arguments)
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
    message = await refused(client, "ListDocuments", sort="size")
    assert "the argument 'sort' is 'size'" in message
    assert "'-modified'" in message
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
    (brief,) = (await told(note_client, "ListDocuments"))["documents"]
    full = await told(note_client, "ListDocuments", detail="full")
    assert brief["file_path"] == note.as_posix()
    assert brief["chunk_count"] == brief["max_chunk_index"] == 1
    assert set(brief["metadata"]) == {"file_type", "language", "modified"}
    assert {"content_hash", "file_size", "indexed"} <= full["documents"][0]["metadata"].keys()
    index_path = note.with_name("lucene-index")
    assert idx.json("list", "-i", index_path) == full


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
        full = await told(client, "list_fields", detail="full", max_characters=1_000_000)
        small = await client.call_tool("list_fields", {"max_characters": 2_000})
    assert len(text_of(brief).encode()) < 4_000
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
    assert idx.json("fields")["fields"] == full["fields"]
    assert len(text_of(small)) < 2_000


async def test_fields_of_an_index_of_files_are_those_that_help_a_search(
    note_client: Client,
) -> None:
    found = await told(note_client, "list_fields")
    names = [field["name"] for field in found["fields"]]
    assert {"file_path", "file_type", "language", "modified"} <= set(names)
    assert {"content_hash", "file_size", "indexed", "languages"}.isdisjoint(names)
    by_name = {field["name"]: field for field in found["fields"]}
    assert by_name["language"]["examples"] == ["en"]
    assert by_name["language"]["filterable"] is True


TEXTS = Path(__file__).parents[1] / "data" / "languages"


@pytest.fixture
async def own_client(empty_index: Path, connect: Connect) -> AsyncIterator[Client]:
    add_documents(empty_index, Document("manual", "The manual", "word " * 700))
    async with connect() as own_client:
        yield own_client


async def test_an_answer_stays_short_and_says_what_was_cut(
    own_client: Client, empty_index: Path
) -> None:
    with Index(empty_index) as index:
        for number in range(30):
            index.add(Document(f"big{number:02}", "Big", "large " * 249 + "x" * 3_000))
        index.add(Document("huge", "Huge", "huge" + "y" * 200_000))
    result = await own_client.call_tool(
        "Search", {"query": "large", "limit": 30, "content": "full"}
    )
    assert len(text_of(result)) < 40_000
    found = answer(result)
    assert found["totalHits"] == 30
    assert re.search(
        r"under 40,000 characters, .* results left out.*max_characters", found["notice"]
    )
    result = await own_client.call_tool("Search", {"query": "title:huge", "content": "full"})
    assert len(text_of(result)) < 40_000
    (hit,) = answer(result)["results"]
    assert hit["content"].endswith("y…")
    found = await told(
        own_client, "Search", query="large", limit=30, content="full", max_characters=200_000
    )
    assert (len(found["results"]), found["notice"]) == (30, None)
    calls: dict[str, dict[str, Any]] = {
        "get_document_chunks": {"source_document_id": "huge"},
        "get_next_chunk": {"chunk_id": "manual-chunk-001"},
        "ListDocuments": {"limit": 1000},
    }
    for tool, arguments in calls.items():
        result = await own_client.call_tool(tool, arguments)
        assert len(text_of(result)) < 40_000


async def test_long_ids_do_not_break_the_budget(own_client: Client, empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(10):
            index.add(Document(f"{number}" + "🦦" * 9_999, "T", "otter"))
    result = await own_client.call_tool("Search", {"query": "otter"})
    assert len(text_of(result)) < 40_000
    assert "results left out" in answer(result)["notice"]


async def test_one_result_that_is_too_long_hides_no_other(
    own_client: Client, empty_index: Path
) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "T" * 9_999, "otter"))
        index.add(Document("b", "Short", "otter " * 3))
    found = await told(own_client, "Search", query="otter", max_characters=4_000)
    assert {hit["source_document"] for hit in found["results"]} == {"a", "b"}
    assert "cut short" in found["notice"]


async def test_what_a_client_sends_does_not_come_back_at_length(own_client: Client) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Search", {"query": '"' + "\x01" * 19_000 + '"'}),
        ("Search", {"query": "a", "x" * 100_000: 1}),
        ("Search", {"query": "a", "filters": [{"field": "b" * 300} for _ in range(3000)]}),
        ("Search", {"query": "a", "filters": [{"x": 1} for _ in range(3000)]}),
        ("get_next_chunk", {"chunk_id": "x" * 300_000}),
        ("get_document_chunks", {"source_document_id": "x" * 300_000}),
        ("x" * 100_000, {}),
    ]
    for tool, arguments in calls:
        result = await own_client.call_tool(tool, arguments)
        assert len(text_of(result)) < 40_000


async def test_a_long_query_is_cut_in_its_suggestion_too(own_client: Client) -> None:
    found = await told(own_client, "Search", query="manuall " * 2_000)
    assert found["suggestion"].startswith("manual manual")
    assert len(found["suggestion"]) < 2_000


def write_rights(index_path: Path) -> None:
    """Twelve documents of one long chunk each, and a short one."""
    words = (TEXTS / "en.txt").read_text("utf-8").split() * 2
    with Index(index_path) as index:
        for number in range(12):
            text = " ".join(words[number * 60 : number * 60 + 250])
            metadata: Metadata = {"author": "Ann Author", "modified": "2026-11-22T09:12:05Z"}
            index.add(Document(f"documents/rights/part-{number}.txt", "On rights", text, metadata))
        index.add(Document("short", "On rights", "Everyone has rights.", {"year": 2024}))


@pytest.mark.parametrize("options", [(), ("--fence",)])
async def test_ten_hits_take_under_6_kb(
    empty_index: Path, connect: Connect, options: tuple[str, ...]
) -> None:
    write_rights(empty_index)
    async with connect(*options) as client:
        result = await client.call_tool("Search", {"query": "everyone rights"})
        found = answer(result)
        _, *links = result.content
        assert len(text_of(result)) <= 6_000
        assert len(links) == 5
        assert sum(len(link.model_dump_json(exclude_none=True)) for link in links) < 800
        whole = {hit["source_document"] for hit in found["results"] if hit["content"] is not None}
        assert len(found["results"]) == 10
        assert whole == {"short"}
        for hit in found["results"]:
            if hit["content"] is None:
                assert 1 <= len(hit["passages"]) <= 3
                assert hit["passages"][0].count("<mark>") >= 1
                for passage in hit["passages"]:
                    assert passage.count("<mark>") == passage.count("</mark>")
            else:
                assert hit["passages"] is None
                assert hit["metadata"] == {"year": 2024}
        again = await told(client, "Search", query="everyone rights", content="auto")
        assert len(to_json(again)) == len(to_json(found))


async def test_few_hits_have_their_whole_texts(own_client: Client, empty_index: Path) -> None:
    write_rights(empty_index)
    found = await told(own_client, "Search", query="everyone rights", limit=2)
    assert all(hit["content"] and hit["char_end"] for hit in found["results"])
    found = await told(own_client, "Search", query="everyone rights", content="full")
    assert all(hit["content"] for hit in found["results"])
    assert len(to_json(found)) > 10_000


async def test_long_words_and_names_leave_a_part_of_a_passage(
    own_client: Client, empty_index: Path
) -> None:
    with Index(empty_index) as index:
        for number in range(10):
            text = "a" * 700 + " otter " + "b" * 700
            index.add(Document(f"{number}" + "x" * 300, "Long", text, {"author": "A" * 400}))
    found = await told(own_client, "Search", query="otter")
    assert len(found["results"]) == 10
    for hit in found["results"]:
        assert hit["content"] is None
        assert hit["passages"]
        assert "<mark>otter</mark>" in hit["passages"][0]
        assert len(hit["passages"][0]) <= 100
        assert hit["metadata"] == {}


async def test_ten_hits_with_passages_take_under_10_kb(
    own_client: Client, empty_index: Path
) -> None:
    write_rights(empty_index)
    found = await told(own_client, "Search", query="everyone rights", content="passages")
    assert len(found["results"]) == 10
    assert all(1 <= len(hit["passages"]) <= 3 for hit in found["results"])
    assert sum(len(hit["passages"]) for hit in found["results"]) > 10
    assert len(to_json(found)) < 10_000


async def test_parts_of_several_documents_are_read_in_one_call(
    own_client: Client, empty_index: Path
) -> None:
    with Index(empty_index) as index:
        for name in ("a", "b"):
            index.add(Document(name, name, " ".join(f"{name}{word}" for word in range(1_000))))
    asked = {
        "source_document_id": "a",
        "count": 1,
        "more": [
            {"source_document_id": "b", "start_index": 3, "count": 2},
            {"source_document_id": "a", "count": 1},
            {"source_document_id": "a", "start_index": 100},
        ],
    }

    async def read(**changed: Any) -> CallToolResult:
        return await own_client.call_tool("get_document_chunks", {**asked, **changed})

    told = answer(await read())
    assert [chunk["id"] for chunk in told["chunks"]] == ["a-chunk-001"]
    found = [[chunk["id"] for chunk in part["chunks"]] for part in told["more"]]
    assert found == [["b-chunk-003", "b-chunk-004"], ["a-chunk-001"], []]
    assert [part["source_document"] for part in told["more"]] == ["b", "a", "a"]
    assert "no document has the id" in error(await read(more=[{"source_document_id": "none"}]))
    assert "more.0.count" in error(await read(more=[{"source_document_id": "a", "count": 0}]))
    short = await read(max_characters=4_000)
    assert len(text_of(short)) < 4_000
    assert answer(short)["chunks"] == told["chunks"]
    assert "cut short" in answer(short)["notice"]
