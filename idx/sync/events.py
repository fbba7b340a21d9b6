"""What happens while folders are indexed: for a person to watch, or a program to read.

With ``--json`` each event is one line: its fields, and ``event`` with the name of its class in
lower case.
"""

from dataclasses import dataclass
from typing import Literal

from shared.model.failures import Kind


@dataclass(frozen=True, slots=True)
class Created:
    """There was no index, and an empty one was created."""

    index_path: str


@dataclass(frozen=True, slots=True)
class Planned:
    """What is going to be done, as numbers of files.

    Attributes:
        add: new ones.
        update: changed ones.
        delete: documents whose files are gone or no longer wanted.
        skip: unchanged ones.
        failed_before: unchanged ones that could not be read before and are not tried again.
        bytes: of all files to read.
    """

    add: int
    update: int
    delete: int
    skip: int
    failed_before: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """A file is in the index.

    Attributes:
        action: whether it was added or updated.
        source_document: the id of its document.
        file_path: the file.
        chunks: how many it has.
        bytes: the size of the file.
        warnings: what of it is not in the index.
    """

    action: Literal["added", "updated"]
    source_document: str
    file_path: str
    chunks: int
    bytes: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """A document is no longer in the index."""

    source_document: str


@dataclass(frozen=True, slots=True)
class NotIndexed:
    """A file is not in the index; a version that was there before still is.

    But that of a file that is empty now, or seems to hold a secret, is not: a `Deleted` follows if
    there was one.

    Attributes:
        source_document: the id that its document would have.
        file_path: the file.
        kind: what sort of reason there is.
        reason: in words.
        bytes: the size of the file.
        is_named: whether the user named this very file.
    """

    source_document: str
    file_path: str
    kind: Kind
    reason: str
    bytes: int
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder is left out as a secret before it is read, and was not noted as such before.

    Attributes:
        source_document: the id that its document would have.
        file_path: the file or folder.
        reason: in words.
    """

    source_document: str
    file_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that cannot be looked at, or a file whose id another document has."""

    message: str


@dataclass(frozen=True, slots=True)
class MissingFolder:
    """A folder of the index is not there, and the run is not about it.

    Attributes:
        path: where it was.
        documents: how many were made of files in it; they stay.
        message: this in words, and what to do.
    """

    path: str
    documents: int
    message: str


@dataclass(frozen=True, slots=True)
class Committed:
    """Everything up to here is durable, and every search sees it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end, in numbers of files.

    Attributes:
        added: new in the index.
        updated: replaced in it.
        deleted: no longer in it, with those that are empty now or seem to hold secrets.
        skipped: unchanged, or unreadable before and unchanged since.
        failed: could not be read, with folders that could not be looked at.
        unsupported: of unsupported kinds.
        empty: without text.
        secrets: secrets, or files that seem to hold one, that were not noted before.
        chunks: written.
        seconds: taken in all.
    """

    added: int = 0
    updated: int = 0
    deleted: int = 0
    skipped: int = 0
    failed: int = 0
    unsupported: int = 0
    empty: int = 0
    secrets: int = 0
    chunks: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Watching:
    """The first synchronization is done; from now on changes are followed.

    Attributes:
        folders: how many.
    """

    folders: int


Event = (
    Created
    | Planned
    | Indexed
    | Deleted
    | NotIndexed
    | LeftOut
    | Problem
    | MissingFolder
    | Committed
    | Finished
    | Watching
)
