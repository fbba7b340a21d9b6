"""`explain_query`, facets and the order of hits, through the real server process."""

from pathlib import Path

import pytest
from mcp import Client
from pydantic_core import to_json

from shared import Document
from tests.conftest import Connect, NewIndex, add_documents
from tests.server.tool_answers import answer, refused, told


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    return new_index(
        Document("a", "Lease", "The notice period is three months.", {"author": "Ann"}),
        Document("b", "House", "Die Häuser kosten Miete DEC-0054.", {"author": "Ben"}),
    )


async def test_little_is_explained_by_default(client: Client) -> None:
    found = await told(client, "explain_query", query='"notice period" -rent')
    assert found["parsed"] == '"notice period" -rent'
    assert found["total_hits"] == 1
    assert found["languages"].keys() == {"de", "en"}
    assert (found["steps"], found["terms"], found["hits"], found["notice"]) == ([], [], [], None)


@pytest.mark.parametrize(
    ("detail", "filled"),
    [("steps", {"steps"}), ("terms", {"steps", "terms"}), ("scores", {"steps", "terms", "hits"})],
)
async def test_each_level_tells_more(client: Client, detail: str, filled: set[str]) -> None:
    found = await told(client, "explain_query", query="Haus", detail=detail)
    assert {key for key in ("steps", "terms", "hits") if found[key]} == filled


async def test_the_steps_of_a_query(client: Client) -> None:
    found = await told(client, "explain_query", query="why? *eriod", detail="steps")
    steps = {step["step"]: step["query"] for step in found["steps"]}
    assert list(steps) == ["syntax", "parse", "telling", "fields"]
    assert steps["syntax"] == r"why\? *eriod"
    assert "content.reversed:doire*" in steps["fields"]
    assert "why" in steps["parse"]
    assert "why" not in steps["telling"]


async def test_terms_and_scores(client: Client) -> None:
    found = await told(client, "explain_query", query="haus DEC-0054 notice", detail="scores")
    frequencies = {
        (term["field"], term["term"]): term["document_frequency"] for term in found["terms"]
    }
    assert frequencies["stems", "de:haus"] == 1
    assert frequencies["content", "dec0054"] == 1
    best = found["hits"][0]
    assert best["id"] == "b-chunk-001"
    assert sum(part["score"] for part in best["parts"]) == pytest.approx(best["score"], abs=0.001)
    assert {part["match"] for part in best["parts"]} >= {"stems:de:haus", "content:dec0054"}


async def test_a_long_explanation_is_cut_and_says_so(client: Client) -> None:
    query = " ".join(f"word{number}" for number in range(400))
    arguments = {"query": query, "detail": "scores", "max_characters": 4_000}
    result = await client.call_tool("explain_query", arguments)
    found = answer(result)
    assert "left out" in found["notice"]
    assert len(to_json(found)) <= 4_000


async def test_facets_and_order_of_a_search(client: Client) -> None:
    found = await told(client, "Search", query="", facets=["author", "language"], sort="-author")
    assert [hit["source_document"] for hit in found["results"]] == ["b", "a"]
    assert {facet["field"]: facet["values"] for facet in found["facets"]} == {
        "author": [{"value": "Ann", "count": 1}, {"value": "Ben", "count": 1}],
        "language": [{"value": "de", "count": 1}, {"value": "en", "count": 1}],
    }


async def test_languages_are_explained_with_their_shares_or_alone_under_a_filter(
    client: Client,
) -> None:
    query = {"query": "Haus"}
    shares = (await told(client, "explain_query", **query))["languages"]
    assert shares == {"de": 0.5, "en": 0.5}
    filters = [{"field": "language", "value": "de"}]
    found = await told(client, "explain_query", **query, filters=filters)
    assert found["languages"] == {"de": 1.0}


async def test_confidence_and_suggestion_of_a_search(client: Client) -> None:
    found = await told(client, "Search", query="notise", min_confidence=0.5)
    assert found["suggestion"] == "notice"
    assert found["suggestion_applied"]
    assert not found["low_confidence"]
    assert all(hit["confidence"] >= 0.5 for hit in found["results"])
    nothing = await told(client, "Search", query="chromodynamics")
    assert nothing["low_confidence"]
    assert "min_confidence" in await refused(client, "Search", query="notice", min_confidence=2)


async def test_facet_values_that_are_cut_are_told(empty_index: Path, connect: Connect) -> None:
    add_documents(empty_index, Document("long", "Long", "text", {"author": "a" * 201}))
    async with connect() as client:
        found = await told(client, "Search", query="text", facets=["author"])
    assert found["facets"][0]["values"][0]["value"] == "a" * 200 + "…"
    assert "cut after 200 characters" in found["notice"]
