"""Results of the administration tools, as plain data."""

from dataclasses import dataclass
from typing import Literal

OperationName = Literal["crawl", "optimize", "purge", "rebuild", "unlock"]

State = Literal["running", "pausing", "paused", "stopping", "stopped", "done", "failed"]
"""States of an operation; ``pausing`` and ``stopping`` last until `idx` has committed its work."""


@dataclass(frozen=True, kw_only=True)
class CrawlProgress:
    """Progress of a crawl in numbers of files, since its beginning, over all pauses."""

    planned: int  # files to add, update or delete, as far as known
    remaining: int
    added: int
    updated: int
    deleted: int
    skipped: int  # unchanged since an earlier crawl
    failed: int  # also folders that could not be examined
    unsupported: int
    empty: int
    chunks: int


@dataclass(frozen=True, kw_only=True)
class OperationStatus:
    """The status of an operation."""

    operation_id: str
    operation: OperationName
    state: State
    started: str
    ended: str | None
    seconds: float  # run time of `idx`, without pauses
    directories: list[str]
    progress: CrawlProgress | None
    current: str | None  # the document processed last, while a crawl runs
    problems: list[str]  # the last ones
    result: dict[str, int | float | bool] | None  # the output of `idx`; None for a crawl
    exit_code: int | None  # negative if a signal ended it
    error: str | None
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class AdminStatus:
    current: OperationStatus | None
    recent: list[OperationStatus]  # the most recent first, without directories and problems
    roots: list[str]
    index_path: str
    locked_by: str | None
    folders_from: str  # a configuration file, or a variable, which no tool can change
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class RememberedDirectory:
    """A folder that is crawled if none is named."""

    path: str
    include: list[str]
    exclude: list[str]
    exists: bool
    allowed: bool  # it lies under the roots


@dataclass(frozen=True, kw_only=True)
class DirectoryList:
    directories: list[RememberedDirectory]
    folders_from: str
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class DirectoryAdded:
    path: str
    added: bool  # it was not remembered before
    notice: str


@dataclass(frozen=True, kw_only=True)
class DirectoryRemoved:
    path: str
    removed: bool
    notice: str  # on its documents
