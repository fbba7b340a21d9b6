"""Plans, the changes that bring an index up to date, and the documents made of their files."""

import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from idx.crawl.patterns import Selections
from idx.errors import SourceFileError
from idx.extraction.media_types import MARKDOWN
from idx.extraction.pool import Limits
from idx.extraction.types import Extracted, ExtractionOptions, ReadFile
from idx.sync.events import MissingFolder
from idx.sync.targets import Move
from idx.text.properties import without_default_title
from shared.files.access import Identity, lies_in, own_files
from shared.files.location import OUTSIDE_ROOTS, Location, opened, resolve_links
from shared.messages import decodable, reason_of, utc_time
from shared.model import metadata
from shared.model.document import (
    MAX_TITLE,
    MEMBER_MARK,
    Document,
    FileState,
    Metadata,
    SourceFile,
    marked_path,
    unmarked_path,
)
from shared.model.folders import IndexedFolders
from shared.model.index_results import DocumentSummary
from shared.model.schema import CONTAINER, keyword
from shared.reading.searcher import Searcher
from shared.settings.current import configuration_file
from shared.settings.defaults import Layout
from shared.system.shell import quoted
from shared.writing.index import Index


@dataclass(frozen=True, slots=True)
class Change:
    """File to read.

    A file named individually has no folder, and its absolute path is `relative`. `container` is the
    id of the file's own document, if this is something within the file.
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
        return self.location.path


def single_file(path: Path, roots: Collection[Identity] | None = None) -> Change:
    """Return the change for a file named individually; links are followed, its name is its id."""
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

    `touched` are changes with another time but the same size, with their known states; those whose
    content is unchanged are removed from the changes later. `unchanged` have new states but the
    same content. `members` are the ids of documents of what is within a file, by the id of the
    file's own.
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

    `reread` reads unchanged files again and deletes nothing; `prune_missing` deletes without proof
    that the files are gone. `on_created` is called with a new index before its first commit.
    Everything must lie in the `roots`; `keep_out` are files of the server that started this run.
    """

    index_path: Path
    selections: Selections
    extraction: ExtractionOptions
    limits: Limits
    workers: int
    wait: float  # seconds for the lock of another writer
    layout: Layout = "keep"
    reread: bool = False
    retry: bool = False
    prune_missing: bool = False
    strict: bool = False
    create: bool = False
    on_created: Callable[[Index], None] | None = None
    move: Move | None = None
    roots: frozenset[Identity] | None = None
    keep_out: frozenset[Identity] = frozenset()

    @property
    def own_files(self) -> frozenset[Identity]:
        """Current identities of files never indexed; rewriting a file changes its identity."""
        return self.keep_out | own_files([configuration_file()])


class IndexedDocuments:
    """Documents of an index at one moment, which nobody else writes to meanwhile.

    There are none in an index that does not exist yet, and has no searcher.
    """

    def __init__(self, searcher: Searcher | None) -> None:
        self._searcher = searcher
        self.folders, states = searcher.files() if searcher else (IndexedFolders(), {})
        self.states = {name: state for name, state in states.items() if state.container is None}
        self.members: defaultdict[str, set[str]] = defaultdict(set)
        for name, state in states.items():
            if state.container is not None:
                self.members[state.container].add(name)
        self._total_states = len(states)

    def has_prefix(self, prefix: str) -> bool:
        found = self._searcher and self._searcher.documents(prefix=prefix, limit=1)
        return bool(found and found.total_documents)

    def conflict(self, source_document: str, file: Path) -> str | None:
        """Return the reason that a file cannot have a document id, and what helps; None if it can.

        The id may be of another file, or of a document not made of a file.
        """
        if source_document not in self.states and keyword(source_document) not in self._terms:
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

    @cached_property
    def _terms(self) -> set[str]:
        """Return the ids of all documents as terms; of none if all are made of files."""
        searcher = self._searcher
        if not searcher or searcher.documents(limit=1).total_documents <= self._total_states:
            return set()
        return {*searcher.catalog.document_terms()}

    def _document(self, source_document: str) -> DocumentSummary | None:
        # An exact match sorts first among the ids with this prefix.
        found = self._searcher and self._searcher.documents(prefix=source_document, limit=1)
        first = found and next(iter(found.documents), None)
        return first if first and first.source_document == source_document else None


def _is_same_file(indexed: str | None, file: Path) -> bool:
    """Check whether a path stored in the index denotes a file, possibly through links."""
    return indexed is not None and (
        indexed == decodable(file.as_posix()) or os.path.realpath(indexed) == os.path.realpath(file)
    )


_UNKNOWN: Final = ""  # hash of a file that no file has

_LANGUAGE_CODE: Final = re.compile("[a-z]{2}")


def file_document(
    change: Change,
    read: ReadFile,
    layout: Layout,
    member: ReadFile | None = None,
    *,
    is_whole: bool = True,
) -> Document:
    """Return the document of a file, or of something within it, such as an attachment.

    The state of one of which more will be read is that of no file, so that a sync reads the file
    again if this one is interrupted.
    """
    own, name = read, decodable(change.path.name)
    if member is not None:
        own, name = member, decodable(change.source_document.rpartition(MEMBER_MARK)[2])
        name = unmarked_path(name)
    extracted = own.extracted
    has_time = member is None or member.modified_ns
    known = {
        metadata.MODIFIED: _iso(own.modified_ns / 1e9) if has_time else "",
        **extracted.metadata,
        metadata.LANGUAGE: own.language or _declared_language(extracted.metadata),
        metadata.FILE_TYPE: extracted.media_type,
        metadata.FILE_NAME: name.rpartition("/")[2],
        metadata.FILE_EXTENSION: Path(name).suffix.lower().removeprefix("."),
        metadata.FILE_SIZE: own.size,
        metadata.FILE_MODIFIED: _iso(min(read.modified_ns / 1e9, time.time())),
        metadata.CONTENT_HASH: own.content_hash,
        metadata.LEFT_OUT: "" if read.left_out is None else read.left_out,
        metadata.INDEXED: _iso(datetime.now(UTC).timestamp()),
        CONTAINER: change.container or "",
    }
    return Document(
        id=change.source_document,
        title=_title(extracted, name),
        content=extracted.text,
        metadata={key: value for key, value in known.items() if value != ""},
        pages=extracted.pages,
        headings=extracted.headings,
        has_lines=extracted.is_own_text,
        file=SourceFile(
            path=change.relative,
            state=FileState(
                folder=change.folder,
                size=read.size,
                modified_ns=read.modified_ns if read.is_settled and is_whole else 0,
                content_hash=read.content_hash if is_whole else _UNKNOWN,
                other_volume=change.other_volume,
                container=change.container,
            ),
        ),
        layout=layout,
    )


def _title(extracted: Extracted, name: str) -> str:
    """Return the title of a file, else its name, for Markdown without the extension."""
    known = Path(name).stem.strip() if extracted.media_type == MARKDOWN else ""
    return (without_default_title(extracted.title) or known or name)[:MAX_TITLE]


def _iso(seconds: float) -> str:
    try:
        return utc_time(seconds)
    except (OverflowError, ValueError):
        return ""


def _declared_language(known: Metadata) -> str:
    """Return the language declared by a file, used if its text is too short to detect one."""
    declared = known.get(metadata.LANGUAGE)
    return declared if isinstance(declared, str) and _LANGUAGE_CODE.fullmatch(declared) else ""
