"""Plans: the changes that bring an index up to date, computed before any text is read."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from idx.crawl.selection import Selections
from idx.errors import SourceFileError
from idx.extraction.pool import Limits
from idx.extraction.types import ExtractionOptions
from idx.sync.events import MissingFolder
from idx.sync.moved_folders import Move
from shared.files.access import Identity, lies_in, own_files
from shared.files.location import OUTSIDE_ROOTS, Location, opened, resolve_links
from shared.messages import decodable, reason_of
from shared.model.document import FileState, marked_path
from shared.model.folders import IndexedFolders
from shared.settings.current import configuration_file
from shared.settings.defaults import Layout


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
    moves: tuple[Move, ...] = ()
    roots: frozenset[Identity] | None = None
    keep_out: frozenset[Identity] = frozenset()

    @property
    def own_files(self) -> frozenset[Identity]:
        """Current identities of files never indexed; rewriting a file changes its identity."""
        return self.keep_out | own_files([configuration_file()])
