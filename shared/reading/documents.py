"""Lists of the documents of an index and of the files that are missing from it."""

import json
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from org.apache.lucene.index import Term
from org.apache.lucene.search import IndexSearcher, TermQuery

from shared.model import metadata, schema
from shared.model.chunks import STEP
from shared.model.document import FileState
from shared.model.failures import load_failures
from shared.model.folders import IndexedFolders
from shared.model.index_results import (
    DocumentDetails,
    DocumentFile,
    DocumentList,
    FailedFile,
    FailureList,
)
from shared.model.metadata import MODIFIED
from shared.model.request import BY_ID, DocumentSort
from shared.model.search_results import ChunkText
from shared.reading.chunks import document_chunks
from shared.search.facets import document_order, order_by_text
from shared.storage.chunk_queries import first_chunks, prefix_query
from shared.storage.commits import Snapshot, cached_per_commit
from shared.storage.field_names import all_fields
from shared.storage.mapping import file_state
from shared.storage.stored_chunks import (
    SUMMARY_FIELDS,
    details_of,
    stored_fields,
    summary_from_lucene,
)

_MAX_TITLE_KEY_CHARACTERS: Final = 100
"""Number of characters of a title that are compared when sorting, to limit memory."""

_BY_TITLE: Final = "title"

_BY_CHUNKS: Final = "chunks"


def sorted_documents(
    searcher: Any, query: Any, sort: DocumentSort, offset: int, limit: int | None
) -> list[int]:
    """Return Lucene's numbers of a page of documents; ties are ordered by id.

    Args:
        searcher: a Lucene searcher.
        query: a query for the first chunk of each document; None for all documents.
        sort: the sort order. Documents without a modification time come last.
        offset: the number of documents to skip, from 0.
        limit: the maximum number of documents; None for all that follow.
    """
    end = None if limit is None else offset + limit
    name, is_descending = sort.removeprefix("-"), sort.startswith("-")
    if name in {_BY_TITLE, _BY_CHUNKS}:
        stored = _stored_values(searcher.getIndexReader())
        numbers = stored.numbers if query is None else _lucene_numbers(searcher, query)
        values = stored.titles if name == _BY_TITLE else stored.chunks
        # Python's sort is stable, also in reverse.
        return sorted(numbers, key=values.__getitem__, reverse=is_descending)[offset:end]
    return _lucene_numbers(searcher, query or first_chunks(), sort, offset, end)


def _lucene_numbers(
    searcher: Any, query: Any, sort: DocumentSort = BY_ID, offset: int = 0, end: int | None = None
) -> list[int]:
    total = searcher.count(query)
    wanted = total if end is None else min(total, end)
    if wanted <= offset:
        return []
    found = searcher.search(query, wanted, _lucene_sort(sort, searcher.getIndexReader())).scoreDocs
    return [found[place].doc for place in range(offset, len(found))]


def _lucene_sort(sort: DocumentSort, reader: Any) -> Any:
    is_descending = sort.startswith("-")
    if sort.removeprefix("-") == BY_ID:
        return document_order(is_descending=is_descending)
    field = schema.metadata_field(MODIFIED)
    if field not in all_fields(reader):
        return document_order()
    return order_by_text(field, is_descending=is_descending)


@dataclass(frozen=True)
class _StoredValues:
    """Stored values for sort orders that Lucene has no doc values for.

    Attributes:
        numbers: Lucene's numbers of the first chunks, in the order of the documents' ids.
        titles: the rank of the title, by these numbers.
        chunks: the number of chunks of the document, by these numbers.
    """

    numbers: Sequence[int]
    titles: Sequence[int]
    chunks: Sequence[int]


@cached_per_commit
def _stored_values(reader: Any) -> _StoredValues:
    """Read the titles and the numbers of chunks of all documents, 3 s for 100,000 of them."""
    numbers = array("i", _lucene_numbers(IndexSearcher(reader), first_chunks()))
    titles, chunks = (array("i", bytes(4 * reader.maxDoc())) for _ in range(2))
    keys = []
    stored, fields = reader.storedFields(), stored_fields(schema.DETAILS)
    # In index order: neighbours are stored and compressed together.
    for number in sorted(numbers):
        details = json.loads(stored.document(number, fields).get(schema.DETAILS))
        chunks[number] = details["chunk_count"]
        keys.append((title_key(details["title"]), number))
    keys.sort()
    for rank, (_, equal) in enumerate(groupby(keys, key=itemgetter(0))):
        for _, number in equal:
            titles[number] = rank
    return _StoredValues(numbers, titles, chunks)


def title_key(title: str) -> str:
    """Return a title without case and accents, which are ignored when sorting."""
    plain = unicodedata.normalize("NFKD", title[:_MAX_TITLE_KEY_CHARACTERS])
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).casefold()


def list_documents(
    snapshot: Snapshot,
    prefix: str,
    offset: int,
    limit: int | None,
    sort: DocumentSort,
) -> DocumentList:
    """List documents; see `shared.reading.searcher.Searcher.documents`."""
    chunks = prefix_query(schema.SOURCE_DOCUMENT, prefix)
    documents = first_chunks(chunks) if prefix else None
    searcher = snapshot.searcher
    numbers = sorted_documents(searcher, documents, sort, offset, limit)
    stored, fields = searcher.storedFields(), stored_fields(*SUMMARY_FIELDS)
    return DocumentList(
        total_documents=searcher.count(documents or first_chunks()),
        total_chunks=searcher.count(chunks),
        documents=[
            summary_from_lucene(stored.document(number, fields), snapshot.folders)
            for number in numbers
        ],
    )


