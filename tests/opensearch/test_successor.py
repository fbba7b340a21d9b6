"""Rebuilds that meet each other, writers, or a cluster that does not answer."""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.errors import ClusterRefusedError, ClusterUnreachableError, McpLuceneError
from shared.model.failures import Failure
from shared.opensearch import rebuild, state as of_state, successor
from shared.opensearch.address import Address
from shared.opensearch.connection import Connection
from shared.opensearch.failures import load_failures, save_failures
from shared.opensearch.store import Store
from shared.opensearch.successor import LostTurnError, Successor
from tests.opensearch.node import Node

pytestmark = pytest.mark.opensearch

ask = Connection.request


@pytest.fixture
def store(address: str) -> Store:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "text"))
    return Store(Connection(Address.of(address)))


def write(address: str) -> None:
    with Index(address) as index:
        index.add(Document("e", "E", "text"))


def found(address: str) -> int:
    with Searcher(address) as searcher:
        return searcher.search("text").totalHits


def copied(store: Store) -> Any:
    state, _ = store.state()[0].copied(time.time())
    return state


class Trouble:
    """A cluster that gives no answer to some requests.

    Attributes:
        late: requests that it has received, and will do later.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: str, *, is_done: bool) -> None:
        self.late: list[partial[Any]] = []
        self.path, self.is_done = path, is_done
        trouble = self

        def answer(connection: Connection, method: str, path: str, *body: Any, **more: Any) -> Any:
            if method == "GET" or not trouble.path or trouble.path not in path:
                return ask(connection, method, path, *body, **more)
            request = partial(ask, connection, method, path, *body, **more)
            if trouble.is_done:
                trouble.path = ""
                request()
            else:
                trouble.late.append(request)
            raise ClusterUnreachableError(connection.address.path, "no answer")

        monkeypatch.setattr(Connection, "request", answer)


def test_a_rebuild_that_stood_still_leaves_that_of_another_one_alone(
    node: Node, store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Successor(store)
    with pytest.raises(ClusterRefusedError, match="is being rebuilt"):
        Successor(store)
    with monkeypatch.context() as later:
        later.setattr(of_state, "LEASE_SECONDS", 0.0)
        write(address)
        second = Successor(store)
    with pytest.raises(LostTurnError):
        first.take_place(copied(store))
    assert first.give_up()
    with pytest.raises(ClusterRefusedError, match="is being rebuilt"):
        write(address)
    assert second.store.name in node.get(f"/{second.store.name}")
    assert first.store.name not in node.get("/_aliases")
    second.take_place(copied(store))
    assert list(node.get(f"/{store.name}")) == [second.store.name]
    assert node.get("/_aliases")[second.store.name] == {"aliases": {store.name: {}}}


def test_a_rebuild_that_wakes_up_after_another_one_removes_what_it_has_written(
    node: Node, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Successor(store)
    with monkeypatch.context() as later:
        later.setattr(of_state, "LEASE_SECONDS", 0.0)
        second = Successor(store)
    second.take_place(copied(store))
    # A cluster makes an index for it, since its own is gone.
    first.store.put_state(copied(store), {})
    monkeypatch.setattr(successor, "_RENEWAL_SECONDS", 0.0)
    with pytest.raises(LostTurnError):
        first.renew()
    assert first.give_up()
    assert list(node.get(f"/{store.name}*")) == [second.store.name]


@pytest.mark.parametrize(
    ("path", "is_rebuilt"),
    [
        ("/_aliases", True),
        ("/_block/write", False),
        ("/_doc/state", True),
        ("/_doc/failures", False),
    ],
    ids=["aliases", "block", "state", "failures"],
)
def test_a_rebuild_whose_answer_is_lost_loses_nothing(
    node: Node,
    store: Store,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    *,
    is_rebuilt: bool,
) -> None:
    save_failures(address, {"bad": FAILURE})

    def trouble_begins(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        Trouble(monkeypatch, path, is_done=True)

    expected = nullcontext() if is_rebuilt else pytest.raises(ClusterUnreachableError)
    with expected:
        rebuild.rebuild(address, progress=trouble_begins)
    (physical,) = node.get(f"/{store.name}*")
    assert physical.endswith("2" if is_rebuilt else "1")
    write(address)
    assert found(address) == 2
    assert load_failures(address) == {"bad": FAILURE}


def test_a_change_of_names_that_comes_too_late_does_nothing(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Successor(store)
    trouble = Trouble(monkeypatch, "/_aliases", is_done=False)
    with pytest.raises(ClusterUnreachableError):
        beside.take_place(copied(store))
    trouble.path = ""
    assert beside.give_up()
    write(address)
    for request in trouble.late:
        with pytest.raises(McpLuceneError):
            request()
    # Not even if a request of the same process has made the new index anew.
    beside.store.put_state(copied(store), {})
    for request in trouble.late:
        with pytest.raises(McpLuceneError):
            request()
    assert found(address) == 2


def test_nobody_can_write_while_the_outcome_of_a_rebuild_is_not_known(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trouble_begins(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        troubles.append(Trouble(monkeypatch, "/_aliases", is_done=False))

    troubles: list[Trouble] = []
    with pytest.raises(ClusterUnreachableError, match="not known whether"):
        rebuild.rebuild(address, progress=trouble_begins)
    (trouble,) = troubles
    trouble.path = ""
    with pytest.raises(McpLuceneError):
        write(address)
    monkeypatch.setattr(of_state, "LEASE_SECONDS", 0.0)
    with pytest.raises(McpLuceneError):
        write(address)
    assert rebuild.rebuild(address).documents == 1
    write(address)
    for request in trouble.late:
        with pytest.raises(McpLuceneError):
            request()
    assert found(address) == 2


def test_an_outage_before_the_last_step_is_named_and_leaves_the_index_as_it_was(
    node: Node, store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trouble_begins(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        troubles.append(Trouble(monkeypatch, "/", is_done=False))

    troubles: list[Trouble] = []
    with pytest.raises(ClusterUnreachableError, match="no answer"):
        rebuild.rebuild(address, progress=trouble_begins)
    troubles[0].path = ""
    monkeypatch.setattr(of_state, "LEASE_SECONDS", 0.0)
    write(address)
    assert len(node.get(f"/{store.name}*")) == 2
    assert rebuild.rebuild(address).documents == 2
    assert list(node.get(f"/{store.name}*")) == [f"{store.name}-000003"]


def test_a_file_that_fails_during_a_rebuild_stays_in_the_list(store: Store, address: str) -> None:
    del store

    def fails(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        save_failures(address, {"bad": FAILURE})

    rebuild.rebuild(address, progress=fails)
    assert load_failures(address) == {"bad": FAILURE}


FAILURE = Failure(None, "/bad.pdf", "failed", "it is damaged", 1, 1, "2026-01-01T00:00:00Z")


def test_an_index_that_was_restored_by_another_name_is_rebuilt(store: Store, address: str) -> None:
    old, other = store.physical(), f"{store.name}.restored"
    request = partial(ask, store.connection)
    request("PUT", f"/{old}/_block/write")
    request("POST", f"/{old}/_clone/{other}")
    removed = {"remove_index": {"index": old}}
    request(
        *("POST", "/_aliases"),
        {"actions": [removed, {"add": {"index": other, "alias": store.name}}]},
    )
    request("PUT", f"/{other}/_settings", {"index.blocks.write": None})
    rebuild.rebuild(address)
    assert found(address) == 1
    assert store.physical().startswith(f"{store.name}-")
