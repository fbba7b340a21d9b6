"""An index on a cluster that is open for reading."""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from shared.errors import ClusterBusyError, IndexFolderError, McpLuceneError
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.model import schema
from shared.model.filters import EVERYTHING, Limits, Names
from shared.model.weights import Weights
from shared.opensearch import layout
from shared.opensearch.address import Address
from shared.opensearch.cluster_errors import part_missing
from shared.opensearch.compiler import compiled
from shared.opensearch.connection import Connection
from shared.opensearch.queries import IS_CHUNK
from shared.opensearch.snapshot import ClusterSnapshot, StaleError
from shared.opensearch.store import Store, Versioned
from shared.opensearch.terms import KnownTerms, PartTerms
from shared.query.filters import within
from shared.semantic.query_encoder import QueryEncoder

Result = TypeVar("Result")

_MOST_ATTEMPTS: Final = 20
"""Number of times that a call begins anew because the state of the index has changed."""

_MOST_ROUTINGS: Final = 10_000
"""Number of routing values that are tried until each shard has one."""

_BITS_OF_SEQUENCE: Final = 40

_MAX_PARTS: Final = 16
"""Maximum number of parts, each of some collections, of which something is known; the one used
least recently is dropped."""


class Cluster:
    """An index that is open for reading, by any number of threads at once.

    `refreshes` is the number of times that another state was seen.
    """

    def __init__(
        self,
        path: Path | str,
        weights: Weights,
        program: vm.Program,
        *,
        versions: Collection[int] = (schema.SCHEMA_VERSION,),
    ) -> None:
        address = Address.of(path)
        self.path = address.path
        self.store = Store(Connection(address), versions=versions)
        self.refreshes = 0
        self._weights = weights
        self._program = program
        self._encoder = QueryEncoder()
        self._lock = Lock()
        self._snapshot: ClusterSnapshot | None = None
        self._parts: OrderedDict[Names, tuple[KnownTerms, ClusterSnapshot]] = OrderedDict()
        self._routings: list[str | None] = []
        self._routed = ("", 0)

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._snapshot = None
        self.store.connection.close()

    def call(
        self,
        work: Callable[[ClusterSnapshot], Result],
        cancellation: Cancellation | None = None,
        *,
        limits: Limits = EVERYTHING,
        is_search: bool = False,
    ) -> Result:
        """Do work on the state of the index, again if the state changes meanwhile.

        A search may begin with the last known state, since it asks for the state itself.
        """
        applied = cancellation.applies() if cancellation else nullcontext()
        with vm.attached(self._program), applied:
            for attempt in range(_MOST_ATTEMPTS):
                snapshot = self.newest(is_checked=is_search and not attempt)
                try:
                    return work(self._within(limits, snapshot))
                except StaleError:
                    continue
                except McpLuceneError as error:
                    # What is missed, such as a field, may have been written since an earlier call.
                    if snapshot.read_at is not None or isinstance(error, IndexFolderError):
                        raise
            raise ClusterBusyError(
                self.path, "the index changes faster than it can be read", "ask again later"
            )

    def newest(self, *, is_checked: bool = False) -> ClusterSnapshot:
        """Return the state of the index, which may be an earlier one if the caller checks it."""
        with self._lock:
            last = self._snapshot
            if last is not None and is_checked:
                return last.read(None)
            now = time.monotonic()
            described = self.store.described() if last is None else None
            state, version = self.store.state()
            number = _sequence(version)
            if last is None or (last.number, last.state) != (number, state):
                described = described or self.store.described()
                self._snapshot = last = self._opened((state, version), described)
                self.refreshes += 1
            return last.read(now)

    def _within(self, limits: Limits, whole: ClusterSnapshot) -> ClusterSnapshot:
        """Return what a call may see of a state of the index.

        Every question is asked of the chunks within the limits: each request has a condition on
        them, and terms are counted there. Only scores take frequencies from the whole index, as in
        a folder.
        """
        if not limits.names:
            return replace(whole, limits=limits)
        with self._lock:
            of, part = self._parts.get(limits.names, (None, None))
        # Each state of the index has terms of its own.
        if part is None or of is not whole.known:
            part = _part(limits, whole)
        with self._lock:
            self._parts[limits.names] = (whole.known, part)
            self._parts.move_to_end(limits.names)
            if len(self._parts) > _MAX_PARTS:
                self._parts.popitem(last=False)
        return part.read(whole.read_at)

    def _opened(self, versioned: Versioned, described: Mapping[str, Any]) -> ClusterSnapshot:
        state, version = versioned
        shards = int(described["settings"]["index"]["number_of_shards"])
        # Another index may have taken the name.
        if self._routed != (state.identity, shards):
            self._routings = self._find_routings(shards)
            self._routed = (state.identity, shards)
        known = KnownTerms(self.store, self._routings, layout.fields_of(described["mappings"]))
        return ClusterSnapshot(
            *(self.store, state, _sequence(version), known, self.path, self._weights),
            shards=len(self._routings),
            encoder=self._encoder,
        )

    def _find_routings(self, shards: int) -> list[str | None]:
        """Return a routing value for each shard."""
        if shards == 1:
            return [None]
        found: dict[int, str | None] = {}
        for number in range(_MOST_ROUTINGS):
            answer = self.store.connection.get(
                f"/{self.store.name}/_search_shards", routing=str(number)
            )
            (copies,) = answer["shards"]
            if not copies:
                raise part_missing(self.path)
            found.setdefault(copies[0]["shard"], str(number))
            if len(found) == shards:
                break
        return list(found.values())


def _sequence(version: Mapping[str, int]) -> int:
    """Return a number for a version of the state; another primary shard counts from the same."""
    return (version["if_primary_term"] << _BITS_OF_SEQUENCE) + version["if_seq_no"]


def _part(limits: Limits, whole: ClusterSnapshot) -> ClusterSnapshot:
    condition = compiled(within(limits, whole.terms, whole.folders), scores=False)
    chunks = {"bool": {"filter": [IS_CHUNK, condition]}}
    part = replace(whole, limits=limits, chunks=chunks)
    return replace(part, known=PartTerms(whole.store, whole.known.fields, part.visible()))
