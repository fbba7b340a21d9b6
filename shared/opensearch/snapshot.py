"""An index on a cluster open for reading: its state, as one call sees it, and what is in it."""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self, TypeVar

from shared.errors import ClusterBusyError, ClusterDamagedError, IndexFolderError, McpLuceneError
from shared.java import vm
from shared.java.cancellation import Cancellation, seconds_left
from shared.model import schema
from shared.model.document import FileState
from shared.model.filters import EVERYTHING, Collections, Limits, Names
from shared.model.folders import FILE_FIELD, IndexedFolder, IndexedFolders, file_term
from shared.model.weights import Weights
from shared.opensearch import layout
from shared.opensearch.address import Address
from shared.opensearch.cluster_errors import part_missing
from shared.opensearch.compiler import compiled
from shared.opensearch.connection import REQUEST_SECONDS, Connection
from shared.opensearch.state import GRACE_SECONDS, IS_CHUNK, IS_FILE, Query, State, visible
from shared.opensearch.store import Store, Versioned
from shared.opensearch.terms import ClusterTerms, KnownTerms, PartTerms
from shared.query.filters import within
from shared.semantic.query_encoder import QueryEncoder
from shared.semantic.sentence_model import SentenceModel
from shared.storage.mapping import unpack

_STATE_QUERY: Final = {
    "query": {"ids": {"values": [layout.STATE_ID]}},
    "size": 1,
}

_LONGEST_SEARCH: Final = REQUEST_SECONDS * 2 / 3
"""Maximum time after which each shard returns the hits that it has found so far, in seconds."""

_SHORTEST_SEARCH: Final = 0.1
"""The same for a call whose time is over, in seconds, so that its answer is not empty."""

_MOST_SECONDS: Final = GRACE_SECONDS / 4
"""Time for which a call goes by a state that has changed since it was read. What it shows is kept
for `GRACE_SECONDS`, by the clock of whoever deletes it, which may be half a minute ahead, unless
another index has taken the name."""

MOST_PER_PAGE: Final = 10_000

Stored = Mapping[str, Any]

_ALL_STORED: Final = ("stored",)


class StaleError(Exception):
    """The state of the index has changed since it was read, so that hits may be missing."""


@dataclass(frozen=True)
class ClusterSnapshot:
    """The state of an index as one call sees it, by a number of its version.

    `limits` is what of the index the call may see, and `chunks` a condition on the chunks within.
    `read_at` is when the call has read the state, by a clock that only goes forward; None if an
    earlier call has, so that it may have changed before this one began.
    """

    store: Store
    state: State
    number: int
    known: KnownTerms
    path: Path
    weights: Weights
    shards: int
    encoder: QueryEncoder = field(default_factory=QueryEncoder)
    limits: Limits = EVERYTHING
    chunks: Query = field(default_factory=lambda: IS_CHUNK)
    read_at: float | None = None

    def read(self, at: float | None) -> Self:
        """Return the same state for another call, whose lookups are its own."""
        return replace(self, read_at=at)

    @property
    def collections(self) -> Collections:
        """Collections that a search can name."""
        return self.limits.collections

    @cached_property
    def model(self) -> SentenceModel | None:
        """Sentence model of the vectors; None without search by meaning."""
        return self.store.model_in(self.state)

    @cached_property
    def terms(self) -> ClusterTerms:
        """Terms of the index, for one call."""
        return ClusterTerms(self.known)

    @cached_property
    def folders(self) -> IndexedFolders:
        """Folders that the documents come from, without those that have none within the limits."""
        try:
            every = IndexedFolders.load(self.state.folders, self.path)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ClusterDamagedError(self.path, "it has no readable list of folders") from error
        if not self.limits.names:
            return every
        # Not the terms of the call, whose lookups may be deferred.
        terms = ClusterTerms(self.known)

        def has_file(folder: IndexedFolder) -> bool:
            files = terms.beginning_with(FILE_FIELD, file_term(folder.prefix, ""))
            return next(files, None) is not None

        return IndexedFolders(tuple(filter(has_file, every)))

    def visible(self, *conditions: Any) -> Query:
        """Return a query for the chunks that the call may see and that meet some conditions."""
        return visible(self.state, self.chunks, *conditions)

    def search(
        self, bodies: Sequence[Mapping[str, Any]], *, may_be_partial: bool = False
    ) -> list[Any]:
        """Run searches with the statistics of all shards; see `Connection.search`."""
        bound = {"timeout": _timeout()} if may_be_partial else {}
        *answers, newest = self.store.connection.search(
            [*({**bound, **body} for body in bodies), _STATE_QUERY],
            may_be_partial=may_be_partial,
            **({"search_type": "dfs_query_then_fetch"} if self.shards > 1 else {}),
        )
        states = newest["hits"]["hits"]
        if not states:
            raise StaleError
        self._check(self.store.loaded(states[0]["_source"]))
        return answers

    def every(self, query: Mapping[str, Any], **body: Any) -> Iterator[Mapping[str, Any]]:
        """Yield all documents that a query matches, whatever is written while they are read."""
        with closing(self.store.connection.hits(query, **body)) as hits:
            first = next(hits, None)
            # From here on it is known what the cluster shows, until the last one is read.
            self._check(self.store.state()[0])
            if first is not None:
                yield first
                yield from hits

    def _check(self, newest: State) -> None:
        """Check by the newest state that a search by this one has found all that it must see."""
        is_of_call = self.read_at is not None and time.monotonic() - self.read_at < _MOST_SECONDS
        if newest != self.state and not (is_of_call and newest.identity == self.state.identity):
            raise StaleError

    def count(self, query: Mapping[str, Any]) -> int:
        """Return the number of documents that a query matches."""
        (answer,) = self.search([{"query": query, "size": 0, "track_total_hits": True}])
        return int(answer["hits"]["total"]["value"])


def _timeout() -> str:
    """Return the time after which shards return what they have found, within that of the call."""
    left = seconds_left()
    seconds = _LONGEST_SEARCH if left is None else max(_SHORTEST_SEARCH, min(left, _LONGEST_SEARCH))
    return f"{seconds * 1_000:.0f}ms"


def all_stored(
    snapshot: ClusterSnapshot,
    query: Mapping[str, Any],
    order: Sequence[Any],
    source: Sequence[str] = _ALL_STORED,
    size: int | None = None,
) -> Iterator[Stored]:
    """Yield what is stored of all documents of the cluster that a query matches, in an order.

    However long that takes, they are as they were at the beginning.
    """
    for hit in snapshot.every(query, size=size or MOST_PER_PAGE, sort=order, _source=source):
        yield hit["_source"]["stored"]


def file_states(snapshot: ClusterSnapshot, *conditions: Any) -> dict[str, FileState]:
    """Return the state of each file by the id of its document, whatever the call may see."""
    query = visible(snapshot.state, IS_FILE, *conditions)
    found = all_stored(snapshot, query, ["_doc"])
    return dict(unpack(stored[schema.FILE_STATE]) for stored in found)


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
