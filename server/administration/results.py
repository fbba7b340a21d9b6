"""Results of the administration tools, as plain data."""

from dataclasses import dataclass
from typing import Literal

OperationName = Literal["crawl", "optimize", "purge", "rebuild", "unlock"]
"""The kinds of operations of `idx`."""

State = Literal["running", "pausing", "paused", "stopping", "stopped", "done", "failed"]
"""States of an operation; ``pausing`` and ``stopping`` last until `idx` has committed its work."""


@dataclass(frozen=True, kw_only=True)
class CrawlProgress:
    """Progress of a crawl in numbers of files, since its beginning, over all pauses."""

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
    """The status of an operation."""

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
    """Status of administration: operations, roots and index."""

    current: OperationStatus | None
    recent: list[OperationStatus]
    roots: list[str]
    index_path: str
    locked_by: str | None
    folders_from: str
    notice: str | None


@dataclass(frozen=True, kw_only=True)
class RememberedDirectory:
    """A folder that is crawled if none is named."""

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
