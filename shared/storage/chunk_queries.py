"""Lucene queries for chunks by document, by prefix, and for first chunks."""

from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    MatchAllDocsQuery,
    PrefixQuery,
    RegexpQuery,
    TermQuery,
)

from shared.model import schema


def document_query(source_document: str) -> Any:
    """Return a query for all chunks of the document with an id."""
    return TermQuery(Term(schema.SOURCE_DOCUMENT, schema.keyword(source_document)))


def known_value(searcher: Any, field: str, value: str) -> str:
    """Return a value of a keyword field as it is spelled in the index, itself if not there."""
    spellings = schema.any_spelling(value)
    if spellings is None or searcher.count(TermQuery(Term(field, schema.keyword(value)))):
        return value
    for hit in searcher.search(RegexpQuery(Term(field, spellings)), 1).scoreDocs:
        return str(searcher.storedFields().document(hit.doc).get(field))
    return value


def prefix_query(field: str, prefix: str) -> Any:
    """Return a query for the chunks whose value of a keyword field has a prefix."""
    if not prefix:
        return MatchAllDocsQuery()
    if spellings := schema.any_spelling(prefix):
        return RegexpQuery(Term(field, f"{spellings}.*"))
    return PrefixQuery(Term(field, schema.keyword_prefix(prefix)))


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
