"""What is stored of documents of an index on a cluster, in order or all at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from shared.model import schema
from shared.model.document import FileState
from shared.opensearch import layout
from shared.opensearch.queries import IS_FILE, visible
from shared.opensearch.snapshot import ClusterSnapshot
from shared.storage.mapping import unpack

_MOST_PER_PAGE: Final = 10_000

Stored = Mapping[str, Any]

_ALL_STORED: Final = ("stored",)


def stored_in_order(
    snapshot: ClusterSnapshot,
    query: Mapping[str, Any],
    order: Sequence[Any],
    limit: int | None,
    source: Sequence[str] = _ALL_STORED,
) -> Iterator[Stored]:
    """Yield what is stored of the first documents of the cluster in an order, page by page."""
    after: list[Any] | None = None
    left = limit
    while left is None or left > 0:
        size = _MOST_PER_PAGE if left is None else min(left, _MOST_PER_PAGE)
        body: dict[str, Any] = {"query": query, "size": size, "sort": order, "_source": source}
        if after is not None:
            body["search_after"] = after
        (answer,) = snapshot.search([body])
        hits = answer["hits"]["hits"]
        for hit in hits:
            yield hit["_source"]["stored"]
        if len(hits) < size:
            return
        after = hits[-1]["sort"]
        left = None if left is None else left - size


def all_stored(
    snapshot: ClusterSnapshot,
    query: Mapping[str, Any],
    order: Sequence[Any],
    source: Sequence[str] = _ALL_STORED,
) -> Iterator[Stored]:
    """Yield what is stored of all documents of the cluster that a query matches, in an order.

    However long that takes, they are as they were at the beginning.
    """
    for hit in snapshot.every(query, size=_MOST_PER_PAGE, sort=order, _source=source):
        yield hit["_source"]["stored"]


def file_states(snapshot: ClusterSnapshot, *conditions: Any) -> dict[str, FileState]:
    """Return the state of each file by the id of its document, whatever the call may see."""
    query = visible(snapshot.state, IS_FILE, *conditions)
    # An index of the earlier layout may have several, of which that of the last batch counts.
    order = [{layout.BATCH: "asc"}, {schema.SOURCE_DOCUMENT: "asc"}]
    found = all_stored(snapshot, query, order)
    return dict(unpack(stored[schema.FILE_STATE]) for stored in found)
