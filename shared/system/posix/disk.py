"""Files and names on the disks of Linux and macOS."""

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    raise ImportError("shared.system.windows has the calls of Windows")

_CURRENT_FOLDER: Final = -100 if sys.platform == "linux" else -2
"""Constant ``AT_FDCWD`` of fcntl.h."""

_EXCHANGE: Final = 2
"""Constant ``RENAME_EXCHANGE`` of linux/fs.h for renameat2(2), and ``RENAME_SWAP`` of sys/stdio.h
for renameatx_np(2) of macOS."""

_EXCHANGING_CALL: Final = "renameat2" if sys.platform == "linux" else "renameatx_np"

_NOT_SUPPORTED: Final = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}
"""Errors of these calls if the kernel or the file system does not support it."""

_NOT_FLUSHED: Final = {errno.EINVAL, errno.EBADF}
"""Errors of fsync(2) for a folder on a file system that writes names by itself."""


def open_file(path: Path, *, follow_links: bool) -> int:
    """Open a file for reading; a pipe without a writer does not block.

    Args:
        path: its path.
        follow_links: false to refuse a link at the end of the path.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened; ``ELOOP`` if it is a link that is not followed.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path, flags if follow_links else flags | os.O_NOFOLLOW)


def open_shared(file: Path) -> BufferedReader:
    """Open a file for reading that others may delete meanwhile.

    Raises:
        OSError: it cannot be opened.
    """
    return file.open("rb")


def is_null_device(_file: Path, status: os.stat_result) -> bool:
    """Check whether an open file is the null device.

    Args:
        status: its state.
    """
    return status.st_rdev == Path(os.devnull).stat().st_rdev


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for a block, after any program that has locked it in this way.

    The lock leaves nothing behind, and ends with the process.

    Raises:
        OSError: the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            # Some file systems have no locks; two changes at a time are as rare there.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def link(path: Path, target: Path) -> None:
    """Make a path that leads to the content of a file, which nobody changes.

    Raises:
        OSError: the file system refused.
    """
    path.symlink_to(target)


def set_mode(descriptor: int, mode: int) -> None:
    """Set the permissions of an open file.

    Raises:
        OSError: the file system refused.
    """
    os.fchmod(descriptor, mode)


def others_may_read(status: os.stat_result) -> bool:
    """Check whether a file has permissions for its group or others."""
    return bool(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def replace(source: Path, target: Path) -> None:
    """Move a file to a path, in place of the one that is there.

    Raises:
        OSError: the file system refused; both are where they were.
    """
    source.replace(target)


def delete(file: Path) -> None:
    """Delete a file.

    Raises:
        OSError: the file system refused; it is still there.
    """
    file.unlink()


def move_folder(source: Path, target: Path) -> None:
    """Move a folder to a free path, or in place of an empty folder.

    Raises:
        OSError: the file system refused; both are where they were.
    """
    source.replace(target)


def flush(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk.

    Raises:
        OSError: the file system refused.
    """
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


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders; return False if the system does not support it.

    Raises:
        OSError: the file system refused.
    """
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), _EXCHANGING_CALL, None)
    if rename is None:
        return False
    names = (os.fsencode(one), _CURRENT_FOLDER, os.fsencode(other))
    if rename(_CURRENT_FOLDER, *names, _EXCHANGE) == 0:
        return True
    error = ctypes.get_errno()
    if error in _NOT_SUPPORTED:
        return False
    raise OSError(error, os.strerror(error), str(other))
