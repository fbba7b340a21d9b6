"""Lucene queries for chunks by document, and for first chunks."""

from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import BooleanClause, BooleanQuery, TermQuery

from shared.model import schema


def document_query(source_document: str) -> Any:
    """Return a query for all chunks of the document with an id."""
    return TermQuery(Term(schema.SOURCE_DOCUMENT, schema.keyword(source_document)))


def first_chunks(chunks: Any | None = None) -> Any:
    """Return a query for the first chunk of each document, which represents the document."""
    first = IntPoint.newExactQuery(schema.CHUNK_INDEX, 1)
    if chunks is None:
        return first
    return (
        BooleanQuery.Builder()
        .add(chunks, BooleanClause.Occur.FILTER)
        .add(first, BooleanClause.Occur.FILTER)
        .build()
    )


def document_count(searcher: Any) -> int:
    """Return the number of documents that a Lucene searcher shows."""
    return int(searcher.count(first_chunks()))
