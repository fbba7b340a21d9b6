"""Counting of the values of metadata keys among hits on a cluster."""

from collections.abc import Mapping
from typing import Any, Final

from shared.model import schema
from shared.model.folders import IndexedFolders
from shared.model.schema import COLLECTION
from shared.model.search_results import MAX_FACET_VALUES, Facet, FacetValue
from shared.opensearch import layout
from shared.storage.terms import shown

_MOST_DISTINCT: Final = 40_000
"""Number of distinct values that the cluster counts exactly."""

MOST_OF_A_SHARD: Final = 10_000
"""Number of its most frequent values that each of several shards returns.

Of the cluster's own choice, 25 for a list of ten, a value would lack the counts of shards where it
is not among these."""

DOCUMENTS: Final = {
    "cardinality": {"field": schema.SOURCE_DOCUMENT, "precision_threshold": _MOST_DISTINCT}
}
"""Aggregation that counts documents; above 40,000 it estimates."""


def most_frequent(field: str, size: int, shards: int) -> dict[str, Any]:
    """Return the options of an aggregation that counts the values of a field.

    Args:
        field: the field in the schema.
        size: the number of the most frequent values to return.
        shards: the number of shards.
    """
    terms: dict[str, Any] = {"field": layout.field(field), "size": size}
    # One shard counts all of its values, and needs to return no more than what is asked for.
    return terms if shards == 1 else {**terms, "shard_size": max(2 * size, MOST_OF_A_SHARD)}


def counting(name: str, field: str, shards: int, *, of_documents: bool) -> dict[str, Any]:
    """Return the aggregations that count the values of a metadata key.

    Args:
        name: the metadata key.
        field: its field in the schema.
        shards: the number of shards.
        of_documents: whether documents are counted instead of hits; of sections never.
    """
    values: dict[str, Any] = {"terms": most_frequent(field, MAX_FACET_VALUES, shards)}
    if of_documents and name != schema.SECTION:
        values["terms"]["order"] = [{"documents": "desc"}, {"_key": "asc"}]
        values["aggs"] = {"documents": DOCUMENTS}
    distinct = {"field": layout.field(field), "precision_threshold": _MOST_DISTINCT}
    return {"values": values, "distinct": {"cardinality": distinct}}


def counting_filters(filters: Mapping[str, Any], *, of_documents: bool) -> dict[str, Any]:
    """Return the aggregations that count what passes each of some conditions.

    Args:
        filters: the conditions by their names.
        of_documents: whether documents are counted instead of hits.
    """
    values: dict[str, Any] = {"filters": {"filters": filters}}
    if of_documents:
        values["aggs"] = {"documents": DOCUMENTS}
    return {"values": values}


def facet(name: str, field: str, counted: Mapping[str, Any], folders: IndexedFolders) -> Facet:
    """Return a facet from what `counting` or `counting_filters` has the cluster count."""
    found = counted["values"]["buckets"]
    if field == COLLECTION:
        return Facet.of(name, {value: _count(bucket) for value, bucket in found.items()})
    values = [FacetValue(shown(field, of["key"], folders), _count(of)) for of in found]
    return Facet(name, values, counted["distinct"]["value"])


def _count(bucket: Mapping[str, Any]) -> int:
    found = bucket["documents"]["value"] if "documents" in bucket else bucket["doc_count"]
    return int(found)
