"""Processes and signals of Linux and macOS.

The command line imports this module at its start, so what takes long is imported where it is used.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from asyncio.subprocess import Process

if sys.platform == "win32":
    raise ImportError("shared.system.windows has the calls of Windows")

TERMINATIONS: Final = (signal.SIGTERM,)
"""Signals that ask a program to end, besides SIGINT."""

TERMINATED_EXIT_CODES: Final = frozenset({143, -signal.SIGTERM})
"""Exit codes of a program after such a signal; the signal itself ends a Python that has hardly
started."""

GROUP_OPTIONS: Final[Mapping[str, Any]] = {"start_new_session": True}
"""Options of `asyncio.create_subprocess_exec` for the first process of a `Group`, which Ctrl-C then
does not reach."""

BACKGROUND_OPTIONS: Final[Mapping[str, Any]] = {"start_new_session": True}
"""Options of `subprocess.Popen` for a process that goes on when this one ends."""

_EXIT_CHECK_SECONDS: Final = 0.1


class Group:
    """A process that was started with `GROUP_OPTIONS`, and its own child processes.

    Args:
        process: its id.
    """

    def __init__(self, process: int) -> None:
        self._process = process

    def terminate(self) -> None:
        """Ask the first process to end; it ends its own child processes."""
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGTERM)

    def kill(self) -> None:
        """End all of them at once."""
        # Once all processes have ended, the group's number may be reused.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process, signal.SIGKILL)


async def exited(process: "Process") -> None:
    """Wait for a process alone, even if child processes hold its pipes open."""
    import asyncio

    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            # It has ended already, or the kernel does not support process descriptors.
            await process.wait()
            return
        loop, has_exited = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(descriptor, has_exited.set)
        try:
            await has_exited.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
    else:
        while process.returncode is None:
            await asyncio.sleep(_EXIT_CHECK_SECONDS)


def handle_signals(stop: Callable[[signal.Signals], None]) -> None:
    """Have the running event loop call a function for SIGINT and each of `TERMINATIONS`."""
    import asyncio

    loop = asyncio.get_running_loop()
    for number in (*TERMINATIONS, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)


def release_signals() -> None:
    """Undo `handle_signals`."""
    import asyncio

    loop = asyncio.get_running_loop()
    for number in (*TERMINATIONS, signal.SIGINT):
        loop.remove_signal_handler(number)


def end_by_signal(number: signal.Signals) -> None:
    """End this process by a signal's default action, so that its sender sees its effect."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


@contextmanager
def spawning() -> Iterator[None]:
    """Start worker processes in a block so that they ignore Ctrl-C from their first moment.

    Ctrl-C reaches the whole process group, but workers inherit the signal mask that this thread has
    in the block; starting the resource tracker later would unblock the signal.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def ignore_interruptions() -> None:
    """Ignore Ctrl-C in a worker process, which its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def end_together() -> None:
    """Do nothing: workers see the end of their parent; see `limits.end_with_parent`."""
