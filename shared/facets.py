"""How many of the matching chunks have each value of a field."""

from collections.abc import Sequence
from typing import Any, Final

from org.apache.lucene.facet import (
    FacetResult,
    FacetsCollectorManager,
    StringDocValuesReaderState,
    StringValueFacetCounts,
)

from shared.filter_query import filtered
from shared.filters import Filter
from shared.indexed_folder import IndexedFolders
from shared.metadata_fields import metadata_field_of
from shared.results import Facet, FacetValue

MAX_FACET_VALUES: Final = 10
"""The most frequent values that are told of each field."""


def count_facets(
    searcher: Any,
    query: Any,
    fields: Sequence[str],
    filters: Sequence[Filter],
    folders: IndexedFolders,
) -> list[Facet]:
    """Count the values of fields among the chunks that match.

    A filter on a field does not count against that field's own values, so that they show what
    else could be chosen (drill sideways).

    Args:
        searcher: a Lucene searcher.
        query: the query without filters.
        fields: keys of the metadata.
        filters: the conditions of the search.
        folders: the folders of the index.

    Raises:
        FilterError: no document has one of the fields.
    """
    reader = searcher.getIndexReader()
    collected: dict[tuple[Filter, ...], Any] = {}
    facets = []
    for name in fields:
        field = metadata_field_of(name, reader)
        others = tuple(condition for condition in filters if condition.field != name)
        if others not in collected:
            selection = filtered(query, others, reader, folders)
            # IndexSearcher.search with a collector manager has a type that JCC cannot wrap.
            found = FacetsCollectorManager.search(searcher, selection, 1, FacetsCollectorManager())
            collected[others] = found.facetsCollector()
        facets.append(_facet(name, field, reader, collected[others]))
    return facets


def _facet(name: str, field: str, reader: Any, collected: Any) -> Facet:
    if not reader.getDocCount(field):
        return Facet(name, [], 0)
    state = StringDocValuesReaderState(reader, field)
    counts = StringValueFacetCounts(state, collected)
    found = counts.getTopChildren(MAX_FACET_VALUES, field, [])
    if found is None:
        return Facet(name, [], 0)
    top = FacetResult.cast_(found)
    values = [FacetValue(entry.label, int(entry.value.intValue())) for entry in top.labelValues]
    return Facet(name, values, int(top.childCount))
