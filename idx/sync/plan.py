"""What makes an index equal to its folders: worked out before any text is read."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from idx.crawl.location import OUTSIDE, Location, opened, resolve_links
from idx.crawl.selection import Selections
from idx.errors import SourceFileError
from idx.sync.events import MissingFolder
from shared.files.access import Identity, lies_in
from shared.messages import decodable, reason_of
from shared.model.document import FileState
from shared.model.folders import IndexedFolders


@dataclass(frozen=True, slots=True)
class Change:
    """A file whose text is to be read.

    Attributes:
        source_document: the id of its document.
        location: the file.
        relative: its path within its folder, with slashes; the absolute one without a folder.
        folder: the prefix of its folder; None if it was named by itself.
        size: bytes.
        modified_ns: time of its last change, in nanoseconds since 1970.
        other_volume: whether it lies on another volume than its folder.
        is_new: whether no document was made of it before.
        is_named: whether the user named this very file, and is to be told if it is not read.
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

    @property
    def path(self) -> Path:
        """The file as the user knows it."""
        return self.location.path


def single_file(path: Path, roots: Collection[Identity] | None = None) -> Change:
    """A file that was named by itself, by way of links; its name is the id of its document.

    Args:
        path: the file.
        roots: identities of folders in which it must lie; None for no such limit.

    Raises:
        SourceFileError: it cannot be looked at, or lies in none of the roots.
    """
    absolute = path.absolute()
    try:
        target = resolve_links(absolute)
        if roots is not None:
            with opened(target.folder) as folder:
                if not lies_in(folder, roots):
                    raise SourceFileError(path, OUTSIDE)
    except FileNotFoundError as error:
        raise SourceFileError(path, "there is no such file") from error
    except OSError as error:
        raise SourceFileError(path, f"cannot be looked at: {reason_of(error)}") from error
    return Change(
        source_document=decodable(path.name),
        location=Location(absolute, target.folder, target.name),
        relative=str(absolute),
        folder=None,
        size=target.status.st_size,
        modified_ns=target.status.st_mtime_ns,
        other_volume=False,
        is_new=True,
        is_named=True,
    )


@dataclass(slots=True)
class Plan:
    """What is to be done.

    Attributes:
        folders: the folders of the index from now on.
        changes: files to read, new and changed ones.
        touched: what is known of those of the changes that have another time but the same size:
            unless their bytes are others, they are none.
        unchanged: new states of files that have another time, or lie on another volume, but have
            the same bytes.
        deletions: ids of documents whose files are gone or no longer wanted.
        skipped: how many files are as they were.
        failed_before: how many of them could not be read the last time.
        secrets: files and folders left out as secrets, not noted as such before, with the reasons.
        forgotten: ids of failures that no longer matter.
        errors: folders and files that cannot be looked at, and files whose id is taken.
        missing: folders of the index that are not there, besides those that the plan is about.
    """

    folders: IndexedFolders
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
class Planning:
    """How a plan is made.

    Attributes:
        selections: which files of the folders are wanted.
        reread: whether files are read again that are as they were, and none is deleted.
        retry: whether files that could not be read are tried again though they are as they were.
        prune_missing: whether documents are deleted without proof that their files are gone.
        avoid: a folder that is never looked at: the index.
        roots: identities of folders in which everything must lie; None for no such limit.
        own_files: identities of files that are never taken.
    """

    selections: Selections
    avoid: Path
    reread: bool = False
    retry: bool = False
    prune_missing: bool = False
    roots: frozenset[Identity] | None = None
    own_files: frozenset[Identity] = frozenset()
