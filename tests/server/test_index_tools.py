"""The tools on terms, fields, documents and the index, through the real server over stdio."""

import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from shared import Document, Index
from shared.model.document import Metadata
from tests.conftest import Connect, NewIndex
from tests.server.tool_answers import answer, error

pytestmark = pytest.mark.anyio

LONG = " ".join(f"word{number}" for number in range(700))


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    manual: Metadata = {"year": 2020, "author": "Ann", "creator": "Writer", "language": "en"}
    return new_index(
        Document("manual", "The manual", LONG, manual),
        Document("menu", "Menu", "Café au lait\ncafés", {"year": 2024, "author": "Bob"}),
        Document("note", "Note", "the café, see DEC-0054", {"author": "Ann"}),
    )


async def test_terms_with_a_prefix(client: Client) -> None:
    assert answer(await client.call_tool("suggest_terms", {"prefix": "CAFÉ"})) == {
        "field": "content",
        "prefix": "cafe",
        "terms": [{"term": "cafe", "chunks": 2}, {"term": "cafes", "chunks": 1}],
        "complete": True,
        "notice": None,
    }
    nothing = answer(await client.call_tool("suggest_terms", {"prefix": "zzz"}))
    assert nothing["terms"] == []
    arguments = {"prefix": "A", "field": "author", "limit": 1}
    found = answer(await client.call_tool("suggest_terms", arguments))
    assert found["terms"] == [{"term": "Ann", "chunks": 5}]
    names = {"prefix": "dec00", "field": "content"}
    found = answer(await client.call_tool("suggest_terms", names))
    assert "dec0054" in [entry["term"] for entry in found["terms"]]


async def test_terms_of_most_chunks(client: Client) -> None:
    values = answer(await client.call_tool("top_terms", {"field": "author"}))
    assert (values["field"], values["prefix"], values["complete"]) == ("author", "", True)
    assert values["terms"] == [{"term": "Ann", "chunks": 5}, {"term": "Bob", "chunks": 1}]
    words = answer(await client.call_tool("top_terms", {"limit": 2, "min_length": 5}))
    assert [entry["chunks"] for entry in words["terms"]] == [2, 2]
    assert all(len(entry["term"]) >= 5 for entry in words["terms"])


async def test_fields(client: Client) -> None:
    listed = answer(await client.call_tool("list_fields", {"detail": "full"}))
    assert (listed["total_chunks"], listed["notice"]) == (6, None)
    by_name = {field["name"]: field for field in listed["fields"]}
    internal = {"details", "file_state", "content.reversed", "languages", "number.year"}
    assert internal.isdisjoint(by_name)
    assert list(by_name)[:4] == ["content", "title", "stems", "title_stems"]
    assert by_name["author"] == {
        "name": "author",
        "kind": "keyword",
        "meaning": None,
        "chunks": 6,
        "searchable": True,
        "query_name": "metadata.author",
        "filterable": True,
        "sortable": True,
        "facet": True,
        "examples": ["Ann", "Bob"],
    }
    assert by_name["year"]["kind"] == "number"
    assert by_name["stems"]["kind"] == "text"
    assert by_name["content"]["filterable"] is False
    query = f"{by_name['author']['query_name']}:Bob"
    assert answer(await client.call_tool("Search", {"query": query}))["totalHits"] == 1


async def test_statistics(client: Client) -> None:
    figures = answer(await client.call_tool("index_stats", {}))
    assert (figures["documents"], figures["chunks"], figures["deleted_chunks"]) == (3, 6, 0)
    assert figures["languages"]["en"] >= 1
    assert figures["notice"] is None


async def test_details_of_a_document(client: Client) -> None:
    arguments = {"source_document_id": "manual"}
    details = answer(await client.call_tool("document_details", arguments))
    assert LONG.startswith(details.pop("preview").removesuffix("…"))
    assert details == {
        "source_document": "manual",
        "title": "The manual",
        "chunk_count": 4,
        "language": "en",
        "words": 700,
        "characters": len(LONG),
        "metadata": {"year": 2020, "author": "Ann", "creator": "Writer", "language": "en"},
        "notice": None,
    }
    menu = answer(await client.call_tool("document_details", {"source_document_id": "menu"}))
    assert (menu["preview"], menu["words"], menu["characters"]) == ("Café au lait\ncafés", 4, 18)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("suggest_terms", {}, r"the argument 'prefix' is missing"),
        ("suggest_terms", {"prefix": ""}, r"the argument 'prefix' is ''"),
        ("suggest_terms", {"prefix": "x" * 1_001}, r"the argument 'prefix' is"),
        ("suggest_terms", {"prefix": "a", "limit": 101}, r"the argument 'limit' is 101"),
        ("suggest_terms", {"prefix": "a", "field": "autor"}, r"did you mean 'author'"),
        ("top_terms", {"field": "zzz"}, r"'zzz' .*the fields are content, title, stems"),
        ("top_terms", {"limit": 0}, r"the argument 'limit' is 0"),
        ("top_terms", {"feld": "x"}, r"did you mean 'field'"),
        ("list_fields", {"x": 1}, r"no argument 'x'"),
        ("document_details", {"source_document_id": "nobody"}, r"no document has the id 'nobody'"),
        ("document_details", {}, r"'source_document_id' is missing"),
    ],
)
async def test_a_mistake_is_answered(
    client: Client, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert re.search(message, error(await client.call_tool(tool, arguments)))


async def test_answers_stay_short_and_say_what_was_cut(empty_index: Path, connect: Connect) -> None:
    with Index(empty_index) as index:
        for number in range(20):
            metadata: Metadata = {f"key {number} {part}": "x" * 5_000 for part in range(10)}
            metadata["language"] = f"{number}" + "l" * 5_000
            index.add(Document(f"{number}", "T " * 4_500, "text", metadata | {"tag": f"t{number}"}))
        index.add(Document("long" + "i" * 9_000, "T", "text", {"all": ["v" * 400] * 2_000}))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("top_terms", {"field": "language", "limit": 1_000}),
        ("suggest_terms", {"prefix": "1", "field": "language", "limit": 100}),
        ("list_fields", {"detail": "full"}),
        ("index_stats", {}),
        ("document_details", {"source_document_id": "1"}),
        ("document_details", {"source_document_id": "long" + "i" * 9_000}),
    ]
    async with connect() as client:
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert len(result.content[0].text) < 40_000  # type: ignore[union-attr] # it is text
            assert "max_characters" in (answer(result)["notice"] or ""), (tool, arguments)
        for tool, arguments in calls:
            small = {**arguments, "max_characters": 5_000}
            result = await client.call_tool(tool, small)
            assert len(result.content[0].text) < 5_000  # type: ignore[union-attr] # it is text
        arguments = {"source_document_id": "1", "max_characters": 100_000}
        whole = answer(await client.call_tool("document_details", arguments))
    assert (whole["notice"], len(whole["title"])) == (None, 9_000)
