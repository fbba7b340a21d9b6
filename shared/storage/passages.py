"""Texts of stored chunks, as they are embedded, and the vectors that are known of some."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from org.apache.lucene.index import Term
from org.apache.lucene.search import IndexSearcher, ScoreDoc, TermQuery

from shared.model import schema
from shared.model.folders import telling_path
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import KEY_BYTES, key_of
from shared.storage.stored_chunks import details_of, document_term, stored_fields
from shared.storage.vectors import keys_with_documents, stored_values

TEXT_FIELDS: Final = (schema.ID, schema.CONTENT, schema.DETAILS, schema.SOURCE_DOCUMENT)
"""Stored fields of a chunk of which its text is made."""

MOST_TOGETHER: Final = 8
"""Maximum number of chunks that are embedded at once, in less than a second."""

_VALUES_PER_EMBEDDING: Final = 40_000
"""Number of values whose keys are read, at 2 µs each, in the time in which a chunk is embedded."""


class StoredText(NamedTuple):
    """The text of a chunk."""

    id: str
    source_document: str
    title: str
    content: str
    path: str  # of the file, as far as it tells of the text; empty without one


@dataclass(frozen=True, slots=True)
class Embeddable:
    """Index, open for its vectors to be made."""

    path: Path
    model: SentenceModel | None
    chunks: int
    embedded: int  # the number of chunks that have a value
    texts: Callable[[], Iterator[list[StoredText]]]  # of the others, neighbours together


def key_with_id(searcher: Any, id_: str) -> bytes | None:
    """Return the key of the chunk with an id; None if there is no such chunk."""
    found = searcher.search(TermQuery(Term(schema.ID, schema.keyword(id_))), 1).scoreDocs
    if not len(found):
        return None
    text = _stored_text(searcher.storedFields(), found[0].doc)
    return key_of(text.title, text.content)


def texts_matching(reader: Any, query: Any) -> Iterator[list[StoredText]]:
    """Yield the chunks that a query matches, neighbours in a document together."""
    searcher = IndexSearcher(reader)
    stored = searcher.storedFields()
    count = max(1, int(searcher.count(query)))
    texts = (_stored_text(stored, hit.doc) for hit in searcher.search(query, count).scoreDocs)
    return together(texts)


def together(texts: Iterable[StoredText]) -> Iterator[list[StoredText]]:
    """Yield texts in parts, those that are neighbours in a document together."""
    for _, same in groupby(texts, attrgetter("source_document")):
        while some := list(islice(same, MOST_TOGETHER)):
            yield some


def _stored_text(stored_fields_: Any, number: int) -> StoredText:
    return text_of(stored_fields_.document(number, stored_fields(*TEXT_FIELDS)))


def text_of(stored: Any) -> StoredText:
    """Return the text of a chunk from its stored fields."""
    details = details_of(stored)
    return StoredText(
        stored.get(schema.ID),
        stored.get(schema.SOURCE_DOCUMENT),
        details.title,
        stored.get(schema.CONTENT) or "",
        telling_path(details.folder, details.file_path or ""),
    )


class KnownVectors:
    """The vectors of a commit by the text they were made of.

    The chunks of the document's older version are looked at first. The keys of all vectors are
    read, once, only when more other texts were asked for than are embedded in the time that this
    takes: adding a document to a large index should not take a second longer. The reader of the
    commit is closed with this object.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._own: tuple[str, dict[bytes, bytes]] = ("", {})
        self._unknown = 0

    def value_of(self, source_document: str, key: bytes) -> bytes | None:
        """Return the value for a chunk by its document and its key; None if it is not known."""
        if self._own[0] != source_document:
            self._own = source_document, self._values_of(source_document)
        value = self._own[1].get(key)
        return value or self._value_elsewhere(key)

    def close(self) -> None:
        self._reader.close()

    def _values_of(self, source_document: str) -> dict[bytes, bytes]:
        """Return the values of a document's chunks by their keys."""
        searcher = IndexSearcher(self._reader)
        query = TermQuery(document_term(source_document))
        count = int(searcher.count(query))
        hits = searcher.search(query, count).scoreDocs if count else ()
        numbers = [ScoreDoc.cast_(hit).doc for hit in hits]
        values = stored_values(self._reader, numbers).values()
        return {value[:KEY_BYTES]: value for value in values}

    def _value_elsewhere(self, key: bytes) -> bytes | None:
        if self._unknown < self._reader.numDocs() // _VALUES_PER_EMBEDDING:
            self._unknown += 1
            return None
        document = self._documents.get(key)
        return None if document is None else stored_values(self._reader, [document])[document]

    @cached_property
    def _documents(self) -> dict[bytes, int]:
        return dict(keys_with_documents(self._reader))
