"""The batches of a writer: what it writes becomes visible, or is given up, as a whole.

docs/scale.md describes the protocol.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from shared.errors import ClusterBusyError
from shared.model import schema
from shared.opensearch.storage import layout
from shared.opensearch.storage.operations import delete_operation
from shared.opensearch.storage.queries import IS_FILE, of_documents
from shared.opensearch.storage.state import GRACE_SECONDS, FrozenError, State
from shared.opensearch.storage.store import Store

_RENEWAL_SECONDS: Final = 30.0
"""Seconds between the signs of life of a batch."""

_MOST_REPLACED: Final = 20_000
"""Number of replaced documents in the state from which a commit waits until some are removed, so
that searches need not leave out more."""


class Batches:
    """The batches of one writer, one after the other.

    Args:
        store: the index.

    Attributes:
        number: the number of the batch that is open; None if none is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.connection.address.path
        self._renewed = 0.0
        self.number: int | None = None

    def begin(self) -> int:
        """Return the number of the batch, beginning one if there is none.

        Raises:
            ClusterBusyError: the index is being rebuilt, or the writer was taken for dead.
        """
        now = time.time()
        if self.number is None:
            numbers: list[int] = []

            def open_(state: State) -> State:
                opened, number = state.opened(now)
                numbers.append(number)
                return opened

            try:
                self._store.change(open_)
            except FrozenError as error:
                raise ClusterBusyError(
                    self._path, "the index is being rebuilt", "wait until that has ended"
                ) from error
            self.number, self._renewed = numbers[-1], now
        elif now - self._renewed > _RENEWAL_SECONDS:
            batch = self.number
            try:
                self._store.change(lambda state: state.renewed(batch, now))
            except KeyError as error:
                raise self._expired() from error
            self._renewed = now
        return self.number

    def publish(
        self,
        documents: Collection[str],
        with_other_states: Collection[str],
        folders: Callable[[str], str] | None,
    ) -> None:
        """Make the batch visible, and hide what it replaces, for searches that start afterwards.

        Args:
            documents: the documents that it replaces or removes.
            with_other_states: documents of which it writes the states of their files only.
            folders: a function that returns the folders of the documents after those that the state
                has; None if they are the same. What it raises leaves the batch open.

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

        def publish(state: State) -> State:
            after = folders(state.folders) if folders else None
            return state.published(batch, replaced, time.time(), after)

        self.number = None
        try:
            state = self._store.change(publish, lambda state: state.is_published(batch))
        except KeyError as error:
            raise self._expired() from error
        except BaseException:
            # It is still open, and can be given up.
            self.number = batch
            raise
        if with_other_states:
            earlier_states = [IS_FILE, of_documents(with_other_states), _before(batch)]
            self._delete({"bool": {"filter": earlier_states}})
        self._clean(state)

    def withdraw(self) -> State | None:
        """Give up the batch, so that what it wrote is never visible.

        Returns:
            The state afterwards; None if no batch was open.
        """
        batch, self.number = self.number, None
        if batch is None:
            return None
        return self._store.change(lambda state: state.withdrawn(batch, time.time()))

    def delete_chunks(self, batch: int) -> None:
        """Delete the chunks of a batch that was given up."""
        self._store.refresh()
        self._delete({"term": {layout.BATCH: batch}})

    def _clean(self, state: State) -> None:
        """Delete the chunks that no search can see any more, as far as it is time."""
        now = time.time()
        while sum(len(of.documents) for of in state.replaced.values()) > _MOST_REPLACED and not (
            state.removable(now)
        ):
            # Never longer than the time for which replaced chunks are kept.
            time.sleep(GRACE_SECONDS / 60)
            now = time.time()
            if state.open:
                break
        removable, dead = state.removable(now), state.expired(now)
        gone = state.forgettable(now)
        for batch in removable:
            documents = [*state.replaced[batch].documents]
            self._delete({"bool": {"filter": [_terms(documents), _before(batch)]}})
        for batch in (*dead, *gone):
            self._delete({"term": {layout.BATCH: batch}})
        if removable or dead or gone:

            def cleaned(state: State) -> State:
                for batch in state.expired(now):
                    state = state.withdrawn(batch, now)
                return state.removed(removable).forgotten(gone)

            self._store.change(cleaned)

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
            query = {"bool": {"filter": [_terms(part), _before(batch)]}}
            names = {"terms": {"field": schema.SOURCE_DOCUMENT, "size": len(part)}}
            (answer,) = self._store.connection.search(
                [{"query": query, "size": 0, "aggs": {"names": names}}]
            )
            found += (bucket["key"] for bucket in answer["aggregations"]["names"]["buckets"])
        return found

    def _delete(self, query: Mapping[str, Any]) -> None:
        ids = list(self._store.ids(query))
        for _ in self._store.bulk(map(delete_operation, ids)):
            # A chunk that is gone already.
            continue


def _terms(documents: Sequence[str]) -> dict[str, Any]:
    return {"terms": {schema.SOURCE_DOCUMENT: list(documents)}}


def _before(batch: int) -> dict[str, Any]:
    return {"range": {layout.BATCH: {"lt": batch}}}
