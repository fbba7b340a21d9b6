"""Filters, sort orders and facets: what an index folder knows of hits by fields.

A facet is the number of matching chunks or documents for each value of a field.
"""

from collections.abc import Sequence
from typing import Any, Final

from java.lang import Double
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
    Sort,
    SortedNumericSelector,
    SortedNumericSortField,
    SortedSetSelector,
    SortedSetSortField,
    SortField,
    TermInSetQuery,
)
from org.apache.lucene.search.grouping import GroupingSearch

from shared.errors import FilterError
from shared.model import schema
from shared.model.filters import Filter
from shared.model.folders import shown
from shared.model.request import BY_SCORE
from shared.model.schema import COLLECTION
from shared.model.search_results import MAX_FACET_VALUES, Facet, FacetValue
from shared.query.filters import conditions
from shared.query.lucene import Compiler, terms_of
from shared.storage.commits import Snapshot, cached_per_commit, is_of_commit
from shared.storage.field_names import all_fields, metadata_field_of
from shared.storage.stored_chunks import first_chunks

_COMPILER: Final = Compiler(scores=False)

_CACHE_MEGABYTES: Final = 16.0
"""Memory for the hits of the first pass of grouping, 8 bytes each; of more hits the second pass
runs the query again."""


def filtered(query: Any, filters: Sequence[Filter], snapshot: Snapshot) -> Any:
    """Return a Lucene query, with the same scores, for the chunks that pass every filter."""
    if not filters:
        return query
    builder = BooleanQuery.Builder().add(query, BooleanClause.Occur.MUST)
    terms = terms_of(snapshot.reader)
    for clause in conditions(filters, terms, snapshot.folders, snapshot.collections):
        is_excluded = clause.occur == "must_not"
        occur = BooleanClause.Occur.MUST_NOT if is_excluded else BooleanClause.Occur.FILTER
        builder.add(_COMPILER.query(clause.node), occur)
    return builder.build()


def document_order() -> Any:
    """Return a sort order by document id, then by position in the document."""
    return Sort(_document_order())


def order(name: str, reader: Any) -> Any:
    """Return the sort order that a name in a request means; ties are in document order.

    Of several values, the one that comes first in that order counts. Chunks without a value come
    last. Files are sorted by the prefix of their folder, then by their path.
    """
    key, reverse = name.removeprefix("-"), name.startswith("-")
    if key == BY_SCORE:
        raise FilterError("hits are sorted best first; -score is not an order")
    return Sort([_field(key, reverse, reader), *_document_order()])


def _document_order() -> list[Any]:
    return [
        SortField(schema.SOURCE_DOCUMENT, SortField.Type.STRING),
        SortField(schema.CHUNK_INDEX, SortField.Type.INT),
    ]


def _field(key: str, reverse: bool, reader: Any) -> Any:
    if key == schema.SOURCE_DOCUMENT:
        return SortField(key, SortField.Type.STRING, reverse)
    if key == schema.CHUNK_INDEX:
        return SortField(key, SortField.Type.INT, reverse)
    text = metadata_field_of(key, all_fields(reader), (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX))
    number = schema.number_field(key)
    if number in all_fields(reader):
        of_several = SortedNumericSelector.Type.MAX if reverse else SortedNumericSelector.Type.MIN
        field = SortedNumericSortField(number, SortField.Type.DOUBLE, reverse, of_several)
        field.setMissingValue(Double(float("-inf") if reverse else float("inf")))
        return field
    return _text_field(text, reverse)


def _text_field(name: str, reverse: bool) -> Any:
    of_several = SortedSetSelector.Type.MAX if reverse else SortedSetSelector.Type.MIN
    field = SortedSetSortField(name, reverse, of_several)
    # Lucene also reverses the position of missing values.
    field.setMissingValue(SortField.STRING_FIRST if reverse else SortField.STRING_LAST)
    return field


