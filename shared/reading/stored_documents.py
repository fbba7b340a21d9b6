"""Iteration over the documents of an index as they are stored."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import (
    BinaryDocValues,
    DirectoryReader,
    LeafReader,
    NumericDocValues,
    Term,
)
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    DocIdSetIterator,
    IndexSearcher,
    Sort,
    SortField,
    TermQuery,
)

from shared.model import schema
from shared.model.chunks import STEP, Chunk, Place, chunk_id
from shared.model.document import Document, FileState, SourceFile
from shared.storage.mapping import unpack
from shared.storage.stored_chunks import CHUNK_FIELDS, details_of, stored_fields


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of an index.

    Attributes:
        document: the document; its text is that of its first chunk only.
        chunks: its chunks in order, each with its place, read on demand.
    """

    document: Document
    chunks: Iterator[tuple[Chunk, Place]]


def stored_documents(reader: Any) -> Iterator[StoredDocument]:
    """Yield the documents of a reader in the order in which they were added to the index.

    Each segment is verified as a whole, so Lucene reports damage before the first document of the
    segment, even in parts that are not read.
    """
    searcher = IndexSearcher(reader)
    for context in DirectoryReader.cast_(reader).leaves():
        leaf = LeafReader.cast_(context.reader())
        leaf.checkIntegrity()
        for number, state in _first_chunks(leaf):
            yield stored_document(searcher, context.docBase + number, state)


def _first_chunks(leaf: Any) -> Iterator[tuple[int, FileState | None]]:
    """Yield Lucene's number of each first chunk in a segment, and the state of its file."""
    indexes: Any = leaf.getNumericDocValues(schema.CHUNK_INDEX)
    if indexes is None:
        return
    indexes = NumericDocValues.cast_(indexes)
    states: Any = leaf.getBinaryDocValues(schema.FILE_STATE)
    if states is not None:
        states = BinaryDocValues.cast_(states)
    live = leaf.getLiveDocs()
    while (number := indexes.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS:
        if indexes.longValue() == 1 and (live is None or live.get(number)):
            has_state = states is not None and states.advanceExact(number)
            yield number, unpack(states.binaryValue().utf8ToString())[1] if has_state else None


def stored_document(searcher: Any, number: int, state: FileState | None = None) -> StoredDocument:
    """Return the document with a first chunk.

    Args:
        searcher: a Lucene searcher.
        number: Lucene's number of the chunk.
        state: the state of its file; without it the document is treated as not made from a file.
    """
    stored = searcher.storedFields().document(number, stored_fields(*CHUNK_FIELDS))
    details = details_of(stored)
    first, place = _chunk(stored)
    if first.words is None:
        first = replace(first, words=_word_count(searcher, first))
    document = Document(
        id=first.source_document,
        title=details.title,
        content=first.content,
        metadata=details.metadata,
        file=SourceFile(details.file_path, state) if state and details.file_path else None,
    )
    return StoredDocument(document, _chunks(searcher, first, place))


def _word_count(searcher: Any, first: Chunk) -> int:
    """Return the number of words of a document of an older index, from its first chunk.

    All of its chunks but the last have the same number of words.
    """
    last = Term(schema.ID, schema.keyword(chunk_id(first.source_document, first.count)))
    (hit,) = searcher.search(TermQuery(last), 1).scoreDocs
    content = searcher.storedFields().document(hit.doc, stored_fields(schema.CONTENT))
    return STEP * (first.count - 1) + len(content.get(schema.CONTENT).split())


def _chunks(searcher: Any, first: Chunk, place: Place) -> Iterator[tuple[Chunk, Place]]:
    yield first, place
    if first.count == 1:
        return
    # The chunks of a long document may be in several segments, in any order.
    document = TermQuery(Term(schema.SOURCE_DOCUMENT, schema.keyword(first.source_document)))
    rest = (
        BooleanQuery.Builder()
        .add(document, BooleanClause.Occur.FILTER)
        .add(IntPoint.newRangeQuery(schema.CHUNK_INDEX, 2, first.count), BooleanClause.Occur.FILTER)
        .build()
    )
    order = Sort([SortField(schema.CHUNK_INDEX, SortField.Type.INT)])
    stored = searcher.storedFields()
    fields = stored_fields(*CHUNK_FIELDS)
    for hit in searcher.search(rest, first.count, order).scoreDocs:
        yield _chunk(stored.document(hit.doc, fields))


def _chunk(stored: Any) -> tuple[Chunk, Place]:
    details = details_of(stored)
    place = details.place
    chunk = Chunk(
        id=stored.get(schema.ID),
        title=stored.get(schema.TITLE),
        content=stored.get(schema.CONTENT),
        source_document=stored.get(schema.SOURCE_DOCUMENT),
        index=int(stored.get(schema.CHUNK_INDEX)),
        start=int(place["char_start"]),
        end=int(place["char_end"]),
        count=details.chunk_count,
        words=details.words,
    )
    return chunk, place
