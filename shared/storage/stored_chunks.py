"""Chunks as they are stored: queries for those of documents, their fields, and details as JSON."""

import json
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import Any, Final

from java.util import Arrays, HashSet
from org.apache.lucene.document import IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import BooleanClause, BooleanQuery, IndexSearcher

from shared.model import schema
from shared.model.document import Metadata, Place, chunk_of_id, chunk_title
from shared.model.folders import IndexedFolders
from shared.model.index_results import DocumentSummary
from shared.model.metadata import chunk_metadata
from shared.model.search_results import ChunkText, Citation

_CITATION_FIELDS: Final = frozenset(field.name for field in fields(Citation)) - {"file_path"}

_REQUIRED: Final = {"char_start", "char_end"}


class StoredDetailsError(ValueError):
    """The stored details of a chunk were not written by this project."""


@dataclass(slots=True)
class StoredDetails:
    """Stored values of a chunk that are not fields of their own."""

    title: str  # of the document, as chunk_count, words and metadata
    chunk_count: int  # from 1
    metadata: Metadata
    folder: str | None  # the prefix of the indexed folder of its file; None without one
    file_path: str | None  # of the file within the folder, or absolute; None without a file
    place: Place  # of the chunk in the file
    words: int | None = None  # None in older indexes


def details_of(stored: Any) -> StoredDetails:
    """Read the details of a chunk from its stored fields, a Lucene `Document`."""
    try:
        details = StoredDetails(**json.loads(stored.get(schema.DETAILS)))
    except (ValueError, TypeError, RecursionError) as error:
        raise StoredDetailsError("the details of a chunk are not readable") from error
    if not (
        isinstance(details.title, str)
        and isinstance(details.chunk_count, int)
        and isinstance(details.words, (int, NoneType))
        and isinstance(details.metadata, dict)
        and isinstance(details.folder, (str, NoneType))
        and isinstance(details.file_path, (str, NoneType))
        and isinstance(details.place, dict)
        and _REQUIRED <= details.place.keys() <= _CITATION_FIELDS
    ):
        raise StoredDetailsError("the details of a chunk have a wrong type")
    return details


@cache
def stored_fields(*names: str) -> Any:
    """Return a set of field names to load; with fewer fields Lucene decodes less."""
    return HashSet(Arrays.asList([*names]))


CHUNK_FIELDS = (
    schema.ID,
    schema.TITLE,
    schema.CONTENT,
    schema.SOURCE_DOCUMENT,
    schema.CHUNK_INDEX,
    schema.DETAILS,
)

SHOWN_FIELDS = (schema.ID, schema.DETAILS, schema.CONTENT)
"""Stored fields that `from_lucene` requires, the last one only for the content."""


def from_lucene(stored: Any, folders: IndexedFolders) -> ChunkText:
    """Return the chunk of a Lucene document with its stored `SHOWN_FIELDS`."""
    return ChunkText(**values_from_lucene(stored, folders)[0])


def values_from_lucene(stored: Any, folders: IndexedFolders) -> tuple[dict[str, Any], int]:
    """Return the fields of a `ChunkText`, and the number of chunks of its document.

    A hit has them, too, and to make both would take a tenth of the time of a search.
    """
    details = details_of(stored)
    id_ = stored.get(schema.ID) or ""
    try:
        # To read them from their own fields takes several times as long.
        source_document, index = chunk_of_id(id_)
    except ValueError as error:
        raise StoredDetailsError("the id of a chunk has no number") from error
    values = {
        "id": id_,
        "title": chunk_title(details.title, index, details.chunk_count),
        "content": stored.get(schema.CONTENT) or "",
        "source_document": source_document,
        "chunk_index": index,
        "metadata": chunk_metadata(details.metadata),
        "file_path": folders.file_path(details.folder, details.file_path),
        **details.place,
    }
    return values, details.chunk_count


SUMMARY_FIELDS = (schema.SOURCE_DOCUMENT, schema.DETAILS)
"""Stored fields that `summary_from_lucene` requires."""


def summary_from_lucene(stored: Any, folders: IndexedFolders) -> DocumentSummary:
    """Return the summary of the document that a chunk belongs to, from its `SUMMARY_FIELDS`."""
    details = details_of(stored)
    return DocumentSummary(
        source_document=stored.get(schema.SOURCE_DOCUMENT),
        title=details.title,
        chunk_count=details.chunk_count,
        max_chunk_index=details.chunk_count,
        file_path=folders.file_path(details.folder, details.file_path),
        metadata=details.metadata,
    )


def document_term(source_document: str) -> Any:
    """Return the term that all chunks of a document have in common, and no others."""
    return Term(schema.SOURCE_DOCUMENT, schema.keyword(source_document))


def first_chunks(*conditions: Any) -> Any:
    """Return a query for the first chunk, which represents it, of each document that meets some."""
    both = BooleanQuery.Builder()
    for query in (*conditions, IntPoint.newExactQuery(schema.CHUNK_INDEX, 1)):
        both.add(query, BooleanClause.Occur.FILTER)
    return both.build()


def counts(reader: Any) -> tuple[int, int]:
    """Return the numbers of documents and of chunks that a reader shows."""
    return int(IndexSearcher(reader).count(first_chunks())), int(reader.numDocs())
