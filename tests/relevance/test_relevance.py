"""Each query of the suite, through the real server on an index that `idx bulk` wrote."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client

from shared.writing.index import create
from tests.conftest import connected
from tests.programs import run_idx
from tests.relevance.queries import Query, read
from tests.server.tool_answers import answer

DOCUMENTS = sorted((Path(__file__).parent / "documents").glob("*.jsonl"))
QUERIES = read()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of all documents, which no test changes."""
    folder = tmp_path_factory.mktemp("relevance")
    path = folder / "lucene-index"
    create(path)
    lines = "".join(file.read_text("utf-8") for file in DOCUMENTS)
    done = run_idx(["bulk", "-i", path, "-j", "-"], folder, lines)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
async def client(library: Path) -> AsyncIterator[Client]:
    async with connected(library) as client:
        yield client


@pytest.mark.parametrize("query", QUERIES, ids=str)
async def test_a_query_finds_what_it_should(client: Client, query: Query) -> None:
    found = answer(await client.call_tool("Search", query.arguments()))
    hits = [hit["source_document"] for hit in found["results"]]
    assert not query.not_found or len(hits) == found["totalHits"]
    missed = query.disappointments(hits)
    if query.expects_low_confidence() not in {None, found["low_confidence"]}:
        missed.append(f"low_confidence is {found['low_confidence']}")
    assert not missed, f"{'; '.join(missed)}. {query.why}\nfound: {' '.join(hits[:12])}"


def ids() -> list[str]:
    return [
        json.loads(line)["Id"]
        for file in DOCUMENTS
        for line in file.read_text("utf-8").splitlines()
    ]


def test_every_id_is_given_to_one_document_and_every_document_is_one_chunk() -> None:
    assert [name for name, times in Counter(ids()).items() if times > 1] == []
    for file in DOCUMENTS:
        for line in file.read_text("utf-8").splitlines():
            assert len(json.loads(line)["Content"].split()) <= 250


def test_there_are_many_queries_each_of_them_once() -> None:
    assert len(QUERIES) >= 150
    keys = Counter((query.category, repr(query.arguments())) for query in QUERIES)
    assert [key for key, times in keys.items() if times > 1] == []


@pytest.mark.parametrize("category", sorted({query.category for query in QUERIES}))
def test_the_expectations_name_documents_and_do_not_contradict_each_other(category: str) -> None:
    documents = set(ids())
    for query in QUERIES:
        if query.category == category:
            assert query.named() <= documents, query
            assert query.wanted().isdisjoint(query.not_found), query
            assert not (query.nothing and query.wanted()), query
            if query.top and query.first:
                assert query.first in query.top, query


def test_disappointments_are_told() -> None:
    assert Query("c", "q", nothing=True).disappointments(["a"]) == ["something is found"]
    assert Query("c", "q", nothing=True).disappointments([]) == []
    query = Query(
        *("c", "q"), first="a", top=("a", "b"), finds=("c",), before=(("b", "c"),), not_found=("d",)
    )
    assert query.disappointments(["a", "b", "c"]) == []
    assert query.disappointments(["c", "d", "a"]) == [
        "a is not first but 3",
        "a is not among the first 2",
        "b is not among the first 2",
        "b (missing) is not before c (1)",
        "d is found",
    ]
    assert Query("c", "q", before=(("a", "b"),)).disappointments(["a"]) == []
    assert Query("c", "q", before=(("a", "b"),)).disappointments([]) != []
