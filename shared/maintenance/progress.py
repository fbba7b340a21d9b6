"""How far a long run is, for whoever watches it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """How far a part of a run is.

    Attributes:
        activity: what is done, for people, such as ``Merging 6 segments``.
        done: how much of it is done, in bytes or documents.
        total: how much there is to do, about.
    """

    activity: str
    done: int
    total: int


Progress = Callable[[Iterator[Step]], Iterator[Step]]
"""Passes the steps of a run on. The run goes on as far as they are asked for."""
