"""What is worked out of a commit once, and remembered until there is a newer one."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Result = TypeVar("Result")


def remembered(work: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Have a function of a reader work once for each commit; threads may share it.

    Args:
        work: takes a Lucene reader of a whole commit, and returns what nobody changes.

    Returns:
        The function, which remembers its result for the last reader it got.
    """
    newest: tuple[Any, Result] | None = None

    @wraps(work)
    def recall(reader: Any) -> Result:
        nonlocal newest
        known = newest
        # Each call of JCC wraps the reader anew.
        if known is None or not known[0].equals(reader):
            known = newest = (reader, work(reader))
        return known[1]

    return recall
