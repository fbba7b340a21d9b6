"""Plans: the changes that bring an index up to date, computed before any text is read."""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from idx.crawl.patterns import Selections
from idx.errors import SourceFileError
from idx.extraction.pool import Limits
from idx.extraction.types import ExtractionOptions
from idx.sync.events import MissingFolder
from idx.sync.targets import Move
from shared.files.access import Identity, lies_in, own_files
from shared.files.location import OUTSIDE_ROOTS, Location, opened, resolve_links
from shared.messages import decodable, reason_of
from shared.model.document import FileState, marked_path
from shared.model.folders import IndexedFolders
from shared.model.index_results import DocumentSummary
from shared.model.schema import keyword
from shared.reading.searcher import Searcher
from shared.settings.current import configuration_file
from shared.settings.defaults import Layout
from shared.system.shell import quoted
from shared.writing.index import Index


@dataclass(frozen=True, slots=True)
class Change:
    """File to read.

    Attributes:
        source_document: the id of its document.
        location: the file.
        relative: its path within its folder, with slashes; absolute if it has no folder.
        folder: the prefix of its folder; None if the file was named individually.
        size: size in bytes.
        modified_ns: modification time, in nanoseconds since 1970.
        other_volume: whether it lies on another volume than its folder.
        is_new: whether the index has no document of it.
        is_named: whether the user named this file itself, so that its omission is reported.
        container: the id of the file's own document, if this is something within the file.
    """

    source_document: str
    location: Location
    relative: str
    folder: str | None
    size: int
    modified_ns: int
    other_volume: bool
    is_new: bool
    is_named: bool = False
    container: str | None = None

    @property
    def path(self) -> Path:
        """Path of the file as known to the user."""
        return self.location.path


def single_file(path: Path, roots: Collection[Identity] | None = None) -> Change:
    """Return the change for a file named individually; links are followed, its name is its id.

    Args:
        path: the file.
        roots: identities of the folders that it must lie in; None for no such limit.

    Raises:
        SourceFileError: it cannot be examined or lies outside all roots.
    """
    absolute = path.absolute()
    try:
        target = resolve_links(absolute)
        if roots is not None:
            with opened(target.folder) as folder:
                if not lies_in(folder, roots):
                    raise SourceFileError(path, OUTSIDE_ROOTS)
    except FileNotFoundError as error:
        raise SourceFileError(path, "there is no such file") from error
    except OSError as error:
        raise SourceFileError(path, f"cannot be examined: {reason_of(error)}") from error
    return Change(
        source_document=marked_path(decodable(path.name)),
        location=Location(absolute, target.folder, target.name),
        relative=absolute.as_posix(),
        folder=None,
        size=target.status.st_size,
        modified_ns=target.status.st_mtime_ns,
        other_volume=False,
        is_new=True,
        is_named=True,
    )


@dataclass(slots=True)
class Plan:
    """Plan of a sync.

    Attributes:
        folders: the folders of the index after the sync.
        members: ids of the documents made of what is within a file, by the id of the file's.
        files: ids of all documents made of files, before the sync.
        changes: files to read, new and changed.
        touched: known states of the changes with another time but the same size; files among them
            whose content is unchanged are removed from the changes later.
        unchanged: new states of files that have another time or lie on another volume, but have the
            same content.
        deletions: ids of documents whose files are gone or no longer selected.
        skipped: number of unchanged files.
        failed_before: number of unchanged files that could not be read last time.
        secrets: files and folders newly skipped as secrets, with the reasons.
        forgotten: ids of failures that no longer matter.
        errors: folders and files that cannot be examined, and files whose id is taken.
        missing: missing folders of the index that the plan does not cover.
    """

    folders: IndexedFolders
    members: Mapping[str, set[str]] = field(default_factory=dict)
    files: Collection[str] = ()
    changes: list[Change] = field(default_factory=list)
    touched: dict[str, FileState] = field(default_factory=dict)
    unchanged: dict[str, FileState] = field(default_factory=dict)
    deletions: list[str] = field(default_factory=list)
    skipped: int = 0
    failed_before: int = 0
    secrets: list[tuple[Change, str]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    errors: list[SourceFileError] = field(default_factory=list)
    missing: list[MissingFolder] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """Options of a sync.

    Attributes:
        index_path: the index folder.
        selections: the selection of files in the folders.
        extraction: the options of text extraction.
        limits: the limits on reading one file.
        layout: the white space in the chunks of files.
        workers: number of worker processes.
        wait: timeout for the lock of another writer, in seconds.
        reread: whether unchanged files are read again and nothing is deleted.
        retry: whether unchanged files that could not be read are tried again.
        prune_missing: whether documents are deleted without proof that their files are gone.
        strict: whether the first failure ends the run.
        create: whether a missing index is created.
        on_created: called with an index that was created, before its first commit.
        moves: moves of folders of the index.
        roots: identities of the folders that everything must lie in; None for no such limit.
        keep_out: identities of files of the server that started this run.
    """

    index_path: Path
    selections: Selections
    extraction: ExtractionOptions
    limits: Limits
    workers: int
    wait: float
    layout: Layout = "keep"
    reread: bool = False
    retry: bool = False
    prune_missing: bool = False
    strict: bool = False
    create: bool = False
    on_created: Callable[[Index], None] | None = None
    moves: tuple[Move, ...] = ()
    roots: frozenset[Identity] | None = None
    keep_out: frozenset[Identity] = frozenset()

    @property
    def own_files(self) -> frozenset[Identity]:
        """Current identities of files never indexed; rewriting a file changes its identity."""
        return self.keep_out | own_files([configuration_file()])


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
        return {*self._searcher.catalog.document_terms()}

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
