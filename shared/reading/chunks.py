"""Chunks by id, their neighbours, and the chunks of a document."""

from bisect import bisect_left, bisect_right
from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    Sort,
    SortField,
    TermQuery,
)

from shared.errors import ChunkNotFoundError, DocumentNotFoundError
from shared.model import schema
from shared.model.search_results import ChunkText, Citation, DocumentChunks, Neighbour
from shared.reading.similar_ids import similar_chunk_ids, similar_document_ids
from shared.settings.defaults import MAX_COUNT
from shared.storage.chunk_queries import document_query, known_value
from shared.storage.commits import Snapshot
from shared.storage.stored_chunks import SHOWN_FIELDS, from_lucene, stored_fields


def find_chunk(snapshot: Snapshot, chunk_id: str) -> ChunkText:
    """Return the chunk with an id.

    Raises:
        ChunkNotFoundError: no chunk has the id.
    """
    known = known_value(snapshot.searcher, schema.ID, chunk_id)
    query = TermQuery(Term(schema.ID, schema.keyword(known)))
    found = snapshot.searcher.search(query, 1).scoreDocs
    if not len(found):
        raise ChunkNotFoundError(chunk_id, similar_chunk_ids(snapshot.searcher, chunk_id))
    return _load(snapshot, found)[0]


def next_chunk(snapshot: Snapshot, chunk_id: str) -> Neighbour:
    """Return the chunk after another one in the same document.

    Raises:
        ChunkNotFoundError: no chunk has the id.
    """
    here = find_chunk(snapshot, chunk_id)
    after = _in_order(snapshot, here.source_document, here.chunk_index + 1, limit=2)
    if not after:
        return Neighbour(None, has_next=False, has_previous=True)
    return Neighbour(after[0], has_next=len(after) > 1, has_previous=True)


def previous_chunk(snapshot: Snapshot, chunk_id: str) -> Neighbour:
    """Return the chunk before another one in the same document.

    Raises:
        ChunkNotFoundError: no chunk has the id.
    """
    here = find_chunk(snapshot, chunk_id)
    before = _in_order(
        snapshot, here.source_document, last=here.chunk_index - 1, limit=2, backwards=True
    )
    if not before:
        return Neighbour(None, has_next=True, has_previous=False)
    return Neighbour(before[0], has_next=True, has_previous=len(before) > 1)


def document_chunks(
    snapshot: Snapshot,
    source_document: str,
    start_index: int,
    count: int | None,
) -> DocumentChunks:
    """Return chunks of a document in order, from number `start_index` on.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    source_document = known_value(snapshot.searcher, schema.SOURCE_DOCUMENT, source_document)
    total = snapshot.searcher.count(document_query(source_document))
    if not total:
        raise DocumentNotFoundError(
            source_document, similar_document_ids(snapshot.searcher, source_document)
        )
    limit = total if count is None else min(count, total)
    chunks = _in_order(snapshot, source_document, start_index, limit=limit)
    return DocumentChunks(source_document, total, chunks)


def chunks_of_page(snapshot: Snapshot, source_document: str, page: int) -> range:
    """Return the numbers of the chunks with text of a page; empty if it has none.

    Args:
        snapshot: the commit.
        source_document: the document's id.
        page: the number of the page, from 1.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    answer = document_chunks(snapshot, source_document, 1, 1)
    source_document, total = answer.source_document, answer.total_chunks

    def place(index: int) -> Citation:
        (chunk,) = _in_order(snapshot, source_document, index, limit=1)
        return chunk

    # Pages ascend from chunk to chunk, so that few of a long document need to be read.
    numbers = range(1, total + 1)
    first = bisect_left(numbers, page, key=lambda index: place(index).page_end or 0)
    end = bisect_right(numbers, page, lo=first, key=lambda index: place(index).page_start or 0)
    return numbers[first:end]


def _in_order(
    snapshot: Snapshot,
    source_document: str,
    first: int = 1,
    last: int = MAX_COUNT,
    *,
    limit: int,
    backwards: bool = False,
) -> list[ChunkText]:
    """Return at most `limit` chunks with numbers from `first` to `last`, inclusive."""
    if first > MAX_COUNT:
        return []
    query = (
        BooleanQuery.Builder()
        .add(document_query(source_document), BooleanClause.Occur.FILTER)
        .add(IntPoint.newRangeQuery(schema.CHUNK_INDEX, first, last), BooleanClause.Occur.FILTER)
        .build()
    )
    order = Sort([SortField(schema.CHUNK_INDEX, SortField.Type.INT, backwards)])
    return _load(snapshot, snapshot.searcher.search(query, limit, order).scoreDocs)


def _load(snapshot: Snapshot, score_docs: Any) -> list[ChunkText]:
    stored = snapshot.searcher.storedFields()
    fields = stored_fields(*SHOWN_FIELDS)
    return [
        from_lucene(stored.document(found.doc, fields), snapshot.folders) for found in score_docs
    ]
