"""Limits of a process on Linux and macOS (setrlimit(2))."""

import mmap
import os
import resource
import signal
import sys
from typing import Final

if sys.platform == "win32":
    raise ImportError("shared.system.windows has the calls of Windows")

EXIT_CODE_AFTER_TIME: Final = -signal.SIGXCPU
"""Exit code of a process that has used its processor time."""

LIMITS_MEMORY: Final = sys.platform == "linux"
"""Whether `limit_memory` has an effect: macOS accepts the limit and does not enforce it."""

_PR_SET_PDEATHSIG: Final = 1
"""Option of prctl(2) for the signal sent to a process when its parent ends."""


def memory_bytes() -> int:
    """Return the memory of the machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if sys.platform == "linux":
        # The affinity respects containers and taskset, unlike os.cpu_count.
        return len(os.sched_getaffinity(0))
    else:  # noqa: RET505 - mypy knows that one of both is never reached
        return os.cpu_count() or 1


def max_open_files() -> int:
    """Return the number of files and connections that this process may have open.

    This is the hard limit, since Java raises the soft one to it when it starts, which may be before
    or after this call.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    return files


def address_space_limit() -> int | None:
    """Return the limit on the address space of this process in bytes; None if there is none."""
    if not LIMITS_MEMORY:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def reserve(size: int) -> None:
    """Reserve address space for a moment.

    Args:
        size: its size in bytes.

    Raises:
        OSError: this process may not have so much.
    """
    mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ).close()


def limit_memory(size: int) -> None:
    """Limit the address space of this process for good, and have it leave no core dump.

    Args:
        size: the limit in bytes; a lower one that holds already (ulimit) stays.
    """
    if LIMITS_MEMORY:
        size = _within_limit(resource.RLIMIT_AS, size)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_processor_time(seconds: int) -> None:
    """End this process once it has used so much processor time in all, in seconds."""
    _, highest = resource.getrlimit(resource.RLIMIT_CPU)
    most = _within_limit(resource.RLIMIT_CPU, seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, highest))


def limit_file_size(size: int) -> None:
    """Refuse this process, and those that it starts, to write files larger than this, in bytes."""
    most = _within_limit(resource.RLIMIT_FSIZE, size)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def end_with_parent() -> None:
    """Have this process end when its parent does; only Linux can."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _within_limit(which: int, wanted: int) -> int:
    """Return the possible value of a limit, given a lower hard limit of the process (ulimit)."""
    _, highest = resource.getrlimit(which)
    return wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
