"""The documents of an index, and the files that are not in it."""

from pathlib import Path
from typing import Any

from shared import schema
from shared.chunk_queries import first_chunks, with_prefix
from shared.document_order import sorted_documents
from shared.failures import load_failures
from shared.indexed_folder import IndexedFolders
from shared.list_options import DocumentSort
from shared.lucene_document import SUMMARY_FIELDS, stored_fields, summary_from_lucene
from shared.results import DocumentList, FailedFile, FailureList


def list_documents(
    searcher: Any,
    folders: IndexedFolders,
    prefix: str,
    offset: int,
    limit: int | None,
    sort: DocumentSort,
) -> DocumentList:
    """List documents; see `shared.searcher.Searcher.documents`."""
    chunks = with_prefix(schema.SOURCE_DOCUMENT, prefix)
    documents = first_chunks(chunks) if prefix else None
    numbers = sorted_documents(searcher, documents, sort, offset, limit)
    stored, fields = searcher.storedFields(), stored_fields(*SUMMARY_FIELDS)
    return DocumentList(
        total_documents=searcher.count(documents or first_chunks()),
        total_chunks=searcher.count(chunks),
        documents=[
            summary_from_lucene(stored.document(number, fields), folders) for number in numbers
        ],
    )


def list_failures(
    path: Path, folders: IndexedFolders, offset: int, limit: int | None
) -> FailureList:
    """Files in the order of their ids; see `shared.searcher.Searcher.failures`."""
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
