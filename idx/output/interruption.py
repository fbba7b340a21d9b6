"""Message about an interrupted run: the work kept, and the way to continue."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from idx.output.printing import say
from idx.sync.interruption import Kept

SAME_COMMAND: Final = "run the same command to continue"
"""Advice for runs that skip completed work."""


@contextmanager
def reported_interruption(kept: Kept, go_on: str | None = None) -> Iterator[None]:
    """Report the work kept on stderr after an interruption by SIGINT or SIGTERM.

    Args:
        kept: counts of committed documents, complete when the run has ended.
        go_on: advice on the rest of the work; None if there is none.
    """
    try:
        yield
    except KeyboardInterrupt:
        advice = f"; {go_on}" if go_on else ""
        say(f"Interrupted: {kept}{advice}.")
        raise
