"""Files and names on the disks of Windows."""

import ctypes
import hashlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import wintypes
from io import BufferedReader
from pathlib import Path
from typing import Final

from shared.system.windows.api import KERNEL, close_handle, declare
from shared.system.windows.folders import READING, open_path

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

_IN_USE: Final = (5, 32, 33)
"""Codes of Windows for files that another program has open, such as a scanner for viruses:
``ERROR_ACCESS_DENIED``, ``ERROR_SHARING_VIOLATION`` and ``ERROR_LOCK_VIOLATION``."""

_FIRST_DELAY_SECONDS: Final = 0.01
_MAX_DELAYS: Final = 8
"""Number of delays between attempts to change such a file, each twice as long: 2.5 s in all."""

_FOREVER: Final = 0xFFFF_FFFF
"""Constant ``INFINITE`` of WaitForSingleObject."""

_create_mutex: Final = declare(
    KERNEL,
    "CreateMutexW",
    wintypes.HANDLE,
    *(ctypes.c_void_p, wintypes.BOOL, wintypes.LPCWSTR),
)
_wait: Final = declare(
    KERNEL, "WaitForSingleObject", wintypes.DWORD, wintypes.HANDLE, wintypes.DWORD
)
_release: Final = declare(KERNEL, "ReleaseMutex", wintypes.BOOL, wintypes.HANDLE)


def open_file(path: Path, *, follow_links: bool) -> int:
    """Open a file for reading, so that other programs may replace it meanwhile.

    Args:
        path: its path.
        follow_links: false to refuse a link at the end of the path.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened; ``ELOOP`` if it is a link that is not followed.
    """
    return open_path(path, READING, follow_links=follow_links)


def open_shared(file: Path) -> BufferedReader:
    """Open a file for reading that others may delete meanwhile, unlike one that Python opens.

    Raises:
        OSError: it cannot be opened.
    """
    return os.fdopen(open_path(file, READING), "rb")


def is_null_device(file: Path, status: os.stat_result) -> bool:
    """Check whether an open file is the null device; others, such as ``CON``, look alike.

    Args:
        file: its path.
        status: its state.
    """
    return stat.S_ISCHR(status.st_mode) and file.name.casefold() == os.devnull


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for a block, after any program that has locked it in this way.

    Windows has no locks of folders, so this is a mutex named after the folder. It leaves nothing
    behind, and ends with the process.
    """
    name = os.path.normcase(os.path.realpath(folder))
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    mutex = _create_mutex(None, False, f"Global\\mcp-lucene-{digest}")
    if not mutex:
        # The mutex is another user's; two changes at a time are as rare there.
        yield
        return
    try:
        _wait(mutex, _FOREVER)
        yield
        _release(mutex)
    finally:
        # This also releases it, for the thread that waits next.
        close_handle(mutex)


def link(path: Path, target: Path) -> None:
    """Make a path that leads to the content of a file, which nobody changes.

    Symbolic links are a privilege on Windows, so this is a hard link, or on another disk a copy.

    Raises:
        OSError: the file system refused.
    """
    try:
        path.hardlink_to(target)
    except OSError:
        shutil.copyfile(target, path)


def set_mode(_descriptor: int, _mode: int) -> None:
    """Do nothing: a file gets the permissions of its folder."""


def others_may_read(_status: os.stat_result) -> bool:
    """Return False: the state of a file does not show its permissions on Windows."""
    return False


def replace(source: Path, target: Path) -> None:
    """Move a file to a path, in place of the one that is there.

    Raises:
        OSError: the file system refused, for example because a program has the file open for
            longer than 2.5 s; both are where they were.
    """
    _patiently(lambda: source.replace(target))


def delete(file: Path) -> None:
    """Delete a file.

    Raises:
        OSError: the file system refused, for example because a program has the file open for
            longer than 2.5 s; it is still there.
    """
    _patiently(file.unlink)


def move_folder(source: Path, target: Path) -> None:
    """Move a folder to a free path, or in place of an empty folder.

    Raises:
        OSError: the file system refused, for example because a program has a file of the folder
            open for longer than 2.5 s; both are where they were.
    """
    was_there = target.exists()
    if was_there:
        _patiently(target.rmdir)
    try:
        _patiently(lambda: source.rename(target))
    except OSError:
        if was_there:
            target.mkdir()
        raise


def _patiently(change: Callable[[], object]) -> None:
    """Try a change again for a while if another program has the file open."""
    for attempt in range(_MAX_DELAYS):
        try:
            change()
        except PermissionError as error:
            if error.winerror not in _IN_USE:
                raise
            time.sleep(_FIRST_DELAY_SECONDS * 2**attempt)
        else:
            return
    change()


def flush(path: Path) -> None:
    """Write a file to the disk; the names in a folder are in the journal of the file system.

    Raises:
        OSError: the file system refused.
    """
    if path.is_dir():
        return
    # Only a file that may be written can be flushed.
    descriptor = os.open(path, os.O_RDWR | os.O_BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(_one: Path, _other: Path) -> bool:
    """Return False: Windows cannot exchange two names."""
    return False
