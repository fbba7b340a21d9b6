"""What is worked out of a commit once, and remembered until there are newer ones."""

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

_READERS: Final = 2
"""Readers that something is remembered of: a program may search two indexes in turns."""


def remembered(work: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Have a function of a reader work once for each commit; threads may share it.

    Args:
        work: takes a Lucene reader of a whole commit, and returns what nobody changes.

    Returns:
        The function, which remembers its results for the last readers that it got.
    """
    newest: deque[tuple[Any, Result]] = deque(maxlen=_READERS)

    @wraps(work)
    def recall(reader: Any) -> Result:
        # Another thread may add one meanwhile. Each call of JCC wraps the reader anew.
        for known, result in tuple(newest):
            if known.equals(reader):
                return result
        result = work(reader)
        newest.appendleft((reader, result))
        return result

    return recall
