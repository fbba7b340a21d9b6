"""`GET /api/search` and its like answer what the tools answer."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared import Document
from tests.conftest import add_documents
from tests.server.http.served import SECONDS, Served, served_here


def tool_answer(server: Served, tool: str, **arguments: Any) -> Any:
    message = server.call(tool, **arguments).text
    (data,) = [line for line in message.splitlines() if line.startswith(("data: {", "{"))]
    result = json.loads(data.removeprefix("data: "))["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


def got(server: Served, path: str, **query: Any) -> Any:
    response = httpx2.get(f"{server.base}{path}", params=query, timeout=SECONDS)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("deposit", {}),
        ("Kündigungsfrist Werkstatt", {"limit": 3, "content": "passages", "group": "none"}),
        ('"security deposit" OR title:lease', {"syntax": "lucene", "content": "none"}),
        ("", {"sort": "-source_document", "limit": 5, "offset": 2}),
        ("deposit landlord", {"operator": "and", "facets": ["language", "file_type"]}),
        ("depsoit", {}),
        ("board", {"min_confidence": 0.5}),
        ("deposit", {"group": "document", "facets": ["language"], "limit": 3}),
    ],
)
def test_a_search_is_that_of_the_tool_hit_by_hit(
    api: Served, query: str, arguments: dict[str, Any]
) -> None:
    # The answers of a tool have a length, those of the API do not.
    whole = {"content": "full", "max_characters": 1_000_000} | arguments
    expected = tool_answer(api, "Search", query=query, **whole)
    answered = got(api, "/api/search", query=query, **arguments)
    assert answered["results"] == expected["results"]
    assert answered == expected
    assert answered["results"] or query == "board"


def test_filters_are_written_as_on_the_command_line(api: Served) -> None:
    filters = ["language=de", "source_document^=m"]
    answered = got(api, "/api/search", query="", filters=filters)
    expected = [
        {"field": "language", "operator": "eq", "value": "de"},
        {"field": "source_document", "operator": "prefix", "value": "m"},
    ]
    assert (
        answered["results"]
        == tool_answer(api, "Search", query="", content="full", filters=expected)["results"]
    )
    assert {hit["source_document"] for hit in answered["results"]} == {"mietvertrag-werkstatt.txt"}


@pytest.mark.parametrize(
    ("path", "query", "tool", "arguments"),
    [
        ("/api/suggest", {"prefix": "dep"}, "suggest_terms", {"prefix": "dep"}),
        ("/api/terms", {"field": "language"}, "top_terms", {"field": "language"}),
        ("/api/fields", {}, "list_fields", {"detail": "full"}),
        ("/api/statistics", {}, "index_stats", {}),
        ("/api/failures", {}, "list_failures", {}),
        ("/api/documents", {"limit": 3}, "ListDocuments", {"limit": 3, "detail": "full"}),
        (
            "/api/documents/lease-garden-flat.txt",
            {},
            "document_details",
            {"source_document_id": "lease-garden-flat.txt"},
        ),
        (
            "/api/documents/lease-garden-flat.txt/chunks",
            {"start_index": 2, "count": 1},
            "get_document_chunks",
            {"source_document_id": "lease-garden-flat.txt", "start_index": 2, "count": 1},
        ),
        (
            "/api/chunks/lease-garden-flat.txt-chunk-001/next",
            {},
            "get_next_chunk",
            {"chunk_id": "lease-garden-flat.txt-chunk-001"},
        ),
        (
            "/api/chunks/lease-garden-flat.txt-chunk-001/previous",
            {},
            "get_previous_chunk",
            {"chunk_id": "lease-garden-flat.txt-chunk-001"},
        ),
        (
            "/api/chunks/lease-garden-flat.txt-chunk-001/similar",
            {},
            "more_like",
            {"chunk_id": "lease-garden-flat.txt-chunk-001"},
        ),
        (
            "/api/explain",
            {"query": "deposit", "detail": "scores"},
            "explain_query",
            {"query": "deposit", "detail": "scores"},
        ),
    ],
)
def test_each_other_endpoint_answers_as_its_tool(
    api: Served, path: str, query: dict[str, Any], tool: str, arguments: dict[str, Any]
) -> None:
    assert got(api, path, **query) == tool_answer(api, tool, max_characters=1_000_000, **arguments)


def test_an_id_in_a_path_may_have_any_characters(tmp_path: Path) -> None:
    names = ["a/b.txt", "a/b.txt/chunks", "über ?#%&+.txt", "..%2F", "日本語/1"]
    add_documents(tmp_path / "index", *(Document(name, "T", f"text of {name}") for name in names))
    with served_here(tmp_path / "index", log=tmp_path / "log") as server:
        for name in names:
            encoded = httpx2.URL("http://x/").copy_with(params={"": name}).query.decode()[1:]
            path = encoded.replace("+", "%20").replace("/", "%2F")
            document = got(server, f"/api/documents/{path}")
            assert document["source_document"] == name
            (chunk,) = got(server, f"/api/documents/{path}/chunks")["chunks"]
            assert chunk["content"] == f"text of {name}"
