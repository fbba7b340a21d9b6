"""What a process that reads files does: one file at a time, under limits that hold for it."""

import ctypes
import logging
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from idx.extraction.extracted import ExtractionOptions
from idx.extraction.outcome import ReadFile, Unreadable
from idx.extraction.reading import hash_file, read_file
from idx.extraction.secret_content import SecretFileError
from idx.location import Location
from shared.errors import SourceFileError, UnsupportedFileError

_PR_SET_PDEATHSIG: Final = 1
"""Names the signal that a process gets when its parent ends; see prctl(2)."""

_Result = TypeVar("_Result")


def prepare(memory_bytes: int) -> None:
    """Make a new process ready for the work.

    Args:
        memory_bytes: the address space that it may take.
    """
    memory_bytes = _within_limit(resource.RLIMIT_AS, memory_bytes)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        # Without it a reader that is at work when its parent is killed would go on to the end.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Parsers complain of what they repair.
    logging.disable()
    # Ctrl-C goes to the whole group; the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def read_files(
    files: Sequence[Location], options: ExtractionOptions, seconds: float
) -> list[ReadFile | Unreadable]:
    """Read files one after the other.

    Args:
        files: the files.
        options: how they are read.
        seconds: processor time that they may take together.

    Returns:
        What was read of each; errors come back as values, which can be pickled.

    Raises:
        MemoryError: one of them takes too much.
    """
    return _each(lambda file: read_file(file, options), files, seconds)


def hash_files(
    files: Sequence[Location], _options: ExtractionOptions, seconds: float
) -> list[str | Unreadable]:
    """Hash the bytes of files one after the other; see `read_files`."""
    return _each(hash_file, files, seconds)


def _each(
    work: Callable[[Location], _Result], files: Sequence[Location], seconds: float
) -> list[_Result | Unreadable]:
    # Whatever becomes of the parent, a reader that never ends is ended.
    used = int(time.process_time())
    _, highest = resource.getrlimit(resource.RLIMIT_CPU)
    most = _within_limit(resource.RLIMIT_CPU, used + int(seconds) + 2)
    resource.setrlimit(resource.RLIMIT_CPU, (most, highest))
    return [_outcome(work, file) for file in files]


def _within_limit(which: int, wanted: int) -> int:
    """What a limit can be set to, of which the process may have a lower one (ulimit) for good."""
    _, highest = resource.getrlimit(which)
    return wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)


def _outcome(work: Callable[[Location], _Result], file: Location) -> _Result | Unreadable:
    try:
        return work(file)
    except UnsupportedFileError as error:
        return Unreadable("unsupported", error.reason)
    except SecretFileError as error:
        return Unreadable("secret", error.reason)
    except SourceFileError as error:
        return Unreadable("failed", error.reason)
