"""Events of a run, what an interruption of it has kept, and protection of short blocks from one."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal

from shared.messages import quantity
from shared.model.failures import Kind
from shared.system import TERMINATIONS


@dataclass(frozen=True, slots=True)
class Created:
    """Creation of an empty index where there was none."""

    index_path: str


@dataclass(frozen=True, slots=True)
class Planned:
    """Summary of the plan, in numbers of files.

    `failed_before` are not retried, since they are unchanged.
    """

    add: int
    update: int
    delete: int
    skip: int
    failed_before: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """Addition or update of a file's document.

    `container` is the id of the file's own document, if this one is of something within it.
    """

    action: Literal["added", "updated"]
    source_document: str
    file_path: str
    chunks: int
    bytes: int
    warnings: tuple[str, ...] = ()
    container: str | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    source_document: str


@dataclass(frozen=True, slots=True)
class NotIndexed:
    """Failure or omission of a file; its previous version, if any, stays in the index.

    The previous version is deleted if the file is now empty or seems to hold a secret; a `Deleted`
    event follows in that case. `is_named` says whether the user named this file itself.
    """

    source_document: str
    file_path: str
    kind: Kind
    reason: str
    bytes: int
    is_named: bool = False
    container: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """File or folder newly skipped as a secret, before it is read."""

    source_document: str
    file_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """File or folder that cannot be examined, or file whose id belongs to another document."""

    message: str


@dataclass(frozen=True, slots=True)
class MissingFolder:
    """Missing folder of the index that the run does not cover; its documents stay."""

    path: str
    documents: int
    message: str


@dataclass(frozen=True, slots=True)
class Committed:
    """Commit: everything so far is durable and visible to searches."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """Progress of OCR, which comes after all other files."""

    pages: int
    total: int


@dataclass(frozen=True, slots=True)
class Finished:
    """Summary of the completed run, in numbers of files, and of chunks written.

    `deleted` counts those now empty or seeming to hold secrets, too; `skipped` those unreadable
    before and unchanged since.
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
    """Completion of the first sync; changes are followed from now on."""

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
    | Recognized
    | Finished
    | Watching
)


@dataclass(slots=True)
class Kept:
    """Counts of the documents made durable by commits so far."""

    documents: int = 0
    deleted: int = 0

    def __str__(self) -> str:
        if not (self.documents or self.deleted):
            return "nothing was changed"
        deleted = f", {self.deleted:,} deleted" if self.deleted else ""
        return f"{quantity(self.documents, 'document')} committed{deleted}"


@contextmanager
def uninterrupted(on_signal: Callable[[], object] | None = None) -> Iterator[None]:
    """Defer SIGINT and `TERMINATIONS` to the end of the block, so that its outcome is certain.

    `on_signal` is called at once, such as to end the block early.
    """
    arrived: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        arrived.append((number, frame))
        if on_signal:
            on_signal()

    # A signal that the parent ignores, as a shell does for its background jobs, stays ignored.
    before: dict[int, Any] = {
        number: signal.signal(number, note)
        for number in (signal.SIGINT, *TERMINATIONS)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, frame in arrived[:1]:
        if callable(handler := before[number]):
            handler(number, frame)
