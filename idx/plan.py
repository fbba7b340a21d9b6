"""What makes an index equal to its folders: worked out before any text is read."""

from dataclasses import dataclass, field
from pathlib import Path

from idx.change import Change
from idx.events import MissingFolder
from idx.selections import Selections
from shared.errors import SourceFileError
from shared.files.access import Identity
from shared.model.document import FileState
from shared.model.folders import IndexedFolders


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
