"""Job objects of Windows: groups of processes with limits and a common end."""

import ctypes
import sys
from ctypes import wintypes
from typing import Final

from shared.system.windows.api import KERNEL, close_handle, declare, last_error

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

_EXTENDED_LIMITS: Final = 9
"""Constant ``JobObjectExtendedLimitInformation`` of winnt.h."""

_PROCESS_TIME: Final = 0x2
_PROCESS_MEMORY: Final = 0x100
_KILL_ON_CLOSE: Final = 0x2000
"""Flags ``JOB_OBJECT_LIMIT_…`` of winnt.h."""

_TICKS_IN_A_SECOND: Final = 10_000_000

_RIGHTS_TO_ASSIGN: Final = 0x0101
"""Rights ``PROCESS_SET_QUOTA`` and ``PROCESS_TERMINATE``."""

_KILLED_EXIT_CODE: Final = 143
"""Exit code of processes that are ended at once, as after a request to end."""


class _Limits(ctypes.Structure):
    """Structure ``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``."""

    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", wintypes.DWORD),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


_create: Final = declare(
    KERNEL, "CreateJobObjectW", wintypes.HANDLE, ctypes.c_void_p, wintypes.LPCWSTR
)
_set: Final = declare(
    KERNEL,
    "SetInformationJobObject",
    wintypes.BOOL,
    *(wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD),
)
_assign: Final = declare(
    KERNEL, "AssignProcessToJobObject", wintypes.BOOL, wintypes.HANDLE, wintypes.HANDLE
)
_terminate: Final = declare(
    KERNEL, "TerminateJobObject", wintypes.BOOL, wintypes.HANDLE, wintypes.UINT
)
_this_process: Final = declare(KERNEL, "GetCurrentProcess", wintypes.HANDLE)
_open_process: Final = declare(
    KERNEL,
    "OpenProcess",
    wintypes.HANDLE,
    *(wintypes.DWORD, wintypes.BOOL, wintypes.DWORD),
)


class Job:
    """A job: its processes, and those that they start.

    Raises:
        OSError: the system refused it.
    """

    def __init__(self) -> None:
        self._limits = _Limits()
        self._handle = _create(None, None)
        if not self._handle:
            raise last_error()

    def limit(self, *, memory: int | None = None, seconds: int | None = None) -> None:
        """Limit each process of the job; limits that are not given stay as they are.

        Args:
            memory: the memory that it commits, in bytes.
            seconds: the processor time in user mode, in seconds since its start.

        Raises:
            OSError: the system refused.
        """
        if memory is not None:
            self._limits.process_memory = memory
            self._limits.flags |= _PROCESS_MEMORY
        if seconds is not None:
            self._limits.process_time = seconds * _TICKS_IN_A_SECOND
            self._limits.flags |= _PROCESS_TIME
        self._apply()

    def kill_on_close(self) -> None:
        """Have all processes of the job end when this process ends, however that happens.

        Raises:
            OSError: the system refused.
        """
        self._limits.flags |= _KILL_ON_CLOSE
        self._apply()

    def add_this_process(self) -> None:
        """Make this process a part of the job.

        Raises:
            OSError: the system refused.
        """
        if not _assign(self._handle, _this_process()):
            raise last_error()

    def add(self, process: int) -> None:
        """Make a process a part of the job.

        Args:
            process: its id.

        Raises:
            OSError: it has ended, or the system refused.
        """
        handle = _open_process(_RIGHTS_TO_ASSIGN, False, process)
        if not handle:
            raise last_error()
        try:
            if not _assign(self._handle, handle):
                raise last_error()
        finally:
            close_handle(handle)

    def kill(self) -> None:
        """End all processes of the job at once, and give it up; repeated calls have no effect."""
        if self._handle:
            _terminate(self._handle, _KILLED_EXIT_CODE)
            close_handle(self._handle)
            self._handle = None

    def _apply(self) -> None:
        limits = ctypes.byref(self._limits)
        if not _set(self._handle, _EXTENDED_LIMITS, limits, ctypes.sizeof(self._limits)):
            raise last_error()
