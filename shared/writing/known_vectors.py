"""Vectors of texts that an index has already, so that the same text is not embedded twice."""

from functools import cached_property
from typing import Any, Final

from org.apache.lucene.search import IndexSearcher, ScoreDoc

from shared.semantic.windows import KEY_BYTES
from shared.storage.stored_chunks import document_query
from shared.storage.vectors import keys_with_documents, stored_values

_VALUES_PER_EMBEDDING: Final = 40_000
"""Number of values whose keys are read, at 2 µs each, in the time in which a chunk is embedded."""


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
        query = document_query(source_document)
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
