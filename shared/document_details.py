"""What is known of one document as a whole."""

from typing import Any, Final

from org.apache.lucene.index import Term
from org.apache.lucene.search import TermQuery

from shared import metadata, schema
from shared.chunker import word_count
from shared.index_results import DocumentDetails
from shared.indexed_folder import IndexedFolders
from shared.lucene_document import SUMMARY_FIELDS, stored_fields, summary_from_lucene
from shared.navigation import document_chunks

_PREVIEW: Final = 300
"""Characters of the text's beginning."""


def document_details(
    searcher: Any, folders: IndexedFolders, source_document: str
) -> DocumentDetails:
    """What is known of a document.

    Raises:
        DocumentNotFoundError: there is no such document.
    """
    answer = document_chunks(searcher, folders, source_document, 1, 1)
    total, (first,) = answer.total_chunks, answer.chunks
    (last,) = document_chunks(searcher, folders, source_document, total, 1).chunks
    found = searcher.search(TermQuery(Term(schema.ID, schema.keyword(first.id))), 1).scoreDocs
    stored = searcher.storedFields().document(found[0].doc, stored_fields(*SUMMARY_FIELDS))
    summary = summary_from_lucene(stored, folders)
    language = summary.metadata.get(metadata.LANGUAGE)
    return DocumentDetails(
        source_document=source_document,
        title=summary.title,
        chunk_count=total,
        language=language if isinstance(language, str) else None,
        words=word_count(total, last.content),
        characters=last.char_end,
        preview=_beginning(first.content.strip()),
        metadata=summary.metadata,
        file_path=summary.file_path,
    )


def _beginning(text: str) -> str:
    """The first words of a text."""
    if len(text) <= _PREVIEW:
        return text
    words = text[: _PREVIEW + 1].rsplit(None, 1)
    return f"{words[0][:_PREVIEW]}…"
