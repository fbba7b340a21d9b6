"""Filters, and facets: the number of matching chunks or documents for each value of a field."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from java.util import Arrays
from org.apache.lucene.facet import (
    FacetResult,
    FacetsCollectorManager,
    StringDocValuesReaderState,
    StringValueFacetCounts,
)
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    ConstantScoreQuery,
    TermInSetQuery,
)
from org.apache.lucene.search.grouping import GroupDocs, GroupingSearch
from org.apache.lucene.util import BytesRef

from shared.model import schema
from shared.model.filters import COLLECTION, Filter
from shared.model.search_results import MAX_FACET_VALUES, Facet, FacetValue
from shared.query.compiler import Compiler
from shared.query.filters import conditions
from shared.query.lucene_terms import terms_of
from shared.storage.chunk_queries import first_chunks
from shared.storage.commits import Snapshot, cached_per_commit, is_of_commit
from shared.storage.field_names import all_fields, metadata_field_of
from shared.storage.terms import shown

_COMPILER: Final = Compiler(scores=False)


def filtered(query: Any, filters: Sequence[Filter], snapshot: Snapshot) -> Any:
    """Return a query restricted to the chunks that pass every filter.

    Args:
        query: a Lucene query; its scores are unchanged.
        filters: the filters, all of which must match.
        snapshot: the commit to be searched.

    Raises:
        FilterError: a field or a value does not fit.
    """
    if not filters:
        return query
    builder = BooleanQuery.Builder().add(query, BooleanClause.Occur.MUST)
    terms = terms_of(snapshot.reader)
    for clause in conditions(filters, terms, snapshot.folders, snapshot.collections):
        is_excluded = clause.occur == "must_not"
        occur = BooleanClause.Occur.MUST_NOT if is_excluded else BooleanClause.Occur.FILTER
        builder.add(_COMPILER.query(clause.node), occur)
    return builder.build()


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


_CACHE_MEGABYTES: Final = 16.0
"""Memory for the hits of the first pass of grouping, 8 bytes each; of more hits the second pass
runs the query again."""


def best_by_document(
    searcher: Any, query: Any, documents: Sequence[str], count: int
) -> Iterator[tuple[str, int, Any]]:
    """Yield the best hits of each of some documents.

    Args:
        searcher: a Lucene searcher.
        query: the query that ranks the hits.
        documents: the documents, at least one.
        count: the maximum number of hits of each.

    Yields:
        A document that has hits, their number, and the best of them (``ScoreDoc``), best first.
    """
    within = BooleanQuery.Builder()
    within.add(query, BooleanClause.Occur.MUST)
    within.add(_chunks_of(documents), BooleanClause.Occur.FILTER)
    grouping = GroupingSearch(schema.SOURCE_DOCUMENT)
    grouping.setGroupDocsLimit(count)
    found = grouping.search(searcher, within.build(), 0, len(documents))
    for entry in found.groups if found else ():
        group = GroupDocs.cast_(entry)
        document = BytesRef.cast_(group.groupValue()).utf8ToString()
        yield str(document), int(group.totalHits().value()), group.scoreDocs()


def matching_documents(searcher: Any, query: Any) -> Any:
    """Return the terms of the documents that have a hit (``java.util.Collection``)."""
    grouping = GroupingSearch(schema.SOURCE_DOCUMENT)
    grouping.setAllGroups(True)
    grouping.setCachingInMB(_CACHE_MEGABYTES, True)
    grouping.search(searcher, ConstantScoreQuery(query), 0, 1)
    return grouping.getAllMatchingGroups()


def first_chunks_of(searcher: Any, query: Any) -> Any:
    """Return a query for the first chunk of each document that has a hit, itself a hit or not."""
    return first_chunks(TermInSetQuery(schema.SOURCE_DOCUMENT, matching_documents(searcher, query)))


def _chunks_of(documents: Sequence[str]) -> Any:
    return TermInSetQuery(schema.SOURCE_DOCUMENT, Arrays.asList([*map(BytesRef, documents)]))
