"""The documents of an index."""

import json
from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    MatchAllDocsQuery,
    PrefixQuery,
    Sort,
    SortField,
)

from shared import schema
from shared.lucene_document import stored_fields
from shared.results import DocumentList, DocumentSummary

_FIELDS = (
    schema.SOURCE_DOCUMENT,
    schema.DOCUMENT_TITLE,
    schema.CHUNK_COUNT,
    schema.METADATA,
)


def list_documents(searcher: Any, prefix: str, offset: int, limit: int | None) -> DocumentList:
    """Documents in the order of their ids; see `shared.searcher.Searcher.documents`."""
    chunks = (
        PrefixQuery(Term(schema.SOURCE_DOCUMENT, schema.keyword_prefix(prefix)))
        if prefix
        else MatchAllDocsQuery()
    )
    # The first chunk stands for its document.
    documents = (
        BooleanQuery.Builder()
        .add(chunks, BooleanClause.Occur.FILTER)
        .add(IntPoint.newExactQuery(schema.CHUNK_INDEX, 1), BooleanClause.Occur.FILTER)
        .build()
    )
    total = searcher.count(documents)
    wanted = total if limit is None else min(total, offset + limit)
    summaries = []
    if wanted > offset:
        order = Sort([SortField(schema.SOURCE_DOCUMENT, SortField.Type.STRING)])
        found = list(searcher.search(documents, wanted, order).scoreDocs)
        stored = searcher.storedFields()
        fields = stored_fields(*_FIELDS)
        summaries = [_summary(stored.document(hit.doc, fields)) for hit in found[offset:]]
    return DocumentList(total, searcher.count(chunks), summaries)


def _summary(stored: Any) -> DocumentSummary:
    count = int(stored.get(schema.CHUNK_COUNT))
    return DocumentSummary(
        source_document=stored.get(schema.SOURCE_DOCUMENT),
        title=stored.get(schema.DOCUMENT_TITLE),
        chunk_count=count,
        max_chunk_index=count,
        metadata=json.loads(stored.get(schema.METADATA)),
    )
