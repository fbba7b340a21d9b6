"""Waiting for what other processes and threads do, however busy the machine is."""

import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 120
"""How long anything may take before a test fails."""


def wait_for(condition: Callable[[], object], what: object = "", *, every: float = 0.01) -> None:
    """Wait until something holds; `what` is told if it never does."""
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(every)
