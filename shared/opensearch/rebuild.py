"""Rebuilding of an index on a cluster beside the old one, whose name it then takes.

docs/scale.md describes which steps keep what others write meanwhile.
"""

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from shared.errors import (
    ClusterBusyError,
    ClusterUnreachableError,
    IndexMissingError,
    McpLuceneError,
)
from shared.java import vm
from shared.maintenance.rebuild import Progress, Rebuilt, chunk_in, document_of
from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.backend import ClusterBackend, IndexOnCluster
from shared.opensearch.chunk_documents import (
    are_vectors,
    chunk_operations,
    file_operation,
    vectors_operation,
)
from shared.opensearch.cluster_errors import ConflictError
from shared.opensearch.connection import BULK_SECONDS, Operation
from shared.opensearch.snapshot import StaleError
from shared.opensearch.state import State, visible
from shared.opensearch.store import FIRST, Store
from shared.opensearch.upkeep import failures_in, put_failures
from shared.settings.defaults import DEFAULT_WAIT

_MANAGER_SECONDS: Final = "10s"
"""Time for which a change of names may wait for the manager of the cluster, which then drops it:
shorter than that for which its answer is waited for."""

_MOST_READ: Final = 1_000
"""Number of chunks that are read at once: the cluster keeps the rest for two minutes only, while
they are written."""


def rebuild(
    path: Path | str,
    *,
    wait: float = DEFAULT_WAIT,  # noqa: ARG001 - as for a folder
    progress: Progress = iter,
) -> Rebuilt:
    """Write what is stored in an index into a new one, which then takes its name in one step.

    Until then every search sees the old one, and every write is refused. Of an older schema version
    nothing is needed but the stored values, ids, numbers and batches of its chunks, and its state.
    """
    cluster = IndexOnCluster(path, "batch", versions=schema.REBUILT_VERSIONS)
    with closing(cluster), vm.attached("batch"):
        return _rebuilt(cluster, progress)


def _rebuilt(cluster: IndexOnCluster, progress: Progress) -> Rebuilt:
    previous = int(cluster.store.described()["mappings"]["_meta"][schema.COMMIT_SCHEMA])
    counts: list[int] = []
    successor = Successor(cluster.store)
    try:
        successor.create()
        snapshot = cluster.newest()
        state, batch = snapshot.state.copied(time.time())
        put_failures(successor.store, failures_in(cluster.store), {})
        counts += progress(_copied(snapshot, successor.store, batch))
        successor.take_place(state)
    except BaseException as error:
        if successor.give_up():
            if isinstance(error, StaleError | IndexMissingError):
                raise successor.lost_turn() from error
            raise
        # Only an answer was lost.
        if not isinstance(error, McpLuceneError):
            raise
    return Rebuilt(len(counts), sum(counts), schema.SCHEMA_VERSION, previous)


