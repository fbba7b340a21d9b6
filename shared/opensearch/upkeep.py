"""Upkeep of an index on a cluster: its check, findings, what is to be embedded, unread files."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Final, Literal

from shared.errors import (
    DocumentDamagedError,
    IndexMissingError,
    McpLuceneError,
    PartDamagedError,
)
from shared.java import vm
from shared.maintenance.check import Checked, SegmentState, checked_chunks
from shared.maintenance.upkeep import Progress
from shared.messages import quantity
from shared.model import schema
from shared.model.failures import Failure, dump_failures, parsed_failures
from shared.opensearch import layout
from shared.opensearch.backend import ClusterBackend, IndexOnCluster
from shared.opensearch.chunk_documents import are_vectors, delete_operation, vectors_id
from shared.opensearch.connection import Connection, Operation
from shared.opensearch.state import visible
from shared.opensearch.store import Store
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage.passages import TEXT_FIELDS, Embeddable, StoredText, text_of, together

Status = Literal["ok", "warning", "problem"]

_FULL_DISK: Final = 85.0
"""Share of a disk in use, in per cent, from which on OpenSearch moves no shard to it (its low
watermark)."""


_READ: Final = 1_000
"""Number of chunks whose ids or texts are read in one request."""

_TEXTS: Final = [f"stored.{name}" for name in TEXT_FIELDS]


def check(
    path: Path | str,
    *,
    wait: float = DEFAULT_WAIT,  # noqa: ARG001 - as for a folder
    progress: Progress = iter,  # noqa: ARG001 - as for a folder
) -> Checked:
    """Compare the chunks of each document with those it should have, and look at the shards."""
    with closing(IndexOnCluster(path, "command")) as cluster:
        return cluster.call(_checked)


def _checked(snapshot: ClusterBackend) -> Checked:
    found = Checked()
    every = snapshot.every_stored(snapshot.visible(), layout.IN_ORDER)
    for name, chunks in groupby(every, key=lambda stored: str(stored[schema.SOURCE_DOCUMENT])):
        document = checked_chunks(schema.keyword(name), chunks)
        found.documents += 1
        found.chunks += document.chunks
        for problem in document.problems:
            found.report(DocumentDamagedError(snapshot.path, name, problem))
    for segment, problem in _shards(snapshot):
        found.segments.append(segment)
        if problem:
            found.report(PartDamagedError(snapshot.path, segment.name, problem))
    return found


def _shards(snapshot: ClusterBackend) -> Iterator[tuple[SegmentState, str]]:
    """Yield the shards of the index, each with what is wrong with it."""
    store = snapshot.store
    columns = "index,shard,prirep,state,docs,store,node"
    shards = store.connection.get(f"/_cat/shards/{store.name}", format="json", bytes="b", h=columns)
    for shard in shards:
        kind = "primary" if shard["prirep"] == "p" else "replica"
        state = shard["state"]
        name = f"shard {shard['shard']} ({kind} on {shard['node'] or 'no node'})"
        sound = state == "STARTED"
        figures = int(shard["docs"] or 0), 0, int(shard["store"] or 0)
        problem = "" if sound or kind == "replica" else f"it is {state.lower()}"
        yield SegmentState(name, *figures, sound=not problem), problem


@contextmanager
def embeddable(path: Path | str) -> Iterator[Embeddable]:
    """Lend the state of an index, for its vectors to be made."""
    with closing(IndexOnCluster(path, "batch")) as cluster, vm.attached("batch"):
        yield cluster.call(partial(_embeddable, cluster))


def _embeddable(cluster: IndexOnCluster, snapshot: ClusterBackend) -> Embeddable:
    model, chunks = snapshot.model, snapshot.number_of(snapshot.visible())
    embedded = snapshot.number_of(visible(snapshot.state, are_vectors(model)))

    def texts() -> Iterator[list[StoredText]]:
        # All ids at once, since they are only as they were while they are read.
        ids = cluster.call(lambda newest: [*_without_vectors(newest, chunks - embedded)])
        for begin in range(0, len(ids), _READ):
            query = {"ids": {"values": ids[begin : begin + _READ]}}
            hits = cluster.store.connection.hits(query, sort=layout.IN_ORDER, _source=_TEXTS)
            # The cluster keeps the end of an answer for less time than it takes to embed these.
            yield from together([text_of(hit["_source"]["stored"]) for hit in hits])

    return Embeddable(cluster.path, model, chunks, embedded, texts)


def _without_vectors(snapshot: ClusterBackend, count: int) -> Iterator[str]:
    """Yield the ids on the cluster of so many chunks without vectors, mostly the newest ones."""
    model = snapshot.model
    newest = [{layout.BATCH: "desc"}, *layout.IN_ORDER]
    every = snapshot.every(snapshot.visible(), size=_READ, sort=newest, _source=False)
    while count > 0 and (ids := [hit["_id"] for hit in islice(every, _READ)]):
        own = {"ids": {"values": [vectors_id(id_, model) for id_ in ids]}}
        query = visible(snapshot.state, own)
        found = snapshot.store.connection.hits(query, size=_READ, _source=False)
        known = {hit["_id"] for hit in found}
        missing = [id_ for id_ in ids if vectors_id(id_, model) not in known]
        yield from missing
        count -= len(missing)


def findings(path: Path | str) -> Iterator[tuple[str, Status, str]]:
    """Yield what is worth knowing of a cluster: subjects, each with a status and a sentence."""
    store = Store(Connection(path))
    try:
        yield from _of_cluster(store)
        yield from _of_disks(store)
        yield from _of_index(store)
    except McpLuceneError:
        # The check of the index reports it.
        return


def _of_cluster(store: Store) -> Iterator[tuple[str, Status, str]]:
    version = store.connection.get("/")["version"]["number"]
    health = store.connection.get("/_cluster/health")
    nodes = quantity(health["number_of_nodes"], "node")
    text = f"OpenSearch {version}, {nodes}, {health['status']}"
    if health["status"] == "green":
        yield "Cluster", "ok", text
    else:
        unassigned = quantity(health["unassigned_shards"], "shard")
        status: Status = "problem" if health["status"] == "red" else "warning"
        yield "Cluster", status, f"{text}: {unassigned} on no node"


def _of_disks(store: Store) -> Iterator[tuple[str, Status, str]]:
    disks = store.connection.get("/_cat/allocation", format="json", h="node,disk.percent")
    for disk in disks:
        used = disk.get("disk.percent")
        if used and float(used) >= _FULL_DISK:
            text = f"{disk['node']} uses {used} % of its disk; from 95 % on it takes no documents"
            yield "Disk", "warning", f"{text}: free some space or add a node"


def _of_index(store: Store) -> Iterator[tuple[str, Status, str]]:
    settings = store.described()["settings"]["index"]
    shards = quantity(int(settings["number_of_shards"]), "shard")
    refresh = settings.get("refresh_interval", "1s")
    replicas = layout.replicas_in(settings)
    copies = (
        "as many replicas as nodes allow, up to 1"
        if replicas is None
        else (quantity(replicas, "replica"))
    )
    yield "Settings", "ok", f"{shards}, {copies}, refresh interval {refresh}"
    state, _ = store.state()
    batches = f"{quantity(len(state.open), 'batch')} being written"
    yield "Writer", "ok", batches if state.open else "nobody is writing the index"


def load_failures(path: Path | str) -> dict[str, Failure]:
    """Return the failures by document id; see `shared.model.failures`."""
    try:
        return failures_in(Store(Connection(path)))
    except IndexMissingError:
        return {}


def save_failures(
    path: Path | str,
    failures: Mapping[str, Failure],
    before: Mapping[str, Failure] | None = None,
) -> None:
    """Store failures in the index, beside those of other writers.

    Only what differs from those that they were made from is changed; None replaces all.
    """
    store = Store(Connection(path))
    put_failures(store, failures, failures_in(store) if before is None else before)


def failures_in(store: Store) -> dict[str, Failure]:
    found: dict[str, Failure] = {}
    for hit in store.connection.hits({"term": {layout.KIND: layout.FAILURE}}):
        found |= parsed_failures(store.path, hit["_source"]["stored"]["json"])
    return found


def put_failures(
    store: Store, failures: Mapping[str, Failure], before: Mapping[str, Failure]
) -> None:
    """Store the failures in an index that differ from earlier ones."""

    def operations() -> Iterator[Operation]:
        for name in before.keys() - failures.keys():
            yield delete_operation(_id(name))
        for name, failure in failures.items():
            if before.get(name) != failure:
                stored = {"json": dump_failures({name: failure})}
                source = {layout.KIND: layout.FAILURE, "stored": stored}
                yield {"index": {"_id": _id(name)}}, source

    store.write(operations(), refresh="true")


def _id(name: str) -> str:
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:32]
    return f"{layout.FAILURE}-{digest}"
