"""The state of an index on a cluster, as one call sees it, and what is in it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from shared.java.cancellation import seconds_left
from shared.model.filters import EVERYTHING, Limits
from shared.model.folders import FILE_FIELD, IndexedFolder, IndexedFolders, file_term
from shared.model.weights import Weights
from shared.opensearch import layout
from shared.opensearch.connection import REQUEST_SECONDS
from shared.opensearch.state import GRACE_SECONDS, IS_CHUNK, Query, State, visible
from shared.opensearch.store import Store
from shared.opensearch.terms import ClusterTerms, KnownTerms
from shared.semantic.query_encoder import QueryEncoder
from shared.semantic.sentence_model import SentenceModel

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


@dataclass(eq=False)
class ClusterSnapshot:
    """The state of an index as one call sees it.

    `limits` is what of the index the call may see, and `chunks` a condition on the chunks within.
    `read_at` is when the call has read the state, by a clock that only goes forward; None if an
    earlier call has, so that it may have changed before this one began.
    """

    store: Store
    state: State
    known: KnownTerms
    path: Path
    weights: Weights
    shards: int
    encoder: QueryEncoder
    limits: Limits = EVERYTHING
    chunks: Query = field(default_factory=lambda: IS_CHUNK)
    read_at: float | None = None

    def __post_init__(self) -> None:
        self.collections = self.limits.collections

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
        every = self.store.folders_in(self.state)
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

    def every_stored(
        self,
        query: Mapping[str, Any],
        order: Sequence[Any],
        source: Sequence[str] = _ALL_STORED,
        size: int | None = None,
    ) -> Iterator[Stored]:
        """Yield what is stored of all documents of the cluster that a query matches, in an order.

        However long that takes, they are as they were at the beginning.
        """
        for hit in self.every(query, size=size or MOST_PER_PAGE, sort=order, _source=source):
            yield hit["_source"]["stored"]

    def _check(self, newest: State) -> None:
        """Check by the newest state that a search by this one has found all that it must see."""
        is_of_call = self.read_at is not None and time.monotonic() - self.read_at < _MOST_SECONDS
        if newest != self.state and not (is_of_call and newest.identity == self.state.identity):
            raise StaleError

    def number_of(self, query: Mapping[str, Any]) -> int:
        (answer,) = self.search([{"query": query, "size": 0, "track_total_hits": True}])
        return int(answer["hits"]["total"]["value"])


def _timeout() -> str:
    """Return the time after which shards return what they have found, within that of the call."""
    left = seconds_left()
    seconds = _LONGEST_SEARCH if left is None else max(_SHORTEST_SEARCH, min(left, _LONGEST_SEARCH))
    return f"{seconds * 1_000:.0f}ms"
