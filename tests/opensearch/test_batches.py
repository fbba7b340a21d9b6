"""Batches on a node: writers that are killed, cleaning, and commits whose outcome is not known."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
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
from shared.model.document import Scalar
from shared.opensearch import layout
from shared.opensearch.index import Index as ClusterIndex
from shared.opensearch.state import ABANDONED_SECONDS, IS_CHUNK, State, version_of
from shared.opensearch.store import Store
from tests.opensearch.conftest import file_of, store_of, write
from tests.opensearch.node import Node
from tests.opensearch.proxy import Instead, Proxy

TIMED_OUT: Final = (504, b"{}")
"""What a proxy answers if the node takes too long, which may have done it."""

pytestmark = pytest.mark.opensearch

LONG_AGO = 1.0
"""A time, in seconds since 1970."""


def contents(address: str) -> list[str]:
    with Searcher(address) as searcher:
        return sorted(str(hit.content) for hit in searcher.search("").results)


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


def commit_without_answer(index: ClusterIndex, proxy: Proxy) -> None:
    """Commit so that the answer is lost, and the cluster does not answer for a while."""
    proxy.instead = losing_answers_from("PUT")
    try:
        index.commit()
    finally:
        proxy.instead = lambda *_: None


def test_a_writer_whose_commit_had_no_answer_writes_no_further(address: str, proxy: Proxy) -> None:
    write(address, d="old")

    def replace_it() -> None:
        with ClusterIndex(through(proxy, address)) as index:
            index.add(Document("d", "D", "new"))
            with pytest.raises(ClusterUnreachableError):
                commit_without_answer(index, proxy)
            for work in (index.commit, lambda: index.add(Document("e", "E", "other"))):
                with pytest.raises(ClusterUnreachableError):
                    work()

    with pytest.raises(ClusterUnreachableError):
        replace_it()
    store_of(address).refresh()
    assert contents(address) == ["new"]
    assert store_of(address).state()[0].hidden_batches == []
    write(address, e="other")
    assert contents(address) == ["new", "other"]


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


def replaced_long_ago(state: State) -> State:
    since = {batch: replace(of, since=LONG_AGO) for batch, of in state.replaced.items()}
    return replace(state, replaced=since)


@pytest.mark.parametrize(
    "request_", ["_refresh", "/_search?", "/_search/scroll"], ids=["refresh", "first", "later"]
)
def test_a_part_of_the_documents_is_not_taken_for_all(
    address: str, proxy: Proxy, request_: str
) -> None:
    write(address, d="text")
    store = store_of(through(proxy, address))
    proxy.instead = altered(request_, without_a_shard)
    with pytest.raises(ClusterUnreachableError, match="a part of the index is on no node"):
        all_of(store)


def all_of(store: Store) -> list[Mapping[str, Any]]:
    store.refresh()
    return list(store.connection.hits(IS_CHUNK))


def test_an_error_of_a_page_is_not_hidden_by_that_of_ending_them(
    address: str, proxy: Proxy
) -> None:
    write(address, d="text")
    store = store_of(through(proxy, address))
    proxy.instead = lambda request, _: (404, b"{}") if "_search/scroll" in request else None
    with pytest.raises(ClusterRefusedError):
        all_of(store)
    proxy.instead = lambda request, _: (404, b"{}") if request.startswith("DELETE") else None
    assert len(all_of(store)) == 1


def not_all(answer: Any) -> None:
    """Have a deletion be one that could not delete something."""
    answer["failures"] = [{"status": 503, "cause": {"type": "unavailable_shards_exception"}}]


def test_what_cannot_be_deleted_stays_hidden(address: str, proxy: Proxy) -> None:
    for content in ("old", "new"):
        write(address, d=content)
    store = store_of(address)
    store.change(replaced_long_ago)
    with ClusterIndex(through(proxy, address)) as index:
        index.add(Document("e", "E", "first"))
        proxy.instead = altered("/_delete_by_query", not_all)
        index.commit()
        assert [*store.state()[0].replaced][:2] == [1, 2]
        proxy.instead = lambda request, _: (503, b"{}") if "/_delete_by_query" in request else None
        index.add(Document("f", "F", "second"))
        index.commit()
        assert [*store.state()[0].replaced][:2] == [1, 2]
        proxy.instead = lambda *_: None
        store.change(replaced_long_ago)
        index.add(Document("g", "G", "third"))
    assert contents(address) == ["first", "new", "second", "third"]
    assert [*store.state()[0].replaced] == [5]
    assert len(all_of(store)) == 4


def test_an_index_is_searched_though_a_batch_has_replaced_very_many_documents(
    address: str,
) -> None:
    write(address, d="old", e="text")
    store = store_of(address)
    many = [version_of(1, name) for name in (*(f"{of:06}" for of in range(70_000)), "d")]

    def replace_them(state: State) -> State:
        state, batch = state.opened(time.time())
        return state.published(batch, many, time.time())

    store.change(replace_them)
    assert contents(address) == ["text"]
    with Searcher(address) as searcher:
        assert searcher.documents().total_documents == 1
    store.change(replaced_long_ago)
    write(address, f="another text")
    assert store.state()[0].hidden_versions == []
    assert contents(address) == ["another text", "text"]


def begun_long_ago(state: State) -> State:
    open_, abandoned = (dict.fromkeys(of, LONG_AGO) for of in (state.open, state.abandoned))
    return replace(state, open=open_, abandoned=abandoned)


def sent_with(store: Store, batch: int) -> list[Mapping[str, Any]]:
    return [hit for hit in all_of(store) if hit["_source"]["batch"] == batch]


def test_what_a_writer_that_was_killed_has_sent_is_deleted_after_a_day(address: str) -> None:
    with ClusterIndex(address, create=True) as killed:
        killed.add(Document("d", "D", "new"))
        store = store_of(address)
        for hidden in ([1], []):
            store.change(begun_long_ago)
            write(address, e="other")
            # Its number stays hidden for another day, lest something of it is still under way.
            assert store.state()[0].hidden_batches == hidden
            assert sent_with(store, 1) == []
        with pytest.raises(ClusterRefusedError, match="has not committed for a day"):
            killed.commit()
        with pytest.raises(ClusterRefusedError, match="has not committed for a day"):
            killed.add(Document("d", "D", "newer"))
        killed.__exit__(ValueError, None, None)
    assert contents(address) == ["other"]


def test_a_writer_that_stood_still_for_days_sends_nothing_more(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its batch is forgotten, and what it sent with that would be visible."""
    now = time.time
    with ClusterIndex(address, create=True) as index:
        index.add(Document("d", "D", "new"))
        index.submit(Document("e", "E", "new"))
        for days in (1, 2):
            later = days * (ABANDONED_SECONDS + 10)
            monkeypatch.setattr(time, "time", lambda later=later: now() + later)
            write(address, f="other")
        store = store_of(address)
        assert store.state()[0].hidden_batches == []
        with pytest.raises(ClusterRefusedError, match="has not committed for a day"):
            index.commit()
        assert sent_with(store, 1) == []
        index.__exit__(ValueError, None, None)
    assert contents(address) == ["other"]


