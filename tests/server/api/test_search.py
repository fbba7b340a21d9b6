"""`GET /api/search` and its like answer what the tools answer; so do the endpoints at the root."""

import json
import shutil
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared import Document, Index
from tests.conftest import add_documents
from tests.programs import run_idx
from tests.server.http.served import SECONDS, Served, bearer, served_here, wait_for


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
    with served_here(tmp_path / "index") as server:
        for name in names:
            encoded = httpx2.URL("http://x/").copy_with(params={"": name}).query.decode()[1:]
            path = encoded.replace("+", "%20").replace("/", "%2F")
            document = got(server, f"/api/documents/{path}")
            assert document["source_document"] == name
            (chunk,) = got(server, f"/api/documents/{path}/chunks")["chunks"]
            assert chunk["content"] == f"text of {name}"


ADMIN = "boss:read,admin:" + "a" * 32
READER = "me:read:" + "b" * 32


def posted(server: Served, path: str, body: Any = None, **headers: str) -> httpx2.Response:
    return httpx2.post(f"{server.base}{path}", json=body, headers=headers, timeout=SECONDS)


def searched(server: Served, **body: Any) -> Any:
    response = posted(server, "/search", body)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_search_has_the_established_shape(api: Served) -> None:
    answer = searched(api, query="deposit of the flat", top_k=2)
    assert list(answer) == [
        *("query", "results", "total_results", "answer", "answer_confidence", "citations"),
        *("retrieval_time_ms", "answer_time_ms"),
    ]
    assert answer["query"] == "deposit of the flat"
    assert len(answer["results"]) == 2
    assert answer["results"][0]["source_document"] == "lease-garden-flat.txt"
    assert "deposit" in answer["results"][0]["content"]
    assert answer["total_results"] > 2
    assert (answer["answer"], answer["citations"], answer["answer_time_ms"]) == (None, [], 0)
    assert answer["retrieval_time_ms"] > 0


def test_they_are_below_the_path_of_the_api_as_well(api: Served) -> None:
    below = posted(api, "/api/search", {"query": "deposit of the flat", "top_k": 2}).json()
    assert below["results"] == searched(api, query="deposit of the flat", top_k=2)["results"]
    assert api.get("/api/index/status").json() == api.get("/index/status").json()
    assert posted(api, "/api/index/rebuild").status_code == 403


def test_a_method_that_is_not_taken_is_answered_with_those_that_are(api: Served) -> None:
    for path, method in (("/api/search", "GET, POST"), ("/search", "POST")):
        refused = httpx2.delete(f"{api.base}{path}", timeout=SECONDS)
        assert (refused.status_code, refused.headers["allow"]) == (405, method)


def test_the_weak_tail_is_dropped_and_all_where_the_best_is_weak(api: Served) -> None:
    everything = searched(api, query="deposit of the flat")["results"]
    confidences = sorted(hit["confidence"] for hit in everything)
    bound = confidences[len(confidences) // 2]
    kept = searched(api, query="deposit of the flat", min_relevance_score=bound)
    assert kept["results"] == [hit for hit in everything if hit["confidence"] >= bound]
    assert len(kept["results"]) < len(everything)
    none = searched(api, query="volcano deposit zebra quantum", min_relevance_score=1)
    assert (none["results"], none["total_results"]) == ([], 0)


def test_a_category_is_that_of_the_metadata(tmp_path: Path, api: Served) -> None:
    with Index(tmp_path / "index", create=True) as index:
        index.add(Document("a", "A", "one word", {"category": "law"}))
        index.add(Document("b", "B", "one word", {"category": "food"}))
    with served_here(tmp_path / "index") as server:
        found = searched(server, query="word", category_filter="law")
        assert [hit["source_document"] for hit in found["results"]] == ["a"]
        assert searched(server, query="word", category_filter="x")["results"] == []
        assert searched(server, query="word")["total_results"] == 2
    # No document has a category.
    assert searched(api, query="deposit", category_filter="law")["total_results"] == 0


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "'query' is missing"),
        ({"query": 1}, "'query' is 1"),
        ({"query": "x", "top_k": 0}, "'top_k' is 0"),
        ({"query": "x", "min_relevance_score": 1.5}, "'min_relevance_score' is 1.5"),
        ({"query": "x", "topk": 3}, "there is no argument 'topk'"),
        ([], "'body' is []: input should be an object"),
    ],
)
def test_an_invalid_body_is_a_problem_that_names_the_argument(
    api: Served, body: Any, named: str
) -> None:
    response = posted(api, "/search", body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (problem["status"], problem["title"]) == (422, HTTPStatus(422).phrase)
    assert named in problem["detail"]


def test_a_query_that_does_not_parse_is_a_problem_with_the_text_of_the_tool(api: Served) -> None:
    response = api.get("/api/search?syntax=lucene&query=%28a")
    assert response.status_code == 400
    assert response.json()["detail"].startswith("Parse error:")


def test_the_status_counts_documents_and_files_that_failed(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with served_here(index) as server:
        # The server starts before there is an index.
        empty = {"doc_count": 0, "total_items": 0, "is_loaded": False, "index_coverage": 0.0}
        assert server.get("/index/status").json() == empty
        assert posted(server, "/search", {"query": "x"}).status_code == 503
        folder = tmp_path / "folder"
        folder.mkdir()
        for name in ("a", "b", "c"):
            (folder / f"{name}.txt").write_text("some text")
        (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
        assert run_idx(["add", folder, "-i", index], folder).returncode == 1
        assert server.get("/index/status").json() == {
            "doc_count": 3,
            "total_items": 4,
            "is_loaded": True,
            "index_coverage": 0.75,
        }


def test_a_rebuild_needs_the_option_and_the_scope(samples: Path, tmp_path: Path) -> None:
    index = shutil.copytree(samples, tmp_path / "index")
    options = ["--admin", "--root", tmp_path]
    with served_here(index, *options, tokens=f"{ADMIN} {READER}") as server:
        boss, me = bearer("a" * 32), bearer("b" * 32)
        assert posted(server, "/index/rebuild").status_code == 401
        refused = posted(server, "/index/rebuild", **me)
        assert refused.status_code == 403
        assert "scope 'admin'" in refused.json()["detail"]
        done = posted(server, "/index/rebuild", **boss)
        assert done.status_code == 200, done.text
        answer = done.json()
        assert answer["status"] == "success"
        assert answer["num_documents"] == server.get("/index/status", **me).json()["doc_count"] > 5
        assert 0 < answer["build_time_seconds"] < SECONDS
        assert answer["timestamp"].endswith("Z")
        begun = posted(server, "/index/rebuild?wait=false", **boss)
        assert begun.status_code == 202
        path = f"/api/operations/{begun.json()['operation_id']}"
        wait_for(lambda: server.get(path, **boss).json()["state"] == "done", "it ends")
        assert server.get(path, **me).status_code == 403


def test_a_server_without_administration_rebuilds_nothing(api: Served) -> None:
    response = posted(api, "/index/rebuild")
    assert response.status_code == 403
    assert "--admin" in response.json()["detail"]
