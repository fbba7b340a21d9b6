"""Searches of a cluster as bodies of requests: what they select, their orders and facets."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Any, Final

from shared.errors import QueryError
from shared.model import schema
from shared.model.filters import Filter
from shared.model.folders import IndexedFolders, shown
from shared.model.metadata import MODIFIED
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.schema import COLLECTION
from shared.model.search_results import MAX_FACET_VALUES, Facet, FacetValue
from shared.opensearch import layout
from shared.opensearch.compiler import compiled, named
from shared.opensearch.snapshot import ClusterSnapshot
from shared.opensearch.state import Query
from shared.query.filters import conditions, in_collections
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Clause, Nothing
from shared.storage.field_names import SORTABLE, metadata_field_of

_MOST_HITS: Final = 100_000
"""Maximum number of hits up to the last one of a page (``index.max_result_window``)."""

_MOST_WHOLE: Final = 1_000
"""Number of hits up to which a search returns their texts, too; only those of a page are shown."""

_MOST_DISTINCT: Final = 40_000
"""Number of distinct values that the cluster counts exactly."""

_MOST_OF_A_SHARD: Final = 10_000
"""Number of its most frequent values that each of several shards returns.

Of the cluster's own choice, 25 for a list of ten, a value would lack the counts of shards where it
is not among these."""

_DOCUMENTS: Final = {
    "cardinality": {"field": schema.SOURCE_DOCUMENT, "precision_threshold": _MOST_DISTINCT}
}
"""Aggregation that counts documents; above 40,000 it estimates."""

_DATES: Final = layout.field(schema.metadata_field(MODIFIED))


class Searches:
    """The searches that a call may send for the hits of a query that pass filters."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        request: SearchRequest,
        query: ParsedQuery,
        filters: Sequence[Filter],
    ) -> None:
        parts = (part.found for part in (*query.parts, *query.rewritten))
        nodes = dict.fromkeys(node for node in parts if not isinstance(node, Nothing))
        # The parts of the query that a hit may match, each with its name in the searches.
        self.names = {node: f"p{number}" for number, node in enumerate(nodes)}
        self._parts = named({name: node for node, name in self.names.items()})
        self._snapshot, self._request, self._query = snapshot, request, query
        self._filters = filters
        self._clauses = conditions(filters, snapshot.terms, snapshot.folders, snapshot.collections)

    def hits(
        self, count: int, within: Sequence[Query] = (), *, counts: bool = True
    ) -> dict[str, Any]:
        """Return the search for the hits with the highest scores.

        Without counting, it leaves out hits that cannot be among the best.
        """
        if count > _MOST_HITS:
            raise QueryError(
                f"a cluster shows the first {_MOST_HITS:,} hits only; use a smaller offset"
            )
        selected = self._selected(compiled(self._query.tree), self._clauses, within)
        if self.names:
            selected["bool"]["should"] = [self._parts]
        stored = "stored" if count <= _MOST_WHOLE else f"stored.{schema.SOURCE_DOCUMENT}"
        return {
            "query": selected,
            "size": count,
            "track_total_hits": counts,
            "_source": [stored],
            **({"docvalue_fields": [_DATES]} if self._request.recency else {}),
        }

    def in_order(self, sort: str, count: int) -> dict[str, Any]:
        """Return the search for the first hits in an order, which are scored unless all match."""
        by_document = sort == BY_SCORE
        order = [*layout.IN_ORDER] if by_document else sort_order(sort, self._snapshot.terms.fields)
        return {**self.hits(count), "sort": order, "track_scores": not self._query.browses}

    def _selected(
        self, query: Query, clauses: Sequence[Clause], within: Sequence[Query] = ()
    ) -> Query:
        """Return a query restricted to what the search may see, and to what passes filters."""
        seen = self._snapshot.visible(*within)["bool"]
        filters = {"must": [*seen["filter"]], "must_not": [*seen["must_not"]]}
        for clause in clauses:
            filters[clause.occur].append(compiled(clause.node, scores=False))
        found = {"must": [query], "filter": filters["must"], "must_not": filters["must_not"]}
        return {"bool": found}

    def _matching(self, clauses: Sequence[Clause]) -> dict[str, Any]:
        """Return the search that looks at all hits without scores."""
        query = self._selected(compiled(self._query.tree, ranks=False), clauses)
        return {"query": query, "size": 0}

    def total(self) -> dict[str, Any]:
        return {**self._matching(self._clauses), "track_total_hits": True}

    def documents(self) -> dict[str, Any]:
        return {**self._matching(self._clauses), "aggs": {"documents": _DOCUMENTS}}

    def facet(self, name: str, *, of_documents: bool) -> dict[str, Any]:
        """Return the search that counts the values of a metadata key, whatever a filter on it."""
        field = self.facet_field(name)
        pairs = zip(self._filters, self._clauses, strict=True)
        search = self._matching([clause for filter_, clause in pairs if filter_.field != name])
        values: dict[str, Any]
        if field == COLLECTION:
            values = {"filters": {"filters": self._collections()}}
        else:
            values = {"terms": most_frequent(field, MAX_FACET_VALUES, self._snapshot.shards)}
        if of_documents and name != schema.SECTION:
            values["aggs"] = {"documents": _DOCUMENTS}
            if field != COLLECTION:
                values["terms"]["order"] = [{"documents": "desc"}, {"_key": "asc"}]
        search["aggs"] = {"values": values}
        if field != COLLECTION:
            distinct = {"field": layout.field(field), "precision_threshold": _MOST_DISTINCT}
            search["aggs"]["distinct"] = {"cardinality": distinct}
        return search

    def facet_field(self, name: str) -> str:
        """Return the field of a facet, or `COLLECTION`."""
        if self._snapshot.collections and name == COLLECTION:
            return COLLECTION
        return metadata_field_of(name, self._snapshot.terms.fields)

    def _collections(self) -> dict[str, Query]:
        snapshot = self._snapshot
        trees = {
            name: in_collections([collection], snapshot.terms, snapshot.folders)
            for name, collection in snapshot.collections.items()
        }
        return {name: compiled(tree, scores=False) for name, tree in trees.items()}


