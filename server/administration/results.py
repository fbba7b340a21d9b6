"""What the tools of administration answer: plain data."""

from dataclasses import dataclass
from typing import Literal

OperationName = Literal["crawl", "optimize", "purge", "unlock"]
"""What `idx` is run for."""

State = Literal["running", "pausing", "paused", "stopping", "stopped", "done", "failed"]
"""``pausing`` and ``stopping`` last until `idx` has committed what it did."""


@dataclass(frozen=True, kw_only=True)
class CrawlProgress:
    """How far a crawl is, as numbers of files, from its beginning on however often it was paused.

    Attributes:
        planned: to add, update or delete, as far as it is known.
        remaining: how many of these are left.
        added: new in the index.
        updated: replaced in it.
        deleted: no longer in it.
        skipped: unchanged since an earlier crawl.
        failed: could not be read, with folders that could not be looked at.
        unsupported: of kinds that are not read.
        empty: without text.
        chunks: written.
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
    """An operation as it stands.

    Attributes:
        operation_id: names it.
        operation: what it does.
        state: where it is.
        started: when, in UTC.
        ended: when, in UTC; None as long as it may go on.
        seconds: how long `idx` has worked for it.
        directories: the folders of a crawl.
        progress: how far a crawl is; None for the others.
        current: the document that was the last to be done, while a crawl runs.
        problems: the last files that could not be read, or not whole, with the reasons.
        result: what `idx` answered in the end; None for a crawl.
        exit_code: that of `idx`, negative if a signal ended it; None as long as it runs.
        error: why it failed.
        notice: what to know of this answer, and what to do next.
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
    """What is under way, and what may be done.

    Attributes:
        current: the operation that is under way or paused.
        recent: those that ended before, the last first, without directories and problems.
        roots: folders may be crawled that lie under one of these.
        index_path: the index folder.
        locked_by: the process that writes to the index now; None if there is none.
        folders_from: where the folders come from that are crawled if none is named: a
            configuration file or a variable of the environment, which no tool can change.
        notice: what was cut of this answer.
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
        path: the folder.
        include: its own patterns of files to take.
        exclude: its own patterns of what to leave out.
        exists: whether it is there.
        allowed: whether it lies under the roots, so that it may be crawled.
    """

    path: str
    include: list[str]
    exclude: list[str]
    exists: bool
    allowed: bool


@dataclass(frozen=True, kw_only=True)
class DirectoryList:
    """The folders that are crawled if none is named, and where they come from."""

    directories: list[RememberedDirectory]
    folders_from: str
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class DirectoryAdded:
    """Whether a folder is new among the remembered ones, and what is next."""

    path: str
    added: bool
    notice: str


@dataclass(frozen=True, kw_only=True)
class DirectoryRemoved:
    """A folder that is no longer remembered, and what becomes of its documents."""

    path: str
    removed: bool
    notice: str
