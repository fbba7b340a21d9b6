"""The state of an index on a cluster, as one call sees it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from shared.errors import ClusterDamagedError
from shared.java.cancellation import seconds_left
from shared.model.filters import EVERYTHING, Collections, Limits
from shared.model.folders import IndexedFolder, IndexedFolders, file_term
from shared.model.weights import Weights
from shared.opensearch.storage import layout
from shared.opensearch.storage.connection import REQUEST_SECONDS
from shared.opensearch.storage.queries import IS_CHUNK, Query, visible
from shared.opensearch.storage.state import GRACE_SECONDS, State
from shared.opensearch.storage.store import Store
from shared.opensearch.terms import ClusterTerms, KnownTerms
from shared.storage.terms import FILE_FIELD

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
for `GRACE_SECONDS`, by the clock of whoever deletes it, which may be half a minute ahead."""


class StaleError(Exception):
    """The state of the index has changed since it was read, so that hits may be missing."""


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
        limits: what of the index the call may see.
        chunks: a condition on the chunks within the limits.
        read_at: when the call has read the state, by a clock that only goes forward; None if an
            earlier call has, so that it may have changed before this one began.
    """

    store: Store
    state: State
    number: int
    known: KnownTerms
    path: Path
    weights: Weights
    shards: int
    limits: Limits = EVERYTHING
    chunks: Query = field(default_factory=lambda: IS_CHUNK)
    read_at: float | None = None

    def read(self, at: float | None) -> Self:
        """Return the same state for another call, whose lookups are its own.

        Args:
            at: the attribute `read_at`.
        """
        return replace(self, read_at=at)

    @property
    def collections(self) -> Collections:
        """Collections that a search can name."""
        return self.limits.collections

    @cached_property
    def terms(self) -> ClusterTerms:
        """Terms of the index, for one call."""
        return ClusterTerms(self.known)

    @cached_property
    def folders(self) -> IndexedFolders:
        """Folders that the documents come from, without those that have none within the limits.

        Raises:
            ClusterDamagedError: the state has no readable list of folders.
        """
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
        """Run searches with the statistics of all shards.

        Args:
            bodies: the searches.
            may_be_partial: true if the caller notices when a shard did not answer, or not in time;
                else that is an error.

        Raises:
            ClusterUnreachableError: a shard did not answer.
            StaleError: the state was changed before this call began, or is too old by now.
        """
        bound = {"timeout": _timeout()} if may_be_partial else {}
        *answers, newest = self.store.connection.search(
            [*({**bound, **body} for body in bodies), _STATE_QUERY],
            may_be_partial=may_be_partial,
            **self._with_all_statistics(),
        )
        self._check(newest["hits"]["hits"])
        return answers

    def every(self, query: Mapping[str, Any], **body: Any) -> Iterator[Mapping[str, Any]]:
        """Yield all documents that a query matches, whatever is written while they are read.

        Args:
            query: the query.
            body: more of the search.

        Raises:
            ClusterUnreachableError: a shard did not answer.
            StaleError: as `search`, but only before the first one.
        """
        with closing(self.store.hits(query, **body)) as hits:
            first = next(hits, None)
            # From here on it is known what the cluster shows, until the last one is read.
            newest, _ = self.store.state()
            if not self._serves(newest):
                raise StaleError
            if first is not None:
                yield first
                yield from hits

    def _with_all_statistics(self) -> dict[str, str]:
        return {"search_type": "dfs_query_then_fetch"} if self.shards > 1 else {}

    def _check(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Check that a search by this state has found all that the call must see.

        Args:
            states: the newest state, as the search has found it.
        """
        newest = self.store.loaded(states[0]["_source"]) if states else None
        if newest is None or not self._serves(newest):
            raise StaleError

    def _serves(self, newest: State) -> bool:
        # Another index may have taken the name, and its state the same number.
        if newest.as_searched == self.state.as_searched:
            return True
        is_of_call = self.read_at is not None and time.monotonic() - self.read_at < _MOST_SECONDS
        return is_of_call and self.state.still_serves(newest)

    def count(self, query: Mapping[str, Any]) -> int:
        """Return the number of documents that a query matches."""
        (answer,) = self.search([{"query": query, "size": 0, "track_total_hits": True}])
        return int(answer["hits"]["total"]["value"])


def _timeout() -> str:
    """Return the time after which shards return what they have found, within that of the call."""
    left = seconds_left()
    seconds = _LONGEST_SEARCH if left is None else max(_SHORTEST_SEARCH, min(left, _LONGEST_SEARCH))
    return f"{seconds * 1_000:.0f}ms"
