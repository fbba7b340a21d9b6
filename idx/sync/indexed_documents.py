"""Documents of an index, and detection of conflicts between their ids and new files."""

import os
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Final

from shared.messages import decodable
from shared.model.folders import IndexedFolders
from shared.model.index_results import DocumentSummary
from shared.model.schema import keyword
from shared.reading.searcher import Searcher
from shared.system.shell import quoted

_IDS_READ_PER_LOOKUP: Final = 200
"""Number of document ids that can be read in the time of one lookup."""


class IndexedDocuments:
    """Documents of an index at one moment.

    Args:
        searcher: the index, open during the use of this object, with no other writer.

    Attributes:
        folders: the folders of the index.
        states: the states of the indexed files, by document id.
        members: the ids of the documents made of what is within a file, by the id of the file's.
    """

    members: defaultdict[str, set[str]]

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._asked = 0
        self.folders, states = searcher.files()
        self.states = {name: state for name, state in states.items() if state.container is None}
        self.members = defaultdict(set)
        for name, state in states.items():
            if state.container is not None:
                self.members[state.container].add(name)
        self._total_states = len(states)

    def has_prefix(self, prefix: str) -> bool:
        """Check whether the id of a document begins with a prefix."""
        return self._searcher.documents(prefix=prefix, limit=1).total_documents > 0

    def conflict(self, source_document: str, file: Path) -> str | None:
        """Return the reason that a file cannot have a document id.

        Args:
            source_document: the id.
            file: the file, absolute.

        Returns:
            The conflict with another file or with a document not made of a file, and the remedy;
            None if the id is free or the document was made of this file.
        """
        if source_document not in self.states and not self._may_have_no_file(source_document):
            return None
        document = self._document(source_document)
        if document is None or _is_same_file(document.file_path, file):
            return None
        other = document.file_path or "a document that was added by its id"
        # A name that begins with a dash would be parsed as an option.
        command = "idx delete --" if source_document.startswith("-") else "idx delete"
        return (
            f"has the same id as {other}, {source_document!r}; to index this file instead: "
            f"{command} {quoted(source_document)}"
        )

    def _may_have_no_file(self, source_document: str) -> bool:
        """Check whether a document not made of a file may have an id, which needs a lookup."""
        if self._total == self._total_states:
            return False
        self._asked += 1
        if self._asked * _IDS_READ_PER_LOOKUP < self._total:
            return True
        return keyword(source_document) in self._terms

    @cached_property
    def _total(self) -> int:
        return self._searcher.documents(limit=1).total_documents

    @cached_property
    def _terms(self) -> set[str]:
        return self._searcher.catalog.document_terms()

    def _document(self, source_document: str) -> DocumentSummary | None:
        # An exact match sorts first among the ids with this prefix.
        found = self._searcher.documents(prefix=source_document, limit=1).documents
        return found[0] if found and found[0].source_document == source_document else None


class NoDocuments(IndexedDocuments):
    """Empty set of documents, for an index that does not exist yet."""

    def __init__(self) -> None:
        self.folders, self.states, self.members = IndexedFolders(), {}, defaultdict(set)

    def has_prefix(self, prefix: str) -> bool:  # noqa: ARG002 - there is no document
        """Return False, because there are no documents."""
        return False

    def conflict(self, source_document: str, file: Path) -> None:
        """Return None, because every id is free."""


def _is_same_file(indexed: str | None, file: Path) -> bool:
    """Check whether a path stored in the index denotes a file, possibly through links."""
    return indexed is not None and (
        indexed == decodable(file.as_posix()) or os.path.realpath(indexed) == os.path.realpath(file)
    )
