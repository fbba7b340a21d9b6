"""Terms of a part of an index on a cluster: only those of its chunks, and counted there.

Otherwise suggestions and explanations would tell which words the rest of the index has.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.queries import IS_CHUNK, Query
from shared.opensearch.search.known_terms import KnownTerms, Pair, as_sent
from shared.opensearch.store import Store

_MOST_COUNTED: Final = 1_000
"""Maximum number of conditions whose chunks one search counts."""


class PartTerms(KnownTerms):
    """What is known of the terms of a part of one state of an index.

    Args:
        store: the index.
        fields: the fields of the whole index.
        chunks: the query for the chunks of the part.
    """

    def __init__(self, store: Store, fields: frozenset[str], chunks: Query) -> None:
        keys = sorted(field for field in fields if layout.is_of_metadata(field))
        counts = _counts(store, chunks, [_has(field) for field in keys])
        others = {field for field, count in zip(keys, counts, strict=True) if not count}
        super().__init__(store, (), fields - others, chunks)

    def _fetch_frequencies(self, wanted: list[Pair]) -> Mapping[Pair, int]:
        """Count the chunks that have each term, and those that have each of the fields."""
        pairs = sorted({*wanted})
        names = sorted({schema.ID, *(name for name, _ in pairs)})
        terms = [{"term": {layout.field(name): as_sent(name, text)}} for name, text in pairs]
        counts = _counts(self._store, self._chunks, [*map(_has, names), *terms])
        self.chunks |= zip(names, counts[: len(names)], strict=True)
        return dict(zip(pairs, counts[len(names) :], strict=True))


def _has(field: str) -> Query:
    """Return a condition on the chunks that have a field."""
    # All have an id, but its field has no doc values that could be looked at.
    return IS_CHUNK if field == schema.ID else {"exists": {"field": layout.field(field)}}


def _counts(store: Store, chunks: Query, conditions: Sequence[Query]) -> list[int]:
    """Return the number of chunks of a query that meet each of some conditions."""
    bodies = [
        {
            "query": chunks,
            "size": 0,
            "track_total_hits": False,
            "aggs": {"each": {"filters": {"filters": conditions[first : first + _MOST_COUNTED]}}},
        }
        for first in range(0, len(conditions), _MOST_COUNTED)
    ]
    answers = store.connection.search(bodies) if bodies else []
    buckets = (answer["aggregations"]["each"]["buckets"] for answer in answers)
    return [int(bucket["doc_count"]) for of in buckets for bucket in of]
