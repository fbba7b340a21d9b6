"""Queries of Lucene for chunks by what they are part of."""

from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    MatchAllDocsQuery,
    PrefixQuery,
    TermQuery,
)

from shared.model import schema


def of_document(source_document: str) -> Any:
    """All chunks of the document with an id.

    Raises:
        InvalidTextError: the id is not valid Unicode.
    """
    return TermQuery(Term(schema.SOURCE_DOCUMENT, schema.keyword(source_document)))


def with_prefix(field: str, prefix: str) -> Any:
    """The chunks whose value of a keyword field begins in a certain way.

    Raises:
        InvalidTextError: the prefix is not valid Unicode.
    """
    if not prefix:
        return MatchAllDocsQuery()
    return PrefixQuery(Term(field, schema.keyword_prefix(prefix)))


def first_chunks(chunks: Any | None = None) -> Any:
    """The first chunk of each document, which stands for it, if it is among some chunks.

    Args:
        chunks: a query for these; None for all.
    """
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
    """The number of documents that a Lucene searcher shows."""
    return int(searcher.count(first_chunks()))