def list_failures(
    path: Path, folders: IndexedFolders, offset: int, limit: int | None
) -> FailureList:
    """List failures in the order of their ids; see `shared.reading.searcher.Searcher.failures`."""
    failures = sorted(load_failures(path).items())
    shown = failures[offset:] if limit is None else failures[offset : offset + limit]
    return FailureList(
        len(failures),
        [
            FailedFile(
                source_document=name,
                file_path=folders.file_path(failure.folder, failure.path) or failure.path,
                kind=failure.kind,
                reason=failure.reason,
                tried=failure.tried,
            )
            for name, failure in shown
        ],
    )


_MAX_PREVIEW_CHARACTERS: Final = 300
"""Maximum length of a preview, in characters."""


def document_details(snapshot: Snapshot, source_document: str) -> DocumentDetails:
    """Return the details of a document.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    answer = document_chunks(snapshot, source_document, 1, 1)
    total, (first,) = answer.total_chunks, answer.chunks
    (last,) = document_chunks(snapshot, source_document, total, 1).chunks
    stored = _stored(snapshot, _number(snapshot, first))
    return described(first, last, total, stored, snapshot.folders)


def described(
    first: ChunkText, last: ChunkText, total: int, stored: Any, folders: IndexedFolders
) -> DocumentDetails:
    """Return the details of a document.

    Args:
        first: its first chunk.
        last: its last chunk.
        total: the number of its chunks.
        stored: the stored `SUMMARY_FIELDS` of its first chunk.
        folders: the indexed folders.
    """
    summary = summary_from_lucene(stored, folders)
    language = summary.metadata.get(metadata.LANGUAGE)
    return DocumentDetails(
        source_document=first.source_document,
        title=summary.title,
        chunk_count=total,
        language=language if isinstance(language, str) else None,
        words=word_count(stored, total, last.content),
        characters=last.char_end,
        preview=preview(first.content.strip()),
        metadata=summary.metadata,
        file_path=summary.file_path,
    )


def document_file(snapshot: Snapshot, source_document: str) -> DocumentFile | None:
    """Return the file of a document; None if it was not made from a file of the indexed folders.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    (first,) = document_chunks(snapshot, source_document, 1, 1).chunks
    number = _number(snapshot, first)
    stored, state = _stored(snapshot, number), file_state(snapshot.reader, number)
    return file_of(first, stored, state, snapshot.folders)


def file_of(
    first: ChunkText, stored: Any, state: FileState | None, folders: IndexedFolders
) -> DocumentFile | None:
    """Return the file of a document; None if it was not made from a file of the indexed folders.

    Args:
        first: the first chunk of the document.
        stored: the stored `SUMMARY_FIELDS` of this chunk.
        state: the state that the file had; None if it is not known.
        folders: the indexed folders.
    """
    details = details_of(stored)
    folder = None if details.folder is None else folders.path_of(details.folder)
    media_type, content_hash, left_out = (
        details.metadata.get(key)
        for key in (metadata.FILE_TYPE, metadata.CONTENT_HASH, metadata.LEFT_OUT)
    )
    if (
        first.file_path is None
        or details.file_path is None
        or (details.folder is not None and folder is None)
        or not isinstance(media_type, str)
        or not isinstance(content_hash, str)
    ):
        return None
    return DocumentFile(
        source_document=first.source_document,
        title=details.title,
        file_path=first.file_path,
        folder=folder,
        path=details.file_path,
        media_type=media_type,
        content_hash=content_hash,
        size=state.size if state else None,
        modified_ns=state.modified_ns or None if state else None,
        container=state.container if state else None,
        file_hash=state.content_hash if state else None,
        left_out=left_out if isinstance(left_out, int) else None,
    )


def _stored(snapshot: Snapshot, number: int) -> Any:
    """Return the stored `SUMMARY_FIELDS` of a chunk by Lucene's number."""
    return snapshot.searcher.storedFields().document(number, stored_fields(*SUMMARY_FIELDS))


def _number(snapshot: Snapshot, chunk: ChunkText) -> int:
    """Return Lucene's number of a chunk."""
    query = TermQuery(Term(schema.ID, schema.keyword(chunk.id)))
    number: int = snapshot.searcher.search(query, 1).scoreDocs[0].doc
    return number


def word_count(stored: Any, chunk_count: int, last_content: str) -> int:
    """Return the number of words of a document.

    Args:
        stored: the stored fields of one of its chunks.
        chunk_count: the number of its chunks.
        last_content: the content of the last one.
    """
    words = details_of(stored).words
    # Older indexes have only chunks of a fixed number of words.
    return STEP * (chunk_count - 1) + len(last_content.split()) if words is None else words


def preview(text: str) -> str:
    """Return the first words of a text."""
    if len(text) <= _MAX_PREVIEW_CHARACTERS:
        return text
    words = text[: _MAX_PREVIEW_CHARACTERS + 1].rsplit(None, 1)
    return f"{words[0][:_MAX_PREVIEW_CHARACTERS]}…"
