"""Batches on a node: signs of life, cleaning, and commits whose outcome is not known."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pytest

from shared import Document, Index, Searcher
from shared.errors import (
    ClusterDamagedError,
    ClusterRefusedError,
    ClusterUnreachableError,
    InvalidDocumentError,
)
from shared.model.document import FileState, Scalar, SourceFile
from shared.opensearch import batches, connection, layout
from shared.opensearch.address import Address
from shared.opensearch.chunk_documents import ChunkDocuments
from shared.opensearch.connection import Connection
from shared.opensearch.index import Index as ClusterIndex
from shared.opensearch.operations import index_operation
from shared.opensearch.queries import IS_CHUNK
from shared.opensearch.state import State
from shared.opensearch.store import Store
from tests.opensearch.node import Node
from tests.opensearch.proxy import Instead, Proxy, before

TIMED_OUT: Final = (504, b"{}")
"""What a proxy answers if the node takes too long, which may have done it."""

pytestmark = pytest.mark.opensearch

LONG_AGO = 1.0
"""A time, in seconds since 1970."""


def store_of(address: str) -> Store:
    return Store(Connection(Address.of(address)))


def contents(address: str) -> list[str]:
    with Searcher(address) as searcher:
        return sorted(str(hit.content) for hit in searcher.search("").results)


@pytest.fixture
def proxy(node: Node, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    monkeypatch.setattr(connection, "_FIRST_PAUSE", 0.01)
    with before(node) as proxy:
        proxy.asks_who = False
        yield proxy


def through(proxy: Proxy, address: str) -> str:
    """The address of an index by way of a proxy."""
    return f"opensearch://127.0.0.1:{proxy.port}/{address.rpartition('/')[2]}"


def losing_answers_from(commit: str) -> Instead:
    """Lose all answers from the one on that the state has changed by a commit."""
    lost: list[str] = []

    def instead(request: str, _: bytes) -> tuple[int, bytes] | None:
        if request.startswith(commit):
            lost.append(request)
        return TIMED_OUT if lost else None

    return instead


def silence(store: Store) -> None:
    """Have the writers of all open batches been silent for a long time."""
    store.change(lambda state: replace(state, open=dict.fromkeys(state.open, LONG_AGO)))


def wait_until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_writer_that_does_other_things_gives_signs_of_life(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_RENEWAL_SECONDS", 0.05)
    with ClusterIndex(address, create=True) as index:
        index.add(Document("d", "D", "text"))
        store = store_of(address)
        silence(store)
        wait_until(lambda: min(store.state()[0].open.values()) > LONG_AGO)

    def is_renewed() -> bool:
        return any(thread.name == "cluster-renewal" for thread in threading.enumerate())

    wait_until(lambda: not is_renewed())
    assert contents(address) == ["text"]


def test_a_writer_notices_that_it_was_taken_for_dead(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_RENEWAL_SECONDS", 0.05)

    def taken_for_dead(state: State) -> State:
        silent = replace(state, open=dict.fromkeys(state.open, LONG_AGO))
        return silent.without_expired(time.time())

    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old"))

    def write_on() -> None:
        with ClusterIndex(address) as index:
            index.add(Document("d", "D", "new"))
            store_of(address).change(taken_for_dead)
            for _ in range(200):
                index.add(Document("e", "E", "text"))
                time.sleep(0.02)
            pytest.fail("it writes on")

    with pytest.raises(ClusterRefusedError, match="taken for dead"):
        write_on()
    assert contents(address) == ["old"]


def test_a_writer_that_was_taken_for_dead_may_begin_anew(address: str) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old"))
    with ClusterIndex(address) as silent:
        silent.add(Document("d", "D", "new"))
        store = store_of(address)
        silence(store)
        store.change(lambda state: state.without_expired(time.time()))
        with pytest.raises(ClusterRefusedError, match="taken for dead"):
            silent.commit()
        silent.add(Document("e", "E", "other"))
    assert contents(address) == ["old", "other"]


def test_what_a_silent_writer_wrote_is_deleted_only_after_it_was_withdrawn(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old"))
    with ClusterIndex(address) as silent:
        silent.add(Document("d", "D", "new"))
        store = store_of(address)
        silence(store)
        (batch,) = store.state()[0].open
        ids = Store.ids

        def ids_while_it_wakes_up(self: Store, query: Mapping[str, Any]) -> Iterator[str]:
            with suppress(KeyError):
                store.change(lambda state: state.renewed(batch, time.time()))
            yield from ids(self, query)

        monkeypatch.setattr(Store, "ids", ids_while_it_wakes_up)
        with Index(address) as index:
            index.add(Document("e", "E", "other"))
        monkeypatch.undo()
        with pytest.raises(ClusterRefusedError, match="taken for dead"):
            silent.commit()
    assert contents(address) == ["old", "other"]


def commit_without_answer(index: ClusterIndex, proxy: Proxy) -> None:
    """Commit so that the answer is lost, and the cluster does not answer for a while."""
    proxy.instead = losing_answers_from("PUT")
    try:
        index.commit()
    finally:
        proxy.instead = lambda *_: None


def test_what_was_published_stays_though_the_answer_is_lost(address: str, proxy: Proxy) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old"))

    def replace_it() -> None:
        with ClusterIndex(through(proxy, address)) as index:
            index.add(Document("d", "D", "new"))
            commit_without_answer(index, proxy)

    with pytest.raises(ClusterUnreachableError):
        replace_it()
    store_of(address).refresh()
    assert contents(address) == ["new"]
    assert store_of(address).state()[0].hidden_batches == []


def test_a_writer_goes_on_after_a_commit_whose_answer_is_lost(address: str, proxy: Proxy) -> None:
    with ClusterIndex(through(proxy, address), create=True) as index:
        index.add(Document("d", "D", "old"))
        index.commit()
        index.add(Document("d", "D", "new"))
        with pytest.raises(ClusterUnreachableError):
            commit_without_answer(index, proxy)
        index.commit()
        index.add(Document("d", "D", "newer"))
        with pytest.raises(ClusterUnreachableError):
            commit_without_answer(index, proxy)
        index.add(Document("e", "E", "other"))
        index.flush()
        store_of(address).refresh()
        assert contents(address) == ["newer"]
    assert contents(address) == ["newer", "other"]


def altered(request: str, alter: Callable[[Any], object]) -> Instead:
    """Alter the answers to requests that contain some text."""

    def instead(asked: str, answer: bytes) -> tuple[int, bytes] | None:
        if request not in asked:
            return None
        told = json.loads(answer)
        alter(told)
        return 200, json.dumps(told).encode()

    return instead


def without_a_shard(answer: Any) -> None:
    """Have an answer be that of a cluster which has just lost a shard."""
    answer["_shards"] |= {"successful": answer["_shards"]["total"] - 1, "failed": 1}


def without_right(answer: Any) -> None:
    """Have the answer to a bulk request be that to a user who may not delete."""
    problem = {"type": "security_exception", "reason": "no permissions for [delete]"}
    for item in answer["items"]:
        if "delete" in item:
            answer["errors"] = True
            item["delete"] |= {"status": 403, "error": problem}


def replaced_long_ago(state: State) -> State:
    since = {batch: replace(of, since=LONG_AGO) for batch, of in state.replaced.items()}
    return replace(state, replaced=since)


@pytest.mark.parametrize(
    "request_", ["_refresh", "/_search?", "/_search/scroll"], ids=["refresh", "first", "later"]
)
def test_a_part_of_the_documents_is_not_taken_for_all(
    address: str, proxy: Proxy, request_: str
) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "text"))
    store = store_of(through(proxy, address))
    proxy.instead = altered(request_, without_a_shard)
    with pytest.raises(ClusterUnreachableError, match="a part of the index is on no node"):
        all_of(store)


def all_of(store: Store) -> list[Mapping[str, Any]]:
    store.refresh()
    return list(store.hits(IS_CHUNK))


def test_an_error_of_a_page_is_not_hidden_by_that_of_ending_them(
    address: str, proxy: Proxy
) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "text"))
    store = store_of(through(proxy, address))
    proxy.instead = lambda request, _: (404, b"{}") if "_search/scroll" in request else None
    with pytest.raises(ClusterRefusedError):
        all_of(store)
    proxy.instead = lambda request, _: (404, b"{}") if request.startswith("DELETE") else None
    assert len(all_of(store)) == 1


def test_what_cannot_be_deleted_stays_hidden(address: str, proxy: Proxy) -> None:
    for content in ("old", "new"):
        with Index(address, create=True) as index:
            index.add(Document("d", "D", content))
    store = store_of(address)
    store.change(replaced_long_ago)
    (batch,) = store.state()[0].replaced
    with ClusterIndex(through(proxy, address)) as index:
        index.add(Document("e", "E", "first"))
        proxy.instead = altered("/_search/scroll", without_a_shard)
        index.commit()
        assert list(store.state()[0].replaced) == [batch]
        index.add(Document("f", "F", "second"))
        proxy.instead = altered("/_bulk", without_right)
        with pytest.raises(ClusterRefusedError, match="cannot be deleted: no permissions"):
            index.commit()
        proxy.instead = lambda *_: None
        assert list(store.state()[0].replaced) == [batch]
        index.add(Document("g", "G", "third"))
    assert contents(address) == ["first", "new", "second", "third"]
    assert store.state()[0].replaced == {}
    assert len(all_of(store)) == 4


def test_an_index_is_searched_though_a_batch_has_replaced_very_many_documents(
    address: str,
) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old"))
        index.add(Document("e", "E", "text"))
    store = store_of(address)
    many = [*(f"{number:06}" for number in range(70_000)), "d"]

    def replace_them(state: State) -> State:
        state, batch = state.opened(time.time())
        return state.published(batch, many, time.time())

    store.change(replace_them)
    assert contents(address) == ["text"]
    with Searcher(address) as searcher:
        assert searcher.documents().total_documents == 1
    store.change(replaced_long_ago)
    with Index(address) as index:
        index.add(Document("f", "F", "another text"))
    assert store.state()[0].replaced == {}
    assert contents(address) == ["another text", "text"]


def test_commits_beside_a_long_batch_are_left_out_by_one_condition(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_MOST_REPLACING", 1)
    store = store_of(address)
    with ClusterIndex(address, create=True) as long:
        long.add(Document("d", "D", "of the long batch"))
        (batch,) = store.state()[0].open
        for number in range(4):
            with Index(address) as index:
                index.add(Document("d", "D", f"version {number}"))
                index.add(Document(f"d{number}", "D", "another"))
                store.change(replaced_long_ago)
        store.change(replaced_long_ago)
        with Index(address) as index:
            index.delete("d0")
        assert [*store.state()[0].replaced] == [batch + 1, batch + 5]
        assert contents(address) == ["another", "another", "another", "version 3"]
    assert contents(address) == ["another", "another", "another", "version 3"]


def test_a_document_that_the_cluster_refuses_keeps_its_old_version(
    address: str, node: Node
) -> None:
    def file(size: int) -> SourceFile:
        return SourceFile("/d.txt", FileState(None, size, size, "hash"))

    with Index(address, create=True) as index:
        index.add(Document("d", "D", " ".join(["old"] * 600), file=file(1)))
    name = address.rpartition("/")[2]
    counted = node.get(f"/{name}/_field_caps?fields=*")
    limit = {"index.mapping.total_fields.limit": len(counted["fields"]) + 1}
    node.request("PUT", f"/{name}/_settings", limit)
    keys: dict[str, Scalar | list[Scalar]] = {f"key{number}": "value" for number in range(60)}
    with ClusterIndex(address) as index:
        index.update_file_state("d", file(2).state)
        refused = index.submit(Document("d", "D", " ".join(["new"] * 900), keys, file=file(3)))
        unknown = index.submit(Document("e", "E", "text", keys))
        corrected = index.submit(Document("f", "F", "text", keys))
        for future in (refused, unknown, corrected):
            with pytest.raises(InvalidDocumentError, match="fields"):
                future.result()
        assert index.add(Document("f", "F", "text")) == 1
    with Searcher(address) as searcher:
        assert searcher.search("old").totalHits == 3
        assert searcher.search("new").totalHits == 0
        assert searcher.search("text").totalHits == 1
        assert searcher.files()[1] == {"d": file(1).state}
    with Index(address) as index:
        index.add(Document("d", "D", "new", file=file(3)))
    assert contents(address) == ["new", "text"]


def test_nothing_is_committed_after_documents_were_not_written(address: str, proxy: Proxy) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old"))
    with ClusterIndex(through(proxy, address)) as index:
        submitted = index.submit(Document("d", "D", "new"))
        proxy.instead = lambda request, _: TIMED_OUT if "_bulk" in request else None
        with pytest.raises(ClusterUnreachableError):
            submitted.result()
        proxy.instead = lambda *_: None
        for _ in range(2):
            with pytest.raises(ClusterUnreachableError):
                index.commit()
        index.__exit__(ValueError, None, None)
    assert contents(address) == ["old"]


def once(request: str) -> Instead:
    """Lose the answer to the first request that begins like this."""
    left = [TIMED_OUT]
    return lambda asked, _: left.pop() if left and asked.startswith(request) else None


def test_a_change_whose_answer_a_proxy_has_lost_is_not_made_twice(
    address: str, proxy: Proxy
) -> None:
    store = store_of(address)
    with ClusterIndex(through(proxy, address), create=True) as index:
        proxy.instead = once("PUT")
        index.add(Document("d", "D", "text"))
        assert len(store.state()[0].open) == 1
        proxy.instead = once("PUT")
        index.commit()
    assert contents(address) == ["text"]
    assert store.state()[0].late == {}


def test_a_batch_with_a_request_that_was_sent_again_is_late(address: str, proxy: Proxy) -> None:
    store = store_of(address)
    with ClusterIndex(through(proxy, address), create=True) as index:
        for content in ("first", "second", "third"):
            if content == "first":
                proxy.instead = once(f"POST /{store.name}/_bulk")
            index.add(Document("d", "D", content))
            index.commit()
            store.change(replaced_long_ago)
    first = 1
    assert list(store.state()[0].late) == [first]
    with Index(address) as index:
        index.add(Document("e", "E", "another"))
    with Index(address) as index:
        index.delete("e")
    assert first + 1 in store.state()[0].replaced
    chunk = {"batch": first, **chunk_of("late")}
    assert list(store.bulk([index_operation("1-late", chunk)])) == []
    store.refresh()
    assert contents(address) == ["third"]


def chunk_of(content: str) -> dict[str, Any]:
    """A chunk of the document d."""
    (made,) = ChunkDocuments(Document("d", "D", content))
    return made


@pytest.mark.parametrize("is_answered", [True, False], ids=["interrupted", "without-an-answer"])
def test_an_index_whose_creation_was_interrupted_is_completed(
    address: str, proxy: Proxy, node: Node, *, is_answered: bool
) -> None:
    name = address.rpartition("/")[2]
    if is_answered:
        body = {**layout.creation(), "aliases": {name: {}}}
        node.request("PUT", f"/{name}-000001", body)
    else:
        proxy.instead = once("PUT")
    with Index(through(proxy, address), create=True) as index:
        assert index.created
        index.add(Document("d", "D", "text"))
    assert contents(address) == ["text"]
    node.request("DELETE", f"/{name}/_doc/state?refresh=true")
    with pytest.raises(ClusterDamagedError, match="it has no state"):
        Index(address, create=True)