def test_a_document_that_the_cluster_refuses_keeps_its_old_version(
    address: str, node: Node
) -> None:

    with Index(address, create=True) as index:
        index.add(Document("d", "D", " ".join(["old"] * 600), file=file_of(1)))
    name = address.rpartition("/")[2]
    counted = node.get(f"/{name}/_field_caps?fields=*")
    limit = {"index.mapping.total_fields.limit": len(counted["fields"]) + 1}
    node.request("PUT", f"/{name}/_settings", limit)
    keys: dict[str, Scalar | list[Scalar]] = {f"key{number}": "value" for number in range(60)}
    with ClusterIndex(address) as index:
        index.update_file_state("d", file_of(2).state)
        refused = index.submit(Document("d", "D", " ".join(["new"] * 900), keys, file=file_of(3)))
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
        assert searcher.files()[1] == {"d": file_of(1).state}
    with Index(address) as index:
        index.add(Document("d", "D", "new", file=file_of(3)))
    assert contents(address) == ["new", "text"]


def refuse_last(kind: str) -> Instead:
    """Have the cluster refuse the last operation of a kind."""

    def alter(answer: Any) -> None:
        *_, last = (item[kind] for item in answer["items"] if kind in item)
        error = {"type": "mapper_parsing_exception", "reason": "it is damaged"}
        last |= {"status": 400, "error": error}
        answer["errors"] = True

    return altered("_bulk", alter)


def test_a_document_whose_state_of_the_file_is_refused_keeps_its_old_version(
    address: str, proxy: Proxy
) -> None:

    # Longer than a term.
    long = "\U00010400" * 10_000
    with Index(address, create=True) as index:
        index.add(Document(long, "D", "old", file=file_of(1)))
    with ClusterIndex(through(proxy, address)) as index:
        proxy.instead = refuse_last("index")
        with pytest.raises(InvalidDocumentError, match="it is damaged"):
            index.add(Document(long, "D", "new", file=file_of(2)))
    assert contents(address) == ["old"]
    with Searcher(address) as searcher:
        assert searcher.files()[1] == {long: file_of(1).state}


@pytest.mark.parametrize("kind", ["index", "delete"])
def test_nothing_is_committed_if_what_nobody_waits_for_is_refused(
    address: str, proxy: Proxy, kind: str
) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "old", file=file_of(1)))

    def change() -> None:
        with ClusterIndex(through(proxy, address)) as index:
            index.update_file_state("d", file_of(2).state)
            if kind == "delete":
                index.delete("d")
            proxy.instead = refuse_last(kind)

    with pytest.raises(ClusterRefusedError, match="it is damaged"):
        change()
    assert contents(address) == ["old"]
    with Searcher(address) as searcher:
        assert searcher.files()[1] == {"d": file_of(1).state}


