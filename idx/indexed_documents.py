"""The documents that an index has, whose ids no file of another origin may take."""

import os
import shlex
from functools import cached_property
from pathlib import Path

from shared.file_names import decodable
from shared.results import DocumentSummary
from shared.searcher import Searcher


class IndexedDocuments:
    """The documents of an index at one moment.

    Args:
        searcher: the index, open while this is asked, with nobody else writing.

    Attributes:
        folders: the folders of the index.
        states: the files that documents were made of, by id.
    """

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self.folders, self.states = searcher.files()

    def has_prefix(self, prefix: str) -> bool:
        """Whether the id of a document begins so."""
        return self._searcher.documents(prefix=prefix, limit=1).total_documents > 0

    def conflict(self, source_document: str, file: Path) -> str | None:
        """Why a file cannot be the document with an id.

        Args:
            source_document: the id.
            file: the file, absolute.

        Returns:
            That another file, or none, is the document, and what to do; None where the id is free,
            or the document was made of this file.
        """
        if source_document not in self.states and source_document not in self._ids_without_file:
            return None
        document = self._document(source_document)
        if document is None or _is_same(document.file_path, file):
            return None
        other = document.file_path or "a document that was added by its id"
        # A name that begins with a dash would be read as an option.
        command = "idx delete --" if source_document.startswith("-") else "idx delete"
        return (
            f"has the same id as {other}, {source_document!r}; to have this file instead: "
            f"{command} {shlex.quote(source_document)}"
        )

    @cached_property
    def _ids_without_file(self) -> set[str]:
        # To ask the index for the id of each new file would take longer than to plan.
        return self._searcher.catalog.ids_without_file()

    def _document(self, source_document: str) -> DocumentSummary | None:
        # Of the ids that begin so it is the first.
        found = self._searcher.documents(prefix=source_document, limit=1).documents
        return found[0] if found and found[0].source_document == source_document else None


def _is_same(indexed: str | None, file: Path) -> bool:
    """Whether a path as an index shows it is that of a file, perhaps by way of links."""
    return indexed is not None and (
        indexed == decodable(str(file)) or os.path.realpath(indexed) == os.path.realpath(file)
    )
