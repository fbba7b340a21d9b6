"""Results of the administration tools, as plain data."""

from dataclasses import dataclass
from typing import Literal

OperationName = Literal["crawl", "optimize", "purge", "rebuild", "unlock"]
"""The kinds of operations of `idx`."""

State = Literal["running", "pausing", "paused", "stopping", "stopped", "done", "failed"]
"""States of an operation; ``pausing`` and ``stopping`` last until `idx` has committed its work."""


@dataclass(frozen=True, kw_only=True)
class CrawlProgress:
    """Progress of a crawl in numbers of files, since its beginning, over all pauses.

    Attributes:
        planned: files to add, update or delete, as far as known.
        remaining: planned files that are left.
        added: files added to the index.
        updated: files replaced in the index.
        deleted: files deleted from the index.
        skipped: files unchanged since an earlier crawl.
        failed: files that could not be read, and folders that could not be examined.
        unsupported: files of unsupported formats.
        empty: files without text.
        chunks: chunks written.
    """

    planned: int
    remaining: int
    added: int
    updated: int
    deleted: int
    skipped: int
    failed: int
    unsupported: int
    empty: int
    chunks: int


@dataclass(frozen=True, kw_only=True)
class OperationStatus:
    """The status of an operation.

    Attributes:
        operation_id: the operation's id.
        operation: the kind of operation.
        state: the current state.
        started: start time in UTC.
        ended: end time in UTC; None until it has ended.
        seconds: run time of `idx`, in seconds.
        directories: the folders of a crawl.
        progress: progress of a crawl; None for other operations.
        current: the document processed last, while a crawl runs.
        problems: the last files that could not be read completely, with the reasons.
        result: the output of `idx`; None for a crawl.
        exit_code: exit code of `idx`, negative if a signal ended it; None while it runs.
        error: the reason of a failure.
        notice: a remark on this answer, and the next step.
    """

    operation_id: str
    operation: OperationName
    state: State
    started: str
    ended: str | None
    seconds: float
    directories: list[str]
    progress: CrawlProgress | None
    current: str | None
    problems: list[str]
    result: dict[str, int | float | bool] | None
    exit_code: int | None
    error: str | None
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class AdminStatus:
    """Status of administration: operations, roots and index.

    Attributes:
        current: the running or paused operation.
        recent: ended operations, the most recent first, without directories and problems.
        roots: the folders under which folders may be crawled.
        index_path: the index folder.
        locked_by: the process that writes to the index now; None without one.
        folders_from: source of the folders that are crawled if none is named: a configuration file,
            or an environment variable, which no tool can change.
        notice: a remark on what was left out.
    """

    current: OperationStatus | None
    recent: list[OperationStatus]
    roots: list[str]
    index_path: str
    locked_by: str | None
    folders_from: str
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class RememberedDirectory:
    """A folder that is crawled if none is named.

    Attributes:
        path: the folder's path.
        include: its own patterns of files to include.
        exclude: its own patterns of files to exclude.
        exists: whether the folder exists.
        allowed: whether it lies under the roots, so that it may be crawled.
    """

    path: str
    include: list[str]
    exclude: list[str]
    exists: bool
    allowed: bool


@dataclass(frozen=True, kw_only=True)
class DirectoryList:
    """The folders that are crawled if none is named, and their source."""

    directories: list[RememberedDirectory]
    folders_from: str
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class DirectoryAdded:
    """A remembered folder, with a flag for a new one and the next step."""

    path: str
    added: bool
    notice: str


@dataclass(frozen=True, kw_only=True)
class DirectoryRemoved:
    """A folder that is no longer remembered, with a notice about its documents."""

    path: str
    removed: bool
    notice: str
