"""What stays of a run that is interrupted, told to whoever interrupted it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from idx.output.printing import say
from shared.messages import quantity

SAME_COMMAND: Final = "run the same command to go on"
"""How a run goes on that skips what is done."""


@dataclass(slots=True)
class Kept:
    """What commits have made durable so far.

    Attributes:
        documents: how many were added or updated.
        deleted: how many were deleted.
    """

    documents: int = 0
    deleted: int = 0

    def __str__(self) -> str:
        if not (self.documents or self.deleted):
            return "nothing was changed"
        deleted = f", {self.deleted:,} deleted" if self.deleted else ""
        return f"{quantity(self.documents, 'document')} committed{deleted}"


@contextmanager
def interruption_told(kept: Kept, go_on: str | None = None) -> Iterator[None]:
    """Say on stderr what Ctrl-C or SIGTERM has left of a run, after the run has ended.

    Args:
        kept: what the run commits, up to date when it has ended.
        go_on: what to do for the rest; None if there is nothing to advise.
    """
    try:
        yield
    except KeyboardInterrupt:
        advice = f"; {go_on}" if go_on else ""
        say(f"Interrupted: {kept}{advice}.")
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM wait until the block is done, whose outcome is certain so."""
    arrived: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        arrived.append((number, frame))

    before: dict[int, Any] = {
        number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, frame in arrived[:1]:
        if callable(handler := before[number]):
            handler(number, frame)
