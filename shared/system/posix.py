"""Calls of Linux and macOS.

The command line imports this module at its start, so what takes long is imported where it is used.
"""

import errno
import fcntl
import os
import resource
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

if sys.platform == "win32":
    raise ImportError("shared.system.windows has the calls of Windows")

# Files, and names on the disk

_NOT_FLUSHED: Final = {errno.EINVAL, errno.EBADF}
"""Errors of fsync(2) for a folder on a file system that writes names by itself."""


def open_file(path: Path, *, follow_links: bool) -> int:
    """Open a file for reading; a pipe without a writer does not block.

    Without `follow_links` a link at the end of the path is refused with ``ELOOP``.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path, flags if follow_links else flags | os.O_NOFOLLOW)


def open_shared(file: Path) -> BufferedReader:
    """Open a file for reading that others may delete meanwhile."""
    return file.open("rb")


def is_null_device(_file: Path, status: os.stat_result) -> bool:
    """Check whether an open file is the null device."""
    return status.st_rdev == Path(os.devnull).stat().st_rdev


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for a block, after any program that has locked it in this way.

    The lock leaves nothing behind, and ends with the process.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            # Some file systems have no locks; two changes at a time are as rare there.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def lock(descriptor: int) -> bool:
    """Lock an open file until the process ends; false if another one holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def link(path: Path, target: Path) -> None:
    """Make a path that leads to the content of a file, which nobody changes."""
    path.symlink_to(target)


def set_mode(descriptor: int, mode: int) -> None:
    """Set the permissions of an open file."""
    os.fchmod(descriptor, mode)


def others_may_read(status: os.stat_result) -> bool:
    """Check whether a file has permissions for its group or others."""
    return bool(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def replace(source: Path, target: Path) -> None:
    """Move a file to a path, in place of the one that is there."""
    source.replace(target)


def delete(file: Path) -> None:
    file.unlink()


def move_folder(source: Path, target: Path) -> None:
    """Move a folder to a free path, or in place of an empty folder."""
    source.replace(target)


def flush(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if sys.platform == "darwin":
            with suppress(OSError):
                # fsync(2) leaves it in the cache of the disk; some file systems have only that.
                fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
                return
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_FLUSHED or not path.is_dir():
            raise
    finally:
        os.close(descriptor)


# Folders and files opened relative to a descriptor of their folder (openat(2))

PASSAGE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""Flags that open a folder to reach its content; with O_PATH this does not require the right to
list it."""

LISTING: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

READING: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags for opening a file to read it; non-blocking, because it may now be a pipe."""

MAX_PATH_LENGTH: Final = 4_095 if sys.platform == "linux" else 1_023
"""Maximum length of a path for the system, in bytes (PATH_MAX without the null byte)."""


def path_length(path: Path | str) -> int:
    """Return the length of a path in the unit of `MAX_PATH_LENGTH`."""
    return len(os.fsencode(path))


def open_folder(path: Path | str) -> int:
    """Open a folder to reach its content, following the links in its path."""
    return os.open(path, PASSAGE)


def open_part(folder: int, name: str, flags: int) -> int:
    """Open an entry of an open folder, or with "." the folder itself.

    The flags are `LISTING`, `PASSAGE`, or `READING`. A link is refused with ``ELOOP``.
    """
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        # The error includes links to folders.
        if stat.S_ISLNK(status_of_part(folder, name).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def open_parent(folder: int) -> int | None:
    """Open the folder that contains an open folder; None if that is the root."""
    parent = os.open("..", PASSAGE, dir_fd=folder)
    if os.path.sameopenfile(parent, folder):
        os.close(parent)
        return None
    return parent


def status_of_part(folder: int, name: str) -> os.stat_result:
    """Return the state of an entry of an open folder, or with "." of the folder itself."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def entries(folder: int) -> list[os.DirEntry[str]]:
    """List a folder that was opened with `LISTING`."""
    with os.scandir(folder) as listing:
        return list(listing)


def is_hidden(name: str, status: os.stat_result) -> bool:
    """Check whether an entry is hidden: by its name, or on macOS by its flag."""
    if sys.platform == "darwin" and status.st_flags & stat.UF_HIDDEN:
        return True
    return name.startswith(".")


# Memory and processor time

EXIT_CODE_AFTER_TIME: Final = -signal.SIGXCPU

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
    """Reserve address space, in bytes, for a moment; an OSError if there is not so much."""
    import mmap

    mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ).close()


def limit_memory(size: int) -> None:
    """Limit the address space of this process for good, and have it leave no core dump.

    A lower limit that holds already (ulimit) stays.
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


# Processes and signals

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


class Group:
    """A process that was started with `GROUP_OPTIONS`, and its own child processes."""

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


# Pipes


def is_of_closed_pipe(error: OSError) -> bool:
    """Check whether an error says that nobody reads a pipe any more."""
    return error.errno == errno.EPIPE
