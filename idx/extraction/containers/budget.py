"""Limits on all that is unpacked from one file, at whatever depth."""

import time
from typing import Final

MAX_DEPTH: Final = 3
"""Maximum number of containers within each other: a letter in an archive in a message."""

MAX_MEMBERS: Final = 100_000
"""Maximum number of files and messages that are read from one file."""

MIN_UNPACKED_BYTES: Final = 100_000_000
MAX_RATIO: Final = 50
"""Bytes that may be unpacked from every file, and the multiple of its size for a larger one."""


class BudgetError(Exception):
    """A limit on what is read from one file is reached; the text says which."""


class Budget:
    """What may still be unpacked from a file.

    Args:
        size: size of the file, in bytes.
        seconds: time after which no further member is read, in seconds.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._bytes = max(MIN_UNPACKED_BYTES, MAX_RATIO * size)
        self._limit = self._bytes
        self._members = MAX_MEMBERS
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Time in which members are still read, in seconds, at least 0."""
        return max(self._end - time.monotonic(), 0)

    def take_member(self) -> None:
        """Count a member.

        Raises:
            BudgetError: there are too many, or the time is up.
        """
        self._members -= 1
        if self._members < 0:
            raise BudgetError(f"it has more than {MAX_MEMBERS:,} files")
        self._check_time()

    def take_bytes(self, count: int) -> None:
        """Count unpacked bytes.

        Raises:
            BudgetError: there are too many, or the time is up.
        """
        self._check_time()
        self._bytes -= count
        if self._bytes < 0:
            raise BudgetError(
                f"it unpacks to more than {self._limit // 1_000_000:,} MB, too much for its size"
            )

    def _check_time(self) -> None:
        if time.monotonic() > self._end:
            raise BudgetError("reading it took too long; allow more with --timeout")
