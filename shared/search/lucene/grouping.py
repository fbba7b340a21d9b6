"""Chunks grouped by the document that they belong to, with Lucene's grouping collectors.

A document is named by its term, which is its id unless that is too long for a term.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from java.util import Arrays
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    ConstantScoreQuery,
    TermInSetQuery,
)
from org.apache.lucene.search.grouping import GroupDocs, GroupingSearch
from org.apache.lucene.util import BytesRef

from shared.model import schema
from shared.storage.chunk_queries import first_chunks

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
