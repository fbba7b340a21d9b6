"""Limits of a process on Windows, which a job object sets."""

import ctypes
import os
import sys
from ctypes import wintypes
from typing import Final

from shared.system.windows.api import KERNEL, declare
from shared.system.windows.jobs import Job

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

EXIT_CODE_AFTER_TIME: Final = 1816
"""Exit code of a process that has used its processor time (``ERROR_NOT_ENOUGH_QUOTA``)."""

LIMITS_MEMORY: Final = True
"""Whether `limit_memory` has an effect."""

_MAX_OPEN_FILES: Final = 16_384
"""Number of files and connections that a process has at most; Windows itself allows millions."""


class _MemoryStatus(ctypes.Structure):
    """Structure ``MEMORYSTATUSEX``."""

    _fields_ = (
        ("length", wintypes.DWORD),
        ("load", wintypes.DWORD),
        ("physical", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    )


_memory_status: Final = declare(
    KERNEL, "GlobalMemoryStatusEx", wintypes.BOOL, ctypes.POINTER(_MemoryStatus)
)

_own_job: Job | None = None


def memory_bytes() -> int:
    """Return the memory of the machine in bytes."""
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    _memory_status(ctypes.byref(status))
    return int(status.physical)


def usable_cores() -> int:
    """Return the number of cores of the machine."""
    return os.cpu_count() or 1


def max_open_files() -> int:
    """Return the number of files and connections that this process may have open."""
    return _MAX_OPEN_FILES


def address_space_limit() -> int | None:
    """Return None: no limit of Windows concerns the address space."""
    return None


def reserve(_size: int) -> None:
    """Do nothing: a reservation would set memory aside, and address space has no limit."""


def limit_memory(size: int) -> None:
    """Limit the memory that this process commits, for good.

    Args:
        size: the limit in bytes.
    """
    _job().limit(memory=size)


def limit_processor_time(seconds: int) -> None:
    """End this process once it has used so much processor time in all, in seconds."""
    _job().limit(seconds=seconds)


def limit_file_size(_size: int) -> None:
    """Do nothing: Windows has no such limit."""


def end_with_parent() -> None:
    """Do nothing: the job of the parent ends its processes; see `processes.end_together`."""


def _job() -> Job:
    """Return the job of this process alone."""
    global _own_job  # noqa: PLW0603 - a process has one
    if _own_job is None:
        _own_job = Job()
        _own_job.add_this_process()
    return _own_job
