"""Progress of long runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of one part of a run.

    Attributes:
        activity: the activity in words, such as ``Merging 6 segments``.
        done: the finished amount, in bytes or documents.
        total: the approximate total amount.
    """

    activity: str
    done: int
    total: int


Progress = Callable[[Iterator[Step]], Iterator[Step]]
"""Function that passes on the steps of a run, which continues as they are requested."""
