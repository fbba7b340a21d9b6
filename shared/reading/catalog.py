"""Catalog: the documents of an index as a list that every commit may change."""

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Final, Literal

from shared.model import schema
from shared.model.filters import Filter, Limits
from shared.model.folders import FILE_FIELD
from shared.model.index_results import DocumentSummary, Names
from shared.model.metadata import chunk_metadata
from shared.model.request import BY_ID
from shared.query.filters import beginning_with, conditions
from shared.query.tree import Everything, Range, all_of
from shared.reading.backend import Backend, ReadableIndex, Result, chunks_of, first_of, spelled
from shared.reading.documents import summaries, with_prefix
from shared.storage.field_names import FILTERABLE, SORTABLE, metadata_fields, name_of, names_of
from shared.storage.stored_chunks import details_of

Purpose = Literal["terms", "filter", "sort", "facet"]
"""Purposes for which a field can be named."""

_FIELDS_OF_CHUNKS: Final = {
    "filter": FILTERABLE,
    "sort": SORTABLE,
    "facet": (),
}

_SHOWN: Final = (schema.CONTENT, schema.DETAILS)


class Catalog:
    """Catalog of the documents of an index; every call answers from the newest commit."""

    def __init__(self, index: ReadableIndex, limits: Limits) -> None:
        self._index = index
        self._limits = limits

    def _call(self, work: Callable[[Backend], Result]) -> Result:
        return self._index.call(work, self._limits)

    def documents(
        self, *, after: str | None = None, prefix: str = "", limit: int
    ) -> list[DocumentSummary]:
        """Return documents in the order of their ids, from the one after an id on.

        Unlike an offset, an id keeps its place in the list while documents are added and deleted.
        It need not exist.
        """
        documents = first_of(with_prefix(prefix))
        if after is not None:
            term = schema.keyword(after)
            later = Range(term, None, includes_low=False, field=schema.SOURCE_DOCUMENT)
            documents = all_of(later, documents)
        return self._call(lambda backend: list(summaries(backend, documents, limit=limit)))

    def document_ids(self, prefix: str, limit: int) -> Names:
        """Return the ids of documents that begin with a prefix."""
        documents = first_of(with_prefix(prefix))
        return self._call(
            lambda backend: Names(
                backend.count(documents),
                [of.source_document for of in summaries(backend, documents, limit=limit)],
            )
        )

    def documents_of_files(self, paths: Iterable[str], limit: int) -> list[str]:
        """Return the sorted ids of documents that were made from files, by absolute paths.

        The files need not exist any more.
        """
        files = Filter(schema.FILE_PATH, "in", [*paths])

        def found(backend: Backend) -> list[str]:
            if not files.value or FILE_FIELD not in backend.fields:
                return []
            (clause,) = conditions([files], backend.terms, backend.folders)
            documents = summaries(backend, first_of(clause.node), limit=limit)
            return [of.source_document for of in documents]

        return self._call(found)

    def complete_fields(self, purpose: Purpose) -> list[str]:
        """Return the names of the fields that can be used for a purpose."""

        def found(backend: Backend) -> list[str]:
            if purpose == "terms":
                return names_of(backend.fields)
            fields = metadata_fields(backend.fields)
            # A metadata key with the name of a field of every chunk cannot be named by itself.
            keys = [name for field in fields if (name := name_of(field)) != field]
            return [*_FIELDS_OF_CHUNKS[purpose], *keys]

        return self._call(found)

    def document_terms(self) -> list[str]:
        """Return the sorted terms of the document ids; see `shared.model.schema.keyword`."""
        return self._call(lambda backend: backend.document_terms())

    def chunk_ids(self, prefix: str, limit: int) -> Names:
        """Return the ids of chunks that begin with a prefix, at most `limit` of them."""
        chunks = beginning_with(schema.ID, prefix) if prefix else Everything()

        def found(backend: Backend) -> Names:
            stored = backend.stored(chunks, (schema.ID,), BY_ID, limit=limit)
            return Names(backend.count(chunks), [of.get(schema.ID) for of in stored])

        return self._call(found)

    def field_names(self) -> list[str]:
        """Return the public names of the fields that have terms."""
        return self._call(lambda backend: names_of(backend.fields))

    def digest_of_ids(self) -> str:
        """Return a text that changes if and only if a document is added or deleted."""
        terms = self.document_terms()
        return hashlib.sha256("\n".join(terms).encode()).hexdigest() if terms else ""

    def digests(self, documents: Iterable[str]) -> dict[str, str | None]:
        """Return a text for each document that changes if and only if what is shown of it does.

        None for those that do not exist.
        """
        return self._call(lambda backend: {of: _digest(backend, of) for of in documents})


def _digest(backend: Backend, source_document: str) -> str | None:
    chunks = chunks_of(spelled(backend, schema.SOURCE_DOCUMENT, source_document))
    digest = hashlib.sha256()
    shown = None
    for stored in backend.stored(chunks, _SHOWN, schema.CHUNK_INDEX):
        if shown is None:
            details = details_of(stored)
            shown = json.dumps([details.title, chunk_metadata(details.metadata)], sort_keys=True)
            digest.update(shown.encode())
        # UTF-8 text never contains this byte, so it separates the chunks unambiguously.
        digest.update(b"\xff" + (stored.get(schema.CONTENT) or "").encode())
    return None if shown is None else digest.hexdigest()
