"""An index on a cluster that is open for reading, and its state as one call sees it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, TypeVar

from shared.errors import ClusterDamagedError, ClusterRefusedError
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.model import schema
from shared.model.filters import Collections
from shared.model.folders import IndexedFolders
from shared.model.weights import Weights
from shared.opensearch.search.terms import ClusterTerms, KnownTerms
from shared.opensearch.storage import layout
from shared.opensearch.storage.address import Address
from shared.opensearch.storage.connection import REQUEST_SECONDS, Connection
from shared.opensearch.storage.queries import visible
from shared.opensearch.storage.state import State
from shared.opensearch.storage.store import Store, Versioned

Result = TypeVar("Result")

_STATE_QUERY: Final = {
    "query": {"ids": {"values": [layout.STATE_ID]}},
    "size": 1,
}

_MOST_ATTEMPTS: Final = 20
"""Number of times that a call begins anew because the state of the index has changed."""

_MOST_ROUTINGS: Final = 10_000
"""Number of routing values that are tried until each shard has one."""

_BITS_OF_SEQUENCE: Final = 40

BUDGET: Final = f"{REQUEST_SECONDS * 2 / 3:.0f}s"
"""Time after which each shard returns the hits that it has found so far."""


class StaleError(Exception):
    """The state of the index has changed since it was read."""


@dataclass(frozen=True)
class ClusterSnapshot:
    """The state of an index as one call sees it.

    Attributes:
        store: the index.
        state: the state.
        number: the version of the state.
        known: what is known of the terms.
        path: the address of the index.
        weights: the weight of each kind of match.
        shards: the number of shards.
        collections: the collections that a search can name.
    """

    store: Store
    state: State
    number: int
    known: KnownTerms
    path: Path
    weights: Weights
    shards: int
    collections: Collections

    @cached_property
    def terms(self) -> ClusterTerms:
        """Terms of the index, for one call."""
        return ClusterTerms(self.known)

    @cached_property
    def folders(self) -> IndexedFolders:
        """Folders that the documents come from.

        Raises:
            ClusterDamagedError: the state has no readable list of folders.
        """
        try:
            return IndexedFolders.load(self.state.folders, self.path)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ClusterDamagedError(self.path, "it has no readable list of folders") from error

    def visible(self, *conditions: Any) -> dict[str, Any]:
        """Return a query for what the call may see that meets some conditions."""
        return visible(self.state, *conditions)

    def search(self, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Run searches with the statistics of all shards.

        Raises:
            StaleError: the state was changed meanwhile, so that hits may be missing.
        """
        bounded = [{"timeout": BUDGET, **body} for body in bodies]
        *answers, newest = self.store.connection.search(
            [*bounded, _STATE_QUERY], **self._with_all_statistics()
        )
        self._check(newest["hits"]["hits"])
        return answers

    def scored_apart(self, ids: Sequence[str], body: Mapping[str, Any]) -> Any:
        """Find documents by their ids, with their scores by each named query of a search.

        Args:
            ids: the ids.
            body: the search, without a condition on the documents.

        Raises:
            StaleError: as `search`.
        """
        # Only this kind of request can return such scores, so that the state is one of the hits.
        wanted = {"ids": {"values": [*ids, layout.STATE_ID]}}
        (answer,) = self.store.connection.search(
            [
                {
                    **body,
                    "query": {"bool": {"filter": [wanted], "should": [body["query"]]}},
                    "size": len(ids) + 1,
                    "timeout": BUDGET,
                    "_source": ["state"],
                }
            ],
            include_named_queries_score="true",
            **self._with_all_statistics(),
        )
        hits = answer["hits"]["hits"]
        self._check([hit for hit in hits if hit["_id"] == layout.STATE_ID])
        answer["hits"]["hits"] = [hit for hit in hits if hit["_id"] != layout.STATE_ID]
        return answer

    def _with_all_statistics(self) -> dict[str, str]:
        return {"search_type": "dfs_query_then_fetch"} if self.shards > 1 else {}

    def _check(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Check that the state that a search has found is the one that this call sees."""
        # Another index may have taken the name, and its state the same number.
        if not states or self.store.loaded(states[0]["_source"]) != self.state:
            raise StaleError

    def count(self, query: Mapping[str, Any]) -> int:
        """Return the number of documents that a query matches."""
        (answer,) = self.search([{"query": query, "size": 0, "track_total_hits": True}])
        return int(answer["hits"]["total"]["value"])


class Cluster:
    """An index that is open for reading, by any number of threads at once.

    Args:
        path: the address of the index.
        weights: the weight of each kind of match.
        program: the kind of program, for starting the virtual machine that analyzes queries.
        collections: the collections that searches can name.
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
        collections: Collections = MappingProxyType({}),
        *,
        versions: Collection[int] = (schema.SCHEMA_VERSION,),
    ) -> None:
        address = Address.of(path)
        self.path = address.path
        self.store = Store(Connection(address), versions=versions)
        self.refreshes = 0
        self._weights = weights
        self._program = program
        self._collections = collections
        self._lock = Lock()
        self._snapshot: ClusterSnapshot | None = None
        self._routings: list[str | None] = []

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._snapshot = None
        self.store.connection.close()

    def call(
        self,
        work: Callable[[ClusterSnapshot], Result],
        cancellation: Cancellation | None = None,
        *,
        is_search: bool = False,
    ) -> Result:
        """Do work on the state of the index, again if the state changes meanwhile.

        Args:
            work: the work.
            cancellation: ends the work early.
            is_search: true to begin with the last known state: the work asks for the state again.

        Raises:
            ClusterRefusedError: the state changed each time.
        """
        applied = cancellation.applies() if cancellation else nullcontext()
        with vm.attached(self._program), applied:
            for attempt in range(_MOST_ATTEMPTS):
                snapshot = self.newest(is_checked=is_search and not attempt)
                with suppress(StaleError):
                    return work(snapshot)
            raise ClusterRefusedError(
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
                return _copied(last)
            described = self.store.described() if last is None else None
            state, version = self.store.state()
            number = _sequence(version)
            if last is None or (last.number, last.state) != (number, state):
                described = described or self.store.described()
                self._snapshot = last = self._opened((state, version), described)
                self.refreshes += 1
            return _copied(last)

    def _opened(self, versioned: Versioned, described: Mapping[str, Any]) -> ClusterSnapshot:
        if not self._routings:
            shards = int(described["settings"]["index"]["number_of_shards"])
            self._routings = self._find_routings(shards)
        known = KnownTerms(self.store, self._routings, layout.fields_of(described["mappings"]))
        state, version = versioned
        return ClusterSnapshot(
            *(self.store, state, _sequence(version), known, self.path, self._weights),
            shards=len(self._routings),
            collections=self._collections,
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
            found.setdefault(answer["shards"][0][0]["shard"], str(number))
            if len(found) == shards:
                break
        return list(found.values())


def _copied(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return a snapshot for another call, whose lookups are its own."""
    return ClusterSnapshot(
        snapshot.store,
        snapshot.state,
        snapshot.number,
        snapshot.known,
        snapshot.path,
        snapshot.weights,
        snapshot.shards,
        snapshot.collections,
    )


def _sequence(version: Mapping[str, int]) -> int:
    """Return a number for a version of the state; another primary shard counts from the same."""
    return (version["if_primary_term"] << _BITS_OF_SEQUENCE) + version["if_seq_no"]
