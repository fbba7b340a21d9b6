"""Memory, processes, signals and pipes of Windows; its files are in `shared.system.windows_files`.

`shared.system.posix` says what is not described here.
"""

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import wintypes
from types import FrameType
from typing import Any, Final

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

from shared.system.windows_files import declare

# Memory and processor time

EXIT_CODE_AFTER_TIME: Final = 1816
"""Exit code of a process that has used its processor time (``ERROR_NOT_ENOUGH_QUOTA``)."""

LIMITS_MEMORY: Final = False

_MAX_OPEN_FILES: Final = 16_384
"""Number of files and connections that a process has at most; Windows itself allows millions."""

_TIME_CHECK_SECONDS: Final = 1.0


def memory_bytes() -> int:
    import psutil

    return int(psutil.virtual_memory().total)


def usable_cores() -> int:
    """Return the number of cores of the machine."""
    return os.cpu_count() or 1


def max_open_files() -> int:
    return _MAX_OPEN_FILES


def address_space_limit() -> int | None:
    """Return None: no limit of Windows concerns the address space."""
    return None


def reserve(_size: int) -> None:
    """Do nothing: a reservation would set memory aside, and address space has no limit."""


def limit_memory(_size: int) -> None:
    """Do nothing: workers are watched instead; see `shared.workers`."""


_processor_seconds: list[int] = []
"""The limits of `limit_processor_time`, of which the last one holds."""


def limit_processor_time(seconds: int) -> None:
    _processor_seconds.append(seconds)
    if len(_processor_seconds) == 1:
        threading.Thread(target=_end_after_time, daemon=True).start()
    else:
        del _processor_seconds[0]


def _end_after_time() -> None:
    while time.process_time() < _processor_seconds[-1]:
        time.sleep(_TIME_CHECK_SECONDS)
    os._exit(EXIT_CODE_AFTER_TIME)


def limit_file_size(_size: int) -> None:
    """Do nothing: Windows has no such limit."""


def end_with_parent() -> None:
    """Do nothing: workers watch their parent; see `shared.workers`."""


# Processes and signals: Windows has Ctrl-C and Ctrl-Break only

TERMINATIONS: Final = (signal.SIGTERM, signal.SIGBREAK)
"""SIGBREAK is sent for Ctrl-Break, and when the console is closed or the user logs off."""

_ENDED_BY_CONSOLE: Final = 0xC000_013A
"""Exit code of a process that Ctrl-Break ended (``STATUS_CONTROL_C_EXIT``)."""

TERMINATED_EXIT_CODES: Final = frozenset({143, _ENDED_BY_CONSOLE, signal.SIGTERM})
"""Exit codes of a program after such a signal; the second one of a Python that has hardly started,
the third one of a process that was killed."""

GROUP_OPTIONS: Final[Mapping[str, Any]] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

BACKGROUND_OPTIONS: Final[Mapping[str, Any]] = {
    "creationflags": subprocess.CREATE_NO_WINDOW | subprocess.IDLE_PRIORITY_CLASS
}
"""The process has no console."""

_CTRL_BREAK: Final = 1

_set_console_handler: Final = declare(
    "SetConsoleCtrlHandler", wintypes.BOOL, ctypes.c_void_p, wintypes.BOOL
)
_send_console_event: Final = declare(
    "GenerateConsoleCtrlEvent", wintypes.BOOL, wintypes.DWORD, wintypes.DWORD
)
"""The call behind `os.kill`, which ends the process if this call fails."""


class Group:
    def __init__(self, process: int) -> None:
        self._process = process

    def terminate(self) -> None:
        """Ask the first process to end; without a common console, they are all ended at once."""
        if not _send_console_event(_CTRL_BREAK, self._process):
            self.kill()

    def kill(self) -> None:
        import psutil

        try:
            first = psutil.Process(self._process)
            group = [first, *first.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        for process in group:
            try:
                process.kill()
            except psutil.Error:
                # It has ended already, or is another user's by now.
                continue


def handle_signals(stop: Callable[[signal.Signals], None]) -> None:
    import asyncio

    loop = asyncio.get_running_loop()

    def handle(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop, signal.Signals(number))

    for number in (*TERMINATIONS, signal.SIGINT):
        signal.signal(number, handle)


def release_signals() -> None:
    for number in (*TERMINATIONS, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def end_by_signal(number: signal.Signals) -> None:
    """End this process with the exit code that other programs have after the signal."""
    os._exit(130 if number == signal.SIGINT else 143)


@contextmanager
def spawning() -> Iterator[None]:
    """Ignore Ctrl-C for the length of a block, which the processes that it starts inherit."""
    _set_console_handler(None, True)
    try:
        yield
    finally:
        _set_console_handler(None, False)


def ignore_interruptions() -> None:
    """Ignore Ctrl-C and Ctrl-Break in a worker process, which its parent ends."""
    for number in (signal.SIGINT, signal.SIGBREAK):
        signal.signal(number, signal.SIG_IGN)


# Pipes


def is_of_closed_pipe(error: OSError) -> bool:
    # While the other end is being closed, Windows' C library has no name for that.
    return error.errno in {errno.EPIPE, errno.EINVAL}
