"""Fingerprints of documents: terms and doc values of the last chunk of each.

The last chunk has it, because the texts of all chunks are known by then, however long a document
is: none is read twice. Documents of older indexes have none.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from java.util import Arrays
from lucene import JArray
from org.apache.lucene.document import BinaryDocValuesField, Field, StringField
from org.apache.lucene.index import MultiDocValues
from org.apache.lucene.search import BooleanClause, BooleanQuery, FieldExistsQuery, TermInSetQuery
from org.apache.lucene.util import BytesRef

from shared.analysis.fingerprints import Fingerprint
from shared.model import schema
from shared.storage.vectors import bytes_of


def fingerprint_fields(fingerprint: Fingerprint) -> Iterator[Any]:
    """Yield the fields of a document's last chunk with the fingerprint of the document."""
    for term in fingerprint.terms:
        yield StringField(schema.FINGERPRINT, term, Field.Store.NO)
    value = BytesRef(JArray("byte")(fingerprint.dump()))
    yield BinaryDocValuesField(schema.FINGERPRINT, value)


def fingerprints_of(reader: Any, chunks: Iterable[int]) -> dict[int, Fingerprint]:
    """Return the fingerprints of documents by Lucene's numbers of their last chunks.

    Args:
        reader: a reader of a whole commit.
        chunks: Lucene's numbers of chunks; those without a fingerprint are left out.
    """
    values: Any = MultiDocValues.getBinaryValues(reader, schema.FINGERPRINT)
    if values is None:
        return {}
    found = {
        chunk: Fingerprint.load(bytes_of(values.binaryValue()))
        for chunk in sorted(chunks)
        if values.advanceExact(chunk)
    }
    return {chunk: fingerprint for chunk, fingerprint in found.items() if fingerprint}


def with_fingerprint(documents: Sequence[str] | None = None) -> Any:
    """Return a query for the chunks with the fingerprints of documents.

    Args:
        documents: the terms of the documents; None for all.
    """
    exists = FieldExistsQuery(schema.FINGERPRINT)
    if documents is None:
        return exists
    return (
        BooleanQuery.Builder()
        .add(_any_of(schema.SOURCE_DOCUMENT, documents), BooleanClause.Occur.FILTER)
        .add(exists, BooleanClause.Occur.FILTER)
        .build()
    )


def sharing(terms: Sequence[str]) -> Any:
    """Return a query for the chunks with a fingerprint that has one of some terms."""
    return _any_of(schema.FINGERPRINT, terms)


def _any_of(field: str, terms: Sequence[str]) -> Any:
    return TermInSetQuery(field, Arrays.asList([*map(BytesRef, terms)]))
