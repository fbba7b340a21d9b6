"""Rebuilds that meet each other, writers, or a cluster that does not answer."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.errors import (
    ClusterRefusedError,
    ClusterUnreachableError,
    McpLuceneError,
)
from shared.model.failures import Failure
from shared.opensearch import rebuild
from shared.opensearch.connection import Connection
from shared.opensearch.rebuild import Successor
from shared.opensearch.store import Store
from shared.opensearch.upkeep import load_failures, save_failures
from tests.opensearch.conftest import store_of, write
from tests.opensearch.node import Node

pytestmark = pytest.mark.opensearch

ask = Connection.request


@pytest.fixture
def store(address: str) -> Store:
    write(address, d="text")
    return store_of(address)


def found(address: str) -> int:
    with Searcher(address) as searcher:
        return searcher.search("text").totalHits


def begun(store: Store) -> Successor:
    """A rebuild that has written nothing yet."""
    successor = Successor(store)
    successor.create()
    return successor


def finish(successor: Successor, store: Store) -> None:
    state, _ = store.state()[0].copied(1.0)
    successor.take_place(state)


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
    node: Node, store: Store, address: str
) -> None:
    begun_later: list[Successor] = []

    def while_another_one_begins(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        with pytest.raises(McpLuceneError, match="it is being rebuilt"):
            write(address, e="text")
        begun_later.append(begun(store))

    with pytest.raises(ClusterRefusedError, match="somebody else rebuilds the index"):
        rebuild.rebuild(address, progress=while_another_one_begins)
    (second,) = begun_later
    with pytest.raises(McpLuceneError, match="it is being rebuilt"):
        write(address, e="text")
    finish(second, store)
    (physical,) = node.get(f"/{store.name}*")
    assert physical.endswith("3")
    assert node.get("/_aliases")[physical] == {"aliases": {store.name: {}}}
    write(address, e="text")
    # A cluster makes no index for the first one, though its own is gone.
    first = Store(store.connection, f"{store.name}-000002-copy")
    with pytest.raises(McpLuceneError, match="no index"):
        list(first.bulk([({"index": {"_id": "x"}}, {})]))
    assert list(node.get(f"/{store.name}*")) == [physical]
    assert found(address) == 1


def test_what_is_written_although_a_rebuild_is_under_way_is_not_lost(
    node: Node, store: Store, address: str
) -> None:
    def while_others_write(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        # Another rebuild that gives up late may have the old index accept writes.
        node.request("PUT", f"/{store.name}/_settings", {"index.blocks.write": None})
        write(address, e="text")

    with pytest.raises(ClusterRefusedError, match="somebody else rebuilds the index"):
        rebuild.rebuild(address, progress=while_others_write)
    assert found(address) == 2
    assert rebuild.rebuild(address).documents == 2


def does_nothing_late(trouble: Trouble) -> None:
    """Check that the cluster refuses what it does late."""
    assert trouble.late
    for request in trouble.late:
        with pytest.raises(McpLuceneError):
            request()


def begin_the_next(_: Successor, store: Store) -> bool:
    """Begin another rebuild, for which the old index accepts writes for a moment."""
    return bool(Successor(store))


@pytest.mark.parametrize(
    "goes_on",
    [begin_the_next, lambda interrupted, _: interrupted.give_up()],
    ids=["killed", "given-up"],
)
def test_a_change_of_names_that_comes_too_late_does_nothing(
    store: Store,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    goes_on: Callable[[Successor, Store], bool],
) -> None:
    interrupted = begun(store)
    trouble = Trouble(monkeypatch, "/_aliases", is_done=False)
    with pytest.raises(ClusterUnreachableError):
        finish(interrupted, store)
    trouble.path = ""
    assert goes_on(interrupted, store)
    write(address, e="text")
    does_nothing_late(trouble)
    assert found(address) == 2


def test_a_writer_that_was_interrupted_by_a_rebuild_publishes_nothing(
    store: Store, address: str
) -> None:
    with Index(address) as index:
        index.add(Document("d", "D", "half"))
        rebuild.rebuild(address)
        with pytest.raises(ClusterRefusedError, match="the index was rebuilt meanwhile"):
            index.commit()
        index.__exit__(ValueError, None, None)
    assert found(address) == 1
    write(address, e="text")
    assert found(address) == 2
    assert store.state()[0].open == {}


@pytest.mark.parametrize(
    ("path", "is_rebuilt"),
    [
        ("/_aliases", True),
        ("/_block/write", False),
        ("/_doc/state", False),
    ],
    ids=["aliases", "block", "state"],
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
    write(address, e="text")
    assert found(address) == 2
    assert load_failures(address) == {"bad": FAILURE}


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
    with pytest.raises(McpLuceneError, match="it is being rebuilt"):
        write(address, e="text")
    assert rebuild.rebuild(address).documents == 1
    write(address, e="text")
    does_nothing_late(trouble)
    assert found(address) == 2


def test_an_outage_before_the_last_step_is_named_and_the_rebuild_begins_anew(
    node: Node, store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trouble_begins(counts: Iterator[int]) -> Iterator[int]:
        yield from counts
        troubles.append(Trouble(monkeypatch, "/", is_done=False))

    troubles: list[Trouble] = []
    with pytest.raises(ClusterUnreachableError, match="rebuild it again as soon as"):
        rebuild.rebuild(address, progress=trouble_begins)
    troubles[0].path = ""
    assert found(address) == 1
    assert len(node.get(f"/{store.name}*")) == 2
    assert rebuild.rebuild(address).documents == 1
    write(address, e="text")
    assert list(node.get(f"/{store.name}*")) == [f"{store.name}-000003"]


def test_a_rebuild_that_fails_closes_its_connections(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del store
    closed: list[Connection] = []
    close = Connection.close

    def noted(connection: Connection) -> None:
        closed.append(connection)
        close(connection)

    def interrupted(_: Iterator[int]) -> Iterator[int]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Connection, "close", noted)
    with pytest.raises(KeyboardInterrupt):
        rebuild.rebuild(address, progress=interrupted)
    assert len(closed) == 1
    write(address, e="text")


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
