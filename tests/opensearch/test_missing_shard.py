"""An index of two shards, one of which is on no node that runs."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from shared import Document, Index, Searcher
from shared.errors import ClusterUnreachableError
from shared.model.filters import Collection, Filter
from shared.opensearch.store import create
from tests.opensearch.node import Node

pytestmark = pytest.mark.opensearch

OPEN: Final = Collection("open", "", (Filter("access", value="all"),))

NUMBERS: Final = range(8)

QUESTIONS: Final[dict[str, Callable[[Searcher], Any]]] = {
    "words": lambda s: [s.search(f"word{number}").totalHits for number in NUMBERS],
    "documents": lambda s: s.documents().total_documents,
    "ids": lambda s: s.catalog.document_terms(),
    "fields": lambda s: s.fields(),
}


@pytest.fixture(scope="module")
def searchers(node: Node) -> Iterator[tuple[Searcher, Searcher]]:
    """The index, which was searched before its shard was lost, and its part."""
    address = f"{node.address}/shards"
    create(address, shards=2)
    with Index(address) as index:
        for number in NUMBERS:
            index.add(Document(f"d{number}", "D", f"text word{number}", {"access": "all"}))
    whole = Searcher(address, collections=[OPEN])
    assert whole.search("text").totalHits == len(NUMBERS)
    part = whole.within(["open"])
    assert part.search("text").totalHits == len(NUMBERS)
    lose_a_shard(node, "shards")
    yield whole, part
    # Nothing else on the node is missing.
    node.request("DELETE", "/shards-000001")


def lose_a_shard(node: Node, name: str) -> None:
    """Take away the files of the shard that does not have the state of an index."""
    (copies,) = node.get(f"/{name}/_search_shards?routing=state")["shards"]
    lost = 1 - copies[0]["shard"]
    ((physical, described),) = node.get(f"/{name}/_settings").items()
    (files,) = node.folder.glob(
        f"data/nodes/0/indices/{described['settings']['index']['uuid']}/{lost}"
    )
    files.rename(files.with_name("lost"))
    cancelled = {"index": physical, "shard": lost, "node": node.name, "allow_primary": True}
    node.request("POST", "/_cluster/reroute", {"commands": [{"cancel": cancelled}]})
    for _ in range(100):
        if re.search("unassigned", str(node.get(f"/_cat/shards/{name}?format=json")).lower()):
            return
        time.sleep(0.1)
    raise TimeoutError


def test_known_words_are_found_in_the_rest(searchers: tuple[Searcher, Searcher]) -> None:
    for searcher in searchers:
        answer = searcher.search("text")
        assert 0 < answer.totalHits < len(NUMBERS)
        assert answer.partial


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_taken_for_all_that_there_is(
    searchers: tuple[Searcher, Searcher], question: str
) -> None:
    for searcher in searchers:
        with pytest.raises(ClusterUnreachableError, match="a part of the index is on no node"):
            QUESTIONS[question](searcher)


def test_a_shard_that_is_missing_from_the_beginning_is_named(
    searchers: tuple[Searcher, Searcher],
) -> None:
    whole, _ = searchers
    with (
        Searcher(whole.path) as searcher,
        pytest.raises(ClusterUnreachableError, match="a part of the index is on no node"),
    ):
        searcher.search("text")


def test_a_document_in_it_is_not_taken_for_unknown(searchers: tuple[Searcher, Searcher]) -> None:
    whole, _ = searchers
    with (
        pytest.raises(ClusterUnreachableError, match="a part of the index is on no node"),
        Index(whole.path) as index,
    ):
        index.delete("d1")
