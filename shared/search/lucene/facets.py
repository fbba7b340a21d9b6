"""Facets: the number of matching chunks or documents for each value of a field."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from org.apache.lucene.facet import (
    FacetResult,
    FacetsCollectorManager,
    StringDocValuesReaderState,
    StringValueFacetCounts,
)
from org.apache.lucene.search import ConstantScoreQuery

from shared.model import schema
from shared.model.filters import COLLECTION, Filter
from shared.model.search_results import MAX_FACET_VALUES, Facet, FacetValue
from shared.search.lucene.filtering import filtered
from shared.search.lucene.grouping import first_chunks_of, matching_documents
from shared.storage.commits import Snapshot, cached_per_commit, is_of_commit
from shared.storage.field_names import all_fields, metadata_field_of
from shared.storage.terms import shown


def count_facets(
    snapshot: Snapshot,
    query: Any,
    fields: Sequence[str],
    filters: Sequence[Filter],
    *,
    of_documents: bool = False,
) -> list[Facet]:
    """Count the values of fields among the matching chunks, or among their documents.

    A filter on a field is not applied to that field's own values, so that they show the other
    choices (drill sideways).

    Args:
        snapshot: the commit.
        query: the query without filters.
        fields: metadata keys.
        filters: the filters of the search.
        of_documents: whether documents are counted. Every chunk has the values of its document, so
            the first one is counted for all; only sections are counted by chunks nevertheless.

    Raises:
        FilterError: no document has one of the fields, or it is not metadata.
    """
    reader = snapshot.reader
    collected: dict[tuple[bool, tuple[int, ...]], Any] = {}
    facets = []
    for name in fields:
        # By position, since a filter may have a list of values, which is not hashable.
        others = tuple(number for number, other in enumerate(filters) if other.field != name)
        if name == COLLECTION and snapshot.collections:
            conditions = [filters[number] for number in others]
            facets.append(_of_collections(snapshot, query, conditions, of_documents=of_documents))
            continue
        field = metadata_field_of(name, all_fields(reader))
        by_document = of_documents and name != schema.SECTION
        selected = by_document, others
        if selected not in collected:
            conditions = [filters[number] for number in others]
            selection = filtered(query, conditions, snapshot)
            if by_document:
                selection = first_chunks_of(snapshot.searcher, selection)
            # IndexSearcher.search with a collector manager has a type that JCC cannot wrap.
            unscored = ConstantScoreQuery(selection)
            found = FacetsCollectorManager.search(
                snapshot.searcher, unscored, 1, FacetsCollectorManager()
            )
            collected[selected] = found.facetsCollector()
        counted = _count(field, reader, collected[selected])
        values = [
            FacetValue(shown(field, term, snapshot.folders), count)
            for term, count in counted.values
        ]
        facets.append(Facet(name, values, counted.distinct))
    return facets


def _of_collections(
    snapshot: Snapshot, query: Any, filters: Sequence[Filter], *, of_documents: bool
) -> Facet:
    """Count the chunks or documents in each collection, the largest first."""
    searcher = snapshot.searcher
    counts = {}
    for name in snapshot.collections:
        within = filtered(query, [*filters, Filter(COLLECTION, "eq", name)], snapshot)
        counts[name] = (
            count_documents(searcher, within) if of_documents else int(searcher.count(within))
        )
    return Facet.of(COLLECTION, counts)


def count_documents(searcher: Any, query: Any) -> int:
    """Return the number of documents that have matching chunks.

    Counting by the ordinals of the documents takes a tenth of the time of collecting them, but the
    ordinals must be computed first, once for each commit.

    Args:
        searcher: a Lucene searcher.
        query: the query with its filters.
    """
    reader = searcher.getIndexReader()
    if not is_of_commit(reader):
        return int(matching_documents(searcher, query).size())
    found = FacetsCollectorManager.search(
        searcher, ConstantScoreQuery(query), 1, FacetsCollectorManager()
    )
    return _count(schema.SOURCE_DOCUMENT, reader, found.facetsCollector()).distinct


class _Values:
    """Ordinals of the values of each field of an index."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._states: dict[str, Any] = {}

    def state(self, field: str) -> Any:
        """Return the ordinals of a field's values, which take a while to compute at first."""
        if field not in self._states:
            self._states[field] = StringDocValuesReaderState(self._reader, field)
        return self._states[field]


@cached_per_commit
def _values_of(reader: Any) -> _Values:
    return _Values(reader)


class _Counted(NamedTuple):
    """The most frequent terms, each with its number of chunks, and the number of all terms."""

    values: list[tuple[str, int]]
    distinct: int


def _count(field: str, reader: Any, collected: Any) -> _Counted:
    # Lucene accepts ordinals only for the same reader that was searched.
    values = _values_of(reader) if is_of_commit(reader) else _Values(reader)
    counts = StringValueFacetCounts(values.state(field), collected)
    top = FacetResult.cast_(counts.getTopChildren(MAX_FACET_VALUES, field, []))
    found = [(str(entry.label), int(entry.value.intValue())) for entry in top.labelValues]
    return _Counted(found, int(top.childCount))
