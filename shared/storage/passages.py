"""Passages of stored chunks: the texts that are embedded."""

from collections.abc import Iterator
from typing import Any

from org.apache.lucene.index import SortedDocValues, Term
from org.apache.lucene.search import IndexSearcher, TermQuery

from shared.model import schema
from shared.semantic.passages import passage
from shared.storage.stored_chunks import details_of, stored_fields
from shared.storage.vectors import segments_with_vectors

_FIELDS = (schema.ID, schema.CONTENT, schema.DETAILS)


def stored_passage(stored_fields_: Any, number: int) -> tuple[str, str]:
    """Return the id and the passage of a chunk.

    Args:
        stored_fields_: Lucene's access to stored fields.
        number: Lucene's number of the chunk.
    """
    stored = stored_fields_.document(number, stored_fields(*_FIELDS))
    details = details_of(stored)
    section = str(details.place.get("section", ""))
    content = stored.get(schema.CONTENT) or ""
    return stored.get(schema.ID), passage(details.title, section, content)


def passage_with_id(searcher: Any, id_: str) -> str | None:
    """Return the passage of the chunk with an id; None if there is no such chunk."""
    found = searcher.search(TermQuery(Term(schema.ID, schema.keyword(id_))), 1).scoreDocs
    return stored_passage(searcher.storedFields(), found[0].doc)[1] if len(found) else None


def documents_with_vectors(reader: Any) -> Iterator[str]:
    """Yield the term of each document with a vector, some of them several times."""
    for leaf, numbers in segments_with_vectors(reader):
        documents = SortedDocValues.cast_(leaf.getSortedDocValues(schema.SOURCE_DOCUMENT))
        ordinals = set()
        for number in numbers:
            documents.advanceExact(number)
            ordinals.add(documents.ordValue())
        for ordinal in ordinals:
            yield documents.lookupOrd(ordinal).utf8ToString()


def passages_matching(reader: Any, query: Any) -> Iterator[tuple[str, str]]:
    """Yield the id and the passage of each chunk that a query matches, in the index's order."""
    searcher = IndexSearcher(reader)
    stored = searcher.storedFields()
    count = max(1, int(searcher.count(query)))
    for hit in searcher.search(query, count).scoreDocs:
        yield stored_passage(stored, hit.doc)
