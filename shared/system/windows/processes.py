"""Processes and signals of Windows, which has Ctrl-C and Ctrl-Break only."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from ctypes import wintypes
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from shared.system.windows.api import KERNEL, declare
from shared.system.windows.jobs import Job

if TYPE_CHECKING:
    from asyncio.subprocess import Process

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

TERMINATIONS: Final = (signal.SIGTERM, signal.SIGBREAK)
"""Signals that ask a program to end, besides SIGINT. Windows sends the second one: for Ctrl-Break,
and when the console is closed or the user logs off."""

_ENDED_BY_CONSOLE: Final = 0xC000_013A
"""Exit code of a process that Ctrl-Break ended (``STATUS_CONTROL_C_EXIT``)."""

TERMINATED_EXIT_CODES: Final = frozenset({143, _ENDED_BY_CONSOLE})
"""Exit codes of a program after such a signal; the second one of a Python that has hardly
started."""

_NEW_PROCESS_GROUP: Final = 0x200
"""Flag ``CREATE_NEW_PROCESS_GROUP`` of CreateProcessW."""

GROUP_OPTIONS: Final[Mapping[str, Any]] = {"creationflags": _NEW_PROCESS_GROUP}
"""Options of `asyncio.create_subprocess_exec` for the first process of a `Group`, which Ctrl-C then
does not reach."""

BACKGROUND_OPTIONS: Final[Mapping[str, Any]] = {
    "creationflags": subprocess.CREATE_NO_WINDOW | subprocess.IDLE_PRIORITY_CLASS
}
"""Options of `subprocess.Popen` for a process that goes on when this one ends; it has no
console."""

_EXIT_CHECK_SECONDS: Final = 0.1

_set_console_handler: Final = declare(
    KERNEL, "SetConsoleCtrlHandler", wintypes.BOOL, ctypes.c_void_p, wintypes.BOOL
)


_CTRL_BREAK: Final = 1

_send_console_event: Final = declare(
    KERNEL, "GenerateConsoleCtrlEvent", wintypes.BOOL, wintypes.DWORD, wintypes.DWORD
)
"""The call behind `os.kill`, which ends the process if this call fails."""


class Group:
    """A process that was started with `GROUP_OPTIONS`, and its own child processes.

    Args:
        process: its id.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._job = Job()
        self._job.kill_on_close()
        # It may have ended already.
        with suppress(OSError):
            self._job.add(process)

    def terminate(self) -> None:
        """Ask the first process to end; it ends its own child processes.

        Without a common console, Windows has no way to ask, so they are all ended at once.
        """
        if not _send_console_event(_CTRL_BREAK, self._process):
            self.kill()

    def kill(self) -> None:
        """End all of them at once."""
        self._job.kill()


async def exited(process: "Process") -> None:
    """Wait for a process alone, even if child processes hold its pipes open."""
    import asyncio

    while process.returncode is None:
        await asyncio.sleep(_EXIT_CHECK_SECONDS)


def handle_signals(stop: Callable[[signal.Signals], None]) -> None:
    """Have the running event loop call a function for SIGINT and each of `TERMINATIONS`."""
    import asyncio

    loop = asyncio.get_running_loop()

    def handle(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop, signal.Signals(number))

    for number in (*TERMINATIONS, signal.SIGINT):
        signal.signal(number, handle)


def release_signals() -> None:
    """Undo `handle_signals`."""
    for number in (*TERMINATIONS, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def end_by_signal(number: signal.Signals) -> None:
    """End this process with the exit code that other programs have after the signal."""
    os._exit(130 if number == signal.SIGINT else 143)


@contextmanager
def spawning() -> Iterator[None]:
    """Start worker processes in a block so that they ignore Ctrl-C from their first moment.

    A process inherits whether Ctrl-C is ignored; for the length of the block, this one ignores it.
    """
    _set_console_handler(None, True)
    try:
        yield
    finally:
        _set_console_handler(None, False)


def ignore_interruptions() -> None:
    """Ignore Ctrl-C and Ctrl-Break in a worker process, which its parent ends."""
    for number in (signal.SIGINT, signal.SIGBREAK):
        signal.signal(number, signal.SIG_IGN)


_together: Job | None = None


def end_together() -> None:
    """Have the processes that this one starts end with it, however it ends."""
    global _together  # noqa: PLW0603 - a process has one
    if _together is None:
        _together = Job()
        _together.kill_on_close()
        _together.add_this_process()
