"""Work kept by an interrupted run, and protection of short blocks from interruption."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from shared.messages import quantity
from shared.system import TERMINATIONS


@dataclass(slots=True)
class Kept:
    """Counts of the documents made durable by commits so far.

    Attributes:
        documents: number of documents added or updated.
        deleted: number of documents deleted.
    """

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

    Args:
        on_signal: called at once when one arrives, such as to end the block early.
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