def sort_order(sort: str, fields: AbstractSet[str]) -> list[Any]:
    """Return the order that a name in a request means, of an index with some fields."""
    key, is_descending = sort.removeprefix("-"), sort.startswith("-")
    direction = "desc" if is_descending else "asc"
    if key in SORTABLE:
        return [{key: direction}, *layout.IN_ORDER]
    field = metadata_field_of(key, fields, SORTABLE)
    number = schema.number_field(key)
    used = number if number in fields else field
    mode = "max" if is_descending else "min"
    by = {"order": direction, "mode": mode, "missing": "_last"}
    return [{layout.field(used): by}, *layout.IN_ORDER]


def most_frequent(field: str, size: int, shards: int) -> dict[str, Any]:
    """Return the options of an aggregation that counts the most frequent values of a field."""
    terms: dict[str, Any] = {"field": layout.field(field), "size": size}
    # One shard counts all of its values, and needs to return no more than what is asked for.
    return terms if shards == 1 else {**terms, "shard_size": max(2 * size, _MOST_OF_A_SHARD)}


def facet_in(counted: Mapping[str, Any], name: str, field: str, folders: IndexedFolders) -> Facet:
    found = counted["values"]["buckets"]
    if field == COLLECTION:
        return Facet.of(name, {value: _count(bucket) for value, bucket in found.items()})
    values = [FacetValue(shown(field, of["key"], folders), _count(of)) for of in found]
    return Facet(name, values, counted["distinct"]["value"])


def _count(bucket: Mapping[str, Any]) -> int:
    found = bucket["documents"]["value"] if "documents" in bucket else bucket["doc_count"]
    return int(found)


def date_of(hit: Mapping[str, Any]) -> str | None:
    """Return the time of change of a hit, which comes with it if its age counts."""
    return max(hit.get("fields", {}).get(_DATES, ()), default=None)