def test_nothing_is_committed_after_documents_were_not_written(address: str, proxy: Proxy) -> None:
    write(address, d="old")
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


def test_a_bulk_request_without_an_answer_is_not_sent_again(address: str, proxy: Proxy) -> None:
    """The cluster may do it hours later, when what it writes was replaced and deleted."""
    write(address, d="old")
    proxy.instead = once(f"POST /{address.rpartition('/')[2]}/_bulk")

    with pytest.raises(ClusterUnreachableError, match="504"):
        write(through(proxy, address), d="new")
    assert contents(address) == ["old"]
    write(through(proxy, address), d="new")
    assert contents(address) == ["new"]
    assert sum(b'"content":"new"' in body for body in proxy.bodies) == 2


def test_of_two_batches_the_one_that_is_committed_later_wins_whole(address: str) -> None:
    long = " ".join(["first"] * 600)
    with Index(address, create=True) as first, Index(address) as second:
        first.add(Document("d", "D", long))
        second.add(Document("d", "D", "second"))
        second.commit()
        assert contents(address) == ["second"]
        first.commit()
        assert {text.split()[0] for text in contents(address)} == {"first"}
        second.delete("d")
        first.add(Document("d", "D", "third"))
        second.commit()
        assert contents(address) == []
        first.commit()
        assert contents(address) == ["third"]


def test_nothing_of_a_batch_is_seen_when_others_refresh(address: str) -> None:
    write(address, d="old")
    with ClusterIndex(address) as index:
        index.add(Document("d", "D", " ".join(["new"] * 600)))
        index.add(Document("e", "E", "new"))
        store_of(address).refresh()
        assert contents(address) == ["old"]
        write(address, f="other")
        assert contents(address) == ["old", "other"]
    assert len(contents(address)) == 5


WRITING: Final = """
import os, sys
from shared import Document, Index
print(os.getpid(), flush=True)
with Index(sys.argv[1]) as index:
    index.add(Document("d", "D", " ".join(["new"] * 600)))
    index.add(Document("e", "E", "new"))
"""

OLD, NEW = ["old"] * 3, ["new"] * 4


def killed_at(proxy: Proxy, request_: str, number: int, *, is_done: bool) -> list[int]:
    """Have the process that is put into the list killed when it sends such a request again.

    Numbers begin at 1; the node has done what was asked, or does not get the request.
    """
    pids, asked = list[int](), list[str]()

    def kill(request: str) -> bool:
        asked.extend([request] if request_ in request else [])
        if request_ in request and len(asked) == number:
            os.kill(pids[0], signal.SIGKILL)
            return True
        return False

    if is_done:
        proxy.instead = lambda request, _: TIMED_OUT if kill(request) else None
    else:
        proxy.drops = kill
    return pids


@pytest.mark.parametrize(
    ("request_", "number", "is_done", "is_published"),
    [
        ("/_bulk", 1, False, False),
        ("/_bulk", 1, True, False),
        ("/_refresh", 1, True, False),
        ("PUT", 2, False, False),
        ("PUT", 2, True, True),
        ("/_delete_by", 1, False, True),
    ],
    ids=["open", "sent-half", "refreshed", "not-published", "published", "not-cleaned"],
)
def test_a_killed_writer_leaves_whole_documents(
    address: str, proxy: Proxy, request_: str, number: int, *, is_done: bool, is_published: bool
) -> None:
    """Killed before the node gets a request, or has done it: nothing or all is visible."""
    for content in ("older", "old"):
        write(address, d=" ".join([content] * 600))
    store = store_of(address)
    store.change(replaced_long_ago)
    pids = killed_at(proxy, request_, number, is_done=is_done)
    command = [sys.executable, "-c", WRITING, through(proxy, address)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        pids.append(int(writer.stdout.readline()))
    assert writer.returncode == -signal.SIGKILL
    found = sorted(text.split()[0] for text in contents(address))
    assert found == (NEW if is_published else OLD)
    store.refresh()
    write(address, f="other")
    found = sorted(text.split()[0] for text in contents(address))
    assert found == sorted([*(NEW if is_published else OLD), "other"])
    write(address, d="again", e="again")
    assert contents(address) == ["again", "again", "other"]


@pytest.mark.parametrize("is_answered", [True, False], ids=["interrupted", "without-an-answer"])
def test_an_index_whose_creation_was_interrupted_is_completed(
    address: str, proxy: Proxy, node: Node, *, is_answered: bool
) -> None:
    name = address.rpartition("/")[2]
    if is_answered:
        node.request("PUT", f"/{name}-000001", layout.creation())
    else:
        proxy.instead = once("PUT")
    with Index(through(proxy, address), create=True) as index:
        assert index.created
        index.add(Document("d", "D", "text"))
    assert contents(address) == ["text"]
    node.request("DELETE", f"/{name}/_doc/state?refresh=true")
    with pytest.raises(ClusterDamagedError, match="it has no state"):
        Index(address, create=True)
