"""The batches of a writer: what it writes becomes visible, or is given up, as a whole.

docs/scale.md describes the protocol.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, Final
from weakref import ref

from shared.errors import (
    ClusterBusyError,
    ClusterRefusedError,
    ClusterUnreachableError,
    IndexWriteError,
    McpLuceneError,
)
from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.operations import delete_operation
from shared.opensearch.queries import IS_FILE, of_documents, of_terms
from shared.opensearch.state import GRACE_SECONDS, LEASE_SECONDS, FrozenError, State
from shared.opensearch.store import Store

_RENEWAL_SECONDS: Final = LEASE_SECONDS / 3
"""Seconds between the signs of life of a batch, so that one that fails costs nothing."""

_MOST_REPLACED: Final = 20_000
_MOST_REPLACING: Final = 200
"""Number of replaced documents in the state, and of batches that have replaced them, from which a
commit waits until some are removed, so that searches need not leave out more: each batch is two
clauses of a query, of which the cluster allows 1,024."""


class Batches:
    """The batches of one writer, one after the other.

    From the first one on, a thread gives signs of life of the batch that is open, until the writer
    is closed or forgotten. What it learns, `begin` reports.

    Args:
        store: the index.

    Attributes:
        number: the number of the batch that is open; None if none is.
        is_unsure: whether that batch may be visible already, since the answer to its commit was
            lost; the next commit finds out.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.connection.address.path
        # Held while the state of the open batch changes, so that no sign of life comes after that.
        self._lock = Lock()
        self._is_closed = Event()
        self._is_renewed = False
        self._is_dead = False
        self._lost_before = 0
        self.number: int | None = None
        self.is_unsure = False

    def close(self) -> None:
        """End the thread that gives signs of life."""
        self._is_closed.set()

    def begin(self) -> int:
        """Return the number of the batch, beginning one if there is none.

        Raises:
            ClusterBusyError: the index is being rebuilt, or the writer was taken for dead.
        """
        if self.number is not None:
            if self._is_dead:
                self.number = None
                raise self._expired()
            return self.number
        number, at = 0, 0.0

        def open_(state: State) -> State:
            nonlocal number, at
            at = time.time()
            opened, number = state.opened(at)
            return opened

        self._lost_before = self._store.lost_answers
        try:
            # Its time tells it from one that another writer has opened with this number.
            self._store.change(open_, lambda state: state.open.get(number) == at)
        except FrozenError as error:
            raise ClusterBusyError(
                self._path, "the index is being rebuilt", "wait until that has ended"
            ) from error
        self._is_dead = False
        self.number = number
        if not self._is_renewed:
            self._is_renewed = True
            renewing = (ref(self), self._is_closed)
            Thread(target=_renew, args=renewing, name="cluster-renewal", daemon=True).start()
        return self.number

    def renew(self) -> None:
        """Give a sign of life of the batch, if one is open.

        Raises:
            McpLuceneError: the cluster did not take it.
        """
        with self._lock:
            batch = self.number
            if batch is None or self._is_dead:
                return
            try:
                self._store.change(lambda state: state.renewed(batch, time.time()))
            except KeyError:
                self._is_dead = not self.is_unsure

    def publish(self, documents: Collection[str], folders: Callable[[str], str] | None) -> State:
        """Make the batch visible, and hide what it replaces, for searches that start afterwards.

        Args:
            documents: the documents that it replaces or removes.
            folders: a function that returns the folders of the documents after those that the state
                has; None if they are the same. What it raises leaves the batch open.

        Returns:
            The state afterwards, for `clean`.

        Raises:
            ClusterBusyError: the writer was taken for dead, so that nothing becomes visible.
        """
        batch = self.begin()
        self._store.refresh()
        changed = [schema.keyword(name) for name in documents]
        # Before earlier chunks are looked for: those of a batch that is open may appear afterwards.
        before, _ = self._store.state()
        replaced = (
            changed if before.has_earlier(batch) else self._with_chunks_before(batch, changed)
        )

        was_unsure = self.is_unsure
        late = changed if self._store.lost_answers > self._lost_before else []

        def publish(state: State) -> State:
            if was_unsure and state.is_published(batch):
                return state
            after = folders(state.folders) if folders else None
            return state.published(batch, replaced, time.time(), after, late=late)

        with self._lock:
            try:
                self.number, self.is_unsure = None, False
                return self._store.change(publish, lambda state: state.is_published(batch))
            except KeyError as error:
                raise self._expired() from error
            except ClusterBusyError:
                # It was not sent.
                self.number, self.is_unsure = batch, was_unsure
                raise
            except BaseException:
                # If it is still open, it can be given up.
                self.number, self.is_unsure = batch, True
                raise

    def withdraw(self) -> State | None:
        """Give up the batch, so that what it wrote is never visible.

        Returns:
            The state afterwards; None if no batch was open.
        """
        with self._lock:
            batch, self.number, self.is_unsure = self.number, None, False
            if batch is None:
                return None
            return self._store.change(lambda state: state.withdrawn(batch, time.time()))

    def delete_chunks(self, batch: int) -> None:
        """Delete the chunks of a batch that the state calls abandoned."""
        self._store.refresh()
        self._delete({"term": {layout.BATCH: batch}})

    def clean(self, state: State, batch: int, with_other_states: Collection[str]) -> None:
        """Delete what no search can see any more, as far as it is time.

        If the cluster cannot do so at the moment, that is left to the next commit.

        Args:
            state: the state after the last commit.
            batch: the batch of that commit.
            with_other_states: documents of which it has written the states of their files only.

        Raises:
            ClusterRefusedError: the user may not delete.
        """
        with suppress(ClusterUnreachableError, IndexWriteError):
            if with_other_states:
                earlier_states = [IS_FILE, of_documents(with_other_states), _before(batch)]
                self._delete({"bool": {"filter": earlier_states}})
            self._clean(state)

    def _clean(self, state: State) -> None:
        now = time.time()
        while _is_crowded(state) and not state.removable(now):
            # Never longer than the time for which replaced chunks are kept.
            time.sleep(GRACE_SECONDS / 60)
            now = time.time()
        expired = state.expired(now)
        if expired:
            # Before anything is deleted: a batch that its writer has renewed meanwhile stays.
            state = self._store.change(lambda state: state.without_expired(now))
        dead = [batch for batch in expired if batch in state.abandoned]
        removable, gone = state.removable(now), state.forgettable(now)
        complete = state.complete(now)
        for batch in removable:
            documents = of_terms(state.replaced[batch].documents)
            self._delete({"bool": {"filter": [documents, _before(batch)]}})
        for batch in (*dead, *gone):
            self._delete({"term": {layout.BATCH: batch}})
        if removable or gone or complete:
            before, forgotten = state, {*gone, *complete}
            self._store.change(lambda state: state.removed(removable, before).forgotten(forgotten))

    def _expired(self) -> ClusterBusyError:
        return ClusterBusyError(
            self._path,
            "this writer was silent for so long that it was taken for dead",
            "write again what was not committed, of which nothing is visible",
        )

    def _with_chunks_before(self, batch: int, documents: Sequence[str]) -> list[str]:
        """Return those of some documents that have chunks of earlier batches."""
        found: list[str] = []
        for begin in range(0, len(documents), 1000):
            part = documents[begin : begin + 1000]
            query = {"bool": {"filter": [of_terms(part), _before(batch)]}}
            names = {"terms": {"field": schema.SOURCE_DOCUMENT, "size": len(part)}}
            (answer,) = self._store.connection.search(
                [{"query": query, "size": 0, "aggs": {"names": names}}]
            )
            found += (bucket["key"] for bucket in answer["aggregations"]["names"]["buckets"])
        return found

    def _delete(self, query: Mapping[str, Any]) -> None:
        """Delete what a query matches; what is gone already is no error.

        Raises:
            ClusterRefusedError: the cluster does not delete something.
        """
        ids = list(self._store.ids(query))
        for _, reason in self._store.bulk(map(delete_operation, ids)):
            raise ClusterRefusedError(
                self._path,
                f"what was replaced cannot be deleted: {reason}",
                "give the user the right to delete documents of the index",
            )


def _renew(known: "ref[Batches]", is_closed: Event) -> None:
    """Give signs of life of the open batches of a writer until it is closed, or forgotten."""
    while not is_closed.wait(_RENEWAL_SECONDS):
        batches = known()
        if batches is None:
            return
        with suppress(McpLuceneError):
            # The next one is in time, too; if the cluster stays away, the commit reports it.
            batches.renew()
        del batches


def _is_crowded(state: State) -> bool:
    """Check whether searches leave out so much that deleting some of it is worth waiting for."""
    waiting = state.removed_later.values()
    documents = sum(len(replaced.documents) for replaced in waiting)
    return len(waiting) > _MOST_REPLACING or documents > _MOST_REPLACED


def _before(batch: int) -> dict[str, Any]:
    return {"range": {layout.BATCH: {"lt": batch}}}