def count_facets(
    snapshot: Snapshot,
    query: Any,
    names: Sequence[str],
    filters: Sequence[Filter],
    *,
    of_documents: bool,
) -> list[Facet]:
    """Count the values of metadata keys, as `Selection.facets` does.

    Every chunk has the values of its document, so the first one is counted for all; only sections
    are counted by chunks nevertheless.
    """
    reader = snapshot.reader
    collected: dict[tuple[bool, tuple[int, ...]], Any] = {}
    facets = []
    for name in names:
        # By position, since a filter may have a list of values, which is not hashable.
        others = tuple(number for number, other in enumerate(filters) if other.field != name)
        narrowing = [filters[number] for number in others]
        if name == COLLECTION and snapshot.collections:
            facets.append(_of_collections(snapshot, query, narrowing, of_documents=of_documents))
            continue
        field = metadata_field_of(name, all_fields(reader))
        by_document = of_documents and name != schema.SECTION
        if (by_document, others) not in collected:
            selected = filtered(query, narrowing, snapshot)
            if by_document:
                documents = _matching_documents(snapshot.searcher, selected)
                selected = first_chunks(TermInSetQuery(schema.SOURCE_DOCUMENT, documents))
            collected[by_document, others] = _collected(snapshot.searcher, selected)
        terms, distinct = _count(field, reader, collected[by_document, others])
        values = [FacetValue(shown(field, term, snapshot.folders), count) for term, count in terms]
        facets.append(Facet(name, values, distinct))
    return facets


def _of_collections(
    snapshot: Snapshot, query: Any, filters: Sequence[Filter], *, of_documents: bool
) -> Facet:
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
    """
    reader = searcher.getIndexReader()
    if not is_of_commit(reader):
        return int(_matching_documents(searcher, query).size())
    return _count(schema.SOURCE_DOCUMENT, reader, _collected(searcher, query))[1]


def document_terms(searcher: Any, query: Any) -> list[str]:
    """Return the sorted terms of the ids of all documents that have matching chunks."""
    counts = _counts(schema.SOURCE_DOCUMENT, searcher.getIndexReader(), _collected(searcher, query))
    ids = FacetResult.cast_(counts.getAllChildren(schema.SOURCE_DOCUMENT, []))
    return sorted(str(of.label) for of in ids.labelValues)


def _collected(searcher: Any, query: Any) -> Any:
    # IndexSearcher.search with a collector manager has a type that JCC cannot wrap.
    manager = FacetsCollectorManager()
    found = FacetsCollectorManager.search(searcher, ConstantScoreQuery(query), 1, manager)
    return found.facetsCollector()


def _matching_documents(searcher: Any, query: Any) -> Any:
    grouping = GroupingSearch(schema.SOURCE_DOCUMENT)
    grouping.setAllGroups(True)
    grouping.setCachingInMB(_CACHE_MEGABYTES, True)
    grouping.search(searcher, ConstantScoreQuery(query), 0, 1)
    return grouping.getAllMatchingGroups()


@cached_per_commit
def _ordinals_by_field(_: Any) -> dict[str, Any]:
    """Return the ordinals of the values of fields of a commit, which take a while to compute."""
    return {}


def _counts(field: str, reader: Any, collected: Any) -> Any:
    # Lucene accepts ordinals only for the same reader that was searched.
    ordinals = _ordinals_by_field(reader) if is_of_commit(reader) else {}
    if field not in ordinals:
        ordinals[field] = StringDocValuesReaderState(reader, field)
    return StringValueFacetCounts(ordinals[field], collected)


def _count(field: str, reader: Any, collected: Any) -> tuple[list[tuple[str, int]], int]:
    """Return the most frequent terms, each with its number of chunks, and the number of all."""
    counts = _counts(field, reader, collected)
    top = FacetResult.cast_(counts.getTopChildren(MAX_FACET_VALUES, field, []))
    found = [(str(entry.label), int(entry.value.intValue())) for entry in top.labelValues]
    return found, int(top.childCount)
