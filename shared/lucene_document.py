"""Chunks as documents of Lucene and back, field by field as the schema says."""

import json
from collections.abc import Iterator
from typing import Any, Final

from java.util import HashSet
from org.apache.lucene.document import Document as LuceneDocument
from org.apache.lucene.document import (
    DoubleField,
    Field,
    IntPoint,
    KeywordField,
    NumericDocValuesField,
    SortedDocValuesField,
    StoredField,
    StringField,
    TextField,
)
from org.apache.lucene.util import BytesRef

from shared import schema
from shared.chunker import Chunk, chunks
from shared.document import Document, Scalar
from shared.results import ChunkText

_EXACT: Final = 2**53
"""Below this a double holds every whole number (IEEE 754)."""


def to_lucene(document: Document) -> list[Any]:
    """One Lucene document for each chunk, in order; none for a blank text."""
    pieces = list(chunks(document.id, document.title, document.content))
    metadata = json.dumps(document.metadata, ensure_ascii=False)
    return [_chunk_document(document, piece, len(pieces), metadata) for piece in pieces]


def stored_fields(*names: str) -> Any:
    """A set of field names to load; with fewer fields Lucene decodes less."""
    fields = HashSet()
    for name in names:
        fields.add(name)
    return fields


CHUNK_FIELDS = (
    schema.ID,
    schema.TITLE,
    schema.CONTENT,
    schema.SOURCE_DOCUMENT,
    schema.CHUNK_INDEX,
    schema.METADATA,
)
"""The stored fields that `from_lucene` needs."""


def from_lucene(stored: Any) -> ChunkText:
    """The chunk that a Lucene document holds."""
    return ChunkText(
        id=stored.get(schema.ID),
        title=stored.get(schema.TITLE),
        content=stored.get(schema.CONTENT) or "",
        source_document=stored.get(schema.SOURCE_DOCUMENT),
        chunk_index=int(stored.get(schema.CHUNK_INDEX)),
        metadata=json.loads(stored.get(schema.METADATA)),
    )


def _chunk_document(document: Document, chunk: Chunk, count: int, metadata: str) -> Any:
    lucene_document = LuceneDocument()
    for field in _fields(document, chunk, count, metadata):
        lucene_document.add(field)
    return lucene_document


def _fields(document: Document, chunk: Chunk, count: int, metadata: str) -> Iterator[Any]:
    key = schema.keyword(document.id)
    yield StringField(schema.ID, schema.keyword(chunk.id), Field.Store.NO)
    yield StoredField(schema.ID, chunk.id)
    yield TextField(schema.TITLE, chunk.title, Field.Store.YES)
    yield TextField(schema.CONTENT, chunk.content, Field.Store.YES)
    yield StringField(schema.SOURCE_DOCUMENT, key, Field.Store.NO)
    yield SortedDocValuesField(schema.SOURCE_DOCUMENT, BytesRef(key))
    yield StoredField(schema.SOURCE_DOCUMENT, document.id)
    yield IntPoint(schema.CHUNK_INDEX, [chunk.index])
    yield NumericDocValuesField(schema.CHUNK_INDEX, chunk.index)
    yield StoredField(schema.CHUNK_INDEX, chunk.index)
    yield StoredField(schema.DOCUMENT_TITLE, document.title)
    yield StoredField(schema.CHUNK_COUNT, count)
    yield StoredField(schema.METADATA, metadata)
    for name, value in document.metadata.items():
        for scalar in value if isinstance(value, list) else [value]:
            text = schema.keyword(metadata_text(scalar))
            yield KeywordField(schema.metadata_field(name), text, Field.Store.NO)
            if isinstance(scalar, int | float) and not isinstance(scalar, bool):
                yield DoubleField(schema.number_field(name), float(scalar), Field.Store.NO)


def metadata_text(value: Scalar) -> str:
    """A metadata value as the term that filters look for.

    Numbers and truth values are spelled as in JSON, where 4.0 and 4 are the same number.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return json.dumps(value)
