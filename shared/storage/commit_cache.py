"""What is worked out of a commit once, and remembered until there are newer ones."""

from collections.abc import Callable, Iterator
from functools import wraps
from threading import Lock
from typing import Any, Final, TypeVar

from org.apache.lucene.index import DirectoryReader, FilterDirectoryReader

Result = TypeVar("Result")

_READERS: Final = 2
"""Readers that something is remembered of: a program may search two indexes in turns."""


def remembered(work: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Have a function of a reader work once for each commit; threads may share it.

    Args:
        work: takes a Lucene reader of a whole commit, and returns what nobody changes.

    Returns:
        The function, which remembers its results for the last readers that it got and that are
        still open.
    """
    newest: tuple[tuple[Any, Result], ...] = ()
    adding = Lock()

    def known(reader: Any) -> Iterator[Result]:
        # Each call of JCC wraps the reader anew.
        return (result for other, result in newest if other.equals(reader))

    @wraps(work)
    def recall(reader: Any) -> Result:
        nonlocal newest
        # One that can be stopped is made for each call, around that of the commit.
        reader = _of_commit(reader)
        for result in known(reader):
            return result
        result = work(reader)
        with adding:
            # Another thread may have done the same work meanwhile.
            for earlier in known(reader):
                return earlier
            # What is known of a closed reader would only take memory: nobody asks for it again.
            still_open = [entry for entry in newest if entry[0].getRefCount() > 0]
            newest = ((reader, result), *still_open[: _READERS - 1])
        return result

    return recall


def is_of_commit(reader: Any) -> bool:
    """Whether a reader is that of its commit, and not one around it."""
    return bool(_of_commit(reader).equals(reader))


def _of_commit(reader: Any) -> Any:
    return FilterDirectoryReader.unwrap(DirectoryReader.cast_(reader))
