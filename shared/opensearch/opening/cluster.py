"""An index on a cluster that is open for reading."""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from shared.errors import ClusterBusyError, IndexFolderError, McpLuceneError
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.model import schema
from shared.model.filters import EVERYTHING, Limits
from shared.model.weights import Weights
from shared.opensearch.opening.parts import OpenParts
from shared.opensearch.opening.snapshot import ClusterSnapshot, StaleError
from shared.opensearch.storage import layout
from shared.opensearch.storage.address import Address
from shared.opensearch.storage.connection import Connection, part_missing
from shared.opensearch.storage.store import Store, Versioned
from shared.opensearch.terms import KnownTerms

Result = TypeVar("Result")

_MOST_ATTEMPTS: Final = 20
"""Number of times that a call begins anew because the state of the index has changed."""

_MOST_ROUTINGS: Final = 10_000
"""Number of routing values that are tried until each shard has one."""

_BITS_OF_SEQUENCE: Final = 40


class Cluster:
    """An index that is open for reading, by any number of threads at once.

    Args:
        path: the address of the index.
        weights: the weight of each kind of match.
        program: the kind of program, for starting the virtual machine that analyzes queries.
        versions: the versions of the schema that may be read.

    Attributes:
        path: the address of the index.
        store: the index.
        refreshes: the number of times that another state was seen.
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
        self._lock = Lock()
        self._snapshot: ClusterSnapshot | None = None
        self._parts = OpenParts()
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

        Args:
            work: the work.
            cancellation: ends the work early.
            limits: what of the index the work may see.
            is_search: true to begin with the last known state: the work asks for the state again.

        Raises:
            ClusterBusyError: the state changed each time.
            McpLuceneError: the work raised it, by a state that this call has read.
        """
        applied = cancellation.applies() if cancellation else nullcontext()
        with vm.attached(self._program), applied:
            for attempt in range(_MOST_ATTEMPTS):
                snapshot = self.newest(is_checked=is_search and not attempt)
                try:
                    return work(self._parts.within(limits, snapshot))
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
        """Return the state of the index.

        Args:
            is_checked: true if the caller notices when it has changed since it was last read.
        """
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
        )

    def _find_routings(self, shards: int) -> list[str | None]:
        """Return a routing value for each shard.

        Raises:
            ClusterUnreachableError: a shard is on no node that runs.
        """
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