class Successor:
    """The index that a rebuild writes beside an old one, which refuses every write meanwhile.

    The number in its name, kept in the state of the old one, is never given twice. A rebuild that
    begins while another one is under way, or was interrupted, first removes the new index of that
    one, which then cannot take the place of the old one any more, and only then has the old one
    accept writes again. `store` is the new index, by a name that goes with it.
    """

    def __init__(self, old: Store) -> None:
        self._connection, self._name = old.connection, old.name
        self._path = old.path
        self._old = old
        self._physical = old.physical()
        state, _ = old.state()
        # One that was restored from a snapshot may have any name; then nothing is known of others.
        number = self._physical.rpartition("-")[2]
        last = int(number) if number.isdecimal() else state.copies

        def numbered(state: State) -> State:
            return replace(state, copies=max(state.copies, last) + 1)

        try:
            for left_over in range(last + 1, state.copies + 1):
                self._discard(self._copy(left_over))
            if state.copies > last:
                self._unblock()
            self._number = old.change(numbered).copies
        except IndexMissingError as error:
            raise self.lost_turn() from error
        self._frozen = old.state()
        self.store = Store(old.connection, f"{self._copy(self._number)}-copy")

    def _copy(self, number: int) -> str:
        return f"{self._name}-{number:0{len(FIRST)}d}"

    def create(self) -> None:
        """Have the old index refuse writes, and create the new one, with as many shards."""
        self._block()
        self._frozen = self._old.state()
        if self._frozen[0].copies != self._number:
            raise self.lost_turn()
        settings = self._old.described()["settings"]["index"]
        shards, replicas = int(settings["number_of_shards"]), layout.replicas_in(settings)
        body = {**layout.creation(shards, replicas), "aliases": {self.store.name: {}}}
        # One that is there already may have documents; the next rebuild has another number.
        self._connection.request("PUT", f"/{self._copy(self._number)}", body)

    def take_place(self, state: State) -> None:
        """Give the new index the name of the old one, in one step, and remove the old one.

        If the cluster does not answer, `give_up` finds out whether it has done so.
        """
        self.store.refresh()
        with suppress(ConflictError):
            # Nobody else writes it: only an answer was lost.
            self.store.put_state(state, {"op_type": "create"})
        # Another rebuild that has failed may have had it accept writes since.
        self._block()
        if self._old.state() != self._frozen:
            # Somebody has written the old index, or begun to rebuild it, meanwhile.
            raise self.lost_turn()
        self._change_names(
            {"remove": {"index": self._copy(self._number), "alias": self.store.name}},
            {"add": {"index": self._copy(self._number), "alias": self._name}},
            {"remove_index": {"index": self._physical}},
        )

    def give_up(self) -> bool:
        """Remove the new index as far as possible, and have the old one accept writes again.

        Returns false if the new one has taken its place, and so is there to stay. If that is not
        known, the old one goes on to refuse writes, lest what is written is removed later.
        """
        try:
            with suppress(IndexMissingError):
                self._discard(self._copy(self._number))
            try:
                holder = self._old.physical()
            except IndexMissingError:
                holder = ""
            if holder == self._copy(self._number):
                return False
            if holder == self._physical:
                if self._old.state()[0].copies == self._number:
                    self._unblock()
            else:
                # It cannot get the name of the old one any more, which is gone.
                with suppress(IndexMissingError):
                    self._connection.request("DELETE", f"/{self._copy(self._number)}")
        except McpLuceneError as error:
            raise ClusterUnreachableError(
                self._path,
                "the rebuild was interrupted, and it is not known whether its last step was done",
                "rebuild it again as soon as the cluster runs; until then nobody can write",
            ) from error
        return True

    def lost_turn(self) -> ClusterBusyError:
        """Return the error if somebody else has rebuilt the index meanwhile, or is about to."""
        return ClusterBusyError(
            self._path, "somebody else rebuilds the index, or has done so", "rebuild it again"
        )

    def _discard(self, name: str) -> None:
        """Remove a new index, unless the old one is gone; it may be gone itself already.

        A change of names that is still under way does nothing from then on.
        """
        with suppress(IndexMissingError):
            # The first action fails, and with it the second, if the old index was removed.
            self._change_names(
                {"add": {"index": self._physical, "alias": self._name}},
                {"remove_index": {"index": name}},
            )

    def _change_names(self, *actions: dict[str, object]) -> None:
        self._connection.request(
            "POST",
            "/_aliases",
            {"actions": actions},
            seconds=BULK_SECONDS,
            cluster_manager_timeout=_MANAGER_SECONDS,
        )

    def _block(self) -> None:
        """Have the old index refuse writes, after those that are under way."""
        answer = self._connection.request("PUT", f"/{self._physical}/_block/write")
        # If it refuses them already, the list of indexes is empty.
        if answer["indices"] and not answer["shards_acknowledged"]:
            raise ClusterUnreachableError(self._path, "a node did not answer", "try again later")

    def _unblock(self) -> None:
        settings = {"index.blocks.write": None}
        self._connection.request("PUT", f"/{self._physical}/_settings", settings)


def _copied(snapshot: ClusterBackend, new: Store, batch: int) -> Iterator[int]:
    """Write each document into a new index, and yield the number of its chunks."""
    states = snapshot.file_states()
    counts: list[int] = []

    def operations() -> Iterator[Operation]:
        every = snapshot.every_stored(snapshot.visible(), layout.IN_ORDER, size=_MOST_READ)
        for name, group in groupby(every, key=lambda of: str(of[schema.SOURCE_DOCUMENT])):
            chunks = list(group)
            document = document_of(chunks[0], states.get(name))
            yield from chunk_operations(batch, document, map(chunk_in, chunks))
            if name in states:
                yield file_operation(batch, name, states[name])
            counts.append(len(chunks))
        if model := snapshot.model:
            vectors = visible(snapshot.state, are_vectors(model))
            for stored in snapshot.every_stored(vectors, ["_doc"]):
                yield vectors_operation(batch, model, stored)

    new.write(operations())
    yield from counts
