"""The documents of an index, and the files that are not in it."""

from pathlib import Path
from typing import Any

from org.apache.lucene.search import Sort, SortField

from shared import schema
from shared.chunk_queries import first_chunks, with_prefix
from shared.failures import load_failures
from shared.indexed_folder import IndexedFolders
from shared.lucene_document import SUMMARY_FIELDS, stored_fields, summary_from_lucene
from shared.results import DocumentList, FailedFile, FailureList


def list_documents(
    searcher: Any, folders: IndexedFolders, prefix: str, offset: int, limit: int | None
) -> DocumentList:
    """Documents in the order of their ids; see `shared.searcher.Searcher.documents`."""
    chunks = with_prefix(schema.SOURCE_DOCUMENT, prefix)
    documents = first_chunks(chunks)
    total = searcher.count(documents)
    wanted = total if limit is None else min(total, offset + limit)
    summaries = []
    if wanted > offset:
        order = Sort([SortField(schema.SOURCE_DOCUMENT, SortField.Type.STRING)])
        found = list(searcher.search(documents, wanted, order).scoreDocs)
        stored = searcher.storedFields()
        fields = stored_fields(*SUMMARY_FIELDS)
        summaries = [
            summary_from_lucene(stored.document(hit.doc, fields), folders) for hit in found[offset:]
        ]
    return DocumentList(total, searcher.count(chunks), summaries)


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
