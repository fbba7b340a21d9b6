"""What is said when Ctrl-C ends a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from idx.output.printing import say
from idx.sync.interruption import Kept

SAME_COMMAND: Final = "run the same command to go on"
"""How a run goes on that skips what is done."""


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
