"""Descriptors of files and folders, opened beneath a folder without following links.

Anyone who can write into an indexed folder can replace an entry between its listing and its
reading: a file by a symbolic link to a private key, a folder by a link to another one, either by a
pipe without a writer. So a path that was checked is worthless later, because opening it follows any
links present by then. Instead, everything in a folder is opened relative to a descriptor of that
folder, and the kernel refuses links on the way. Type and size are read from the opened descriptor,
not from the path.

``openat2`` does this in one call. Where the kernel lacks it (before Linux 5.6, on other systems) or
a sandbox forbids it, each part of the path is opened separately and not followed if it is a link,
which is as safe but takes a call for each part; see `shared.system`.

Hard links and mounts are not links in this sense: a file with two names lies in both folders.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from shared.files.access import opened_folder
from shared.system import MAX_PATH_LENGTH, PASSAGE, open_part, path_length

_OPENAT2: Final = 437
"""Number of the system call, on every architecture except Alpha."""

_RESOLVE_NO_SYMLINKS: Final = 0x04
_RESOLVE_BENEATH: Final = 0x08
"""Flags of openat2(2)."""

_LINK_REFUSED: Final = "it, or a folder above it, was replaced by a link, which is not followed"

_Openat2 = Callable[[int, str, int], int]


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open a file or a folder beneath a folder.

    Args:
        folder: a descriptor of the folder.
        path: path relative to the folder, with slashes; "." is the folder itself.
        flags: `LISTING`, `PASSAGE`, or `READING` of `shared.system`.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened; ``ELOOP`` if the path is or contains a link.
    """
    if path.startswith("/") or ".." in path.split("/"):
        raise OSError(errno.EXDEV, "its path leads out of its folder", path)
    openat2 = _openat2() if sys.platform == "linux" else None
    try:
        if openat2 is None:
            return _open_part_by_part(folder, path, flags)
        return openat2(folder, path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, _LINK_REFUSED, path) from error
        raise


@contextmanager
def opened_beneath(folder: int, path: str, flags: int) -> Iterator[int]:
    """Open a file or a folder like `open_beneath`, and close it at the end of the block."""
    descriptor = open_beneath(folder, path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def refuse_too_long(folder: Path, path: str) -> None:
    """Refuse a path that is too long to be opened by the user, to whom a hit shows it.

    Raises:
        OSError: the path is too long.
    """
    if path_length(folder) + 1 + path_length(path) > MAX_PATH_LENGTH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)


class _OpenHow(ctypes.Structure):
    """Structure ``open_how`` of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@cache
def _openat2() -> _Openat2 | None:
    """Return a function for the system call, or None if it does not exist or is forbidden."""
    try:
        syscall = ctypes.CDLL(None, use_errno=True).syscall
    except (AttributeError, OSError):
        return None
    syscall.restype = ctypes.c_long
    syscall.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.POINTER(_OpenHow),
        ctypes.c_size_t,
    )

    def openat2(folder: int, path: str, flags: int) -> int:
        how = _OpenHow(flags, 0, _RESOLVE_NO_SYMLINKS | _RESOLVE_BENEATH)
        name = os.fsencode(path)
        while True:
            descriptor: int = syscall(_OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how))
            if descriptor >= 0:
                return descriptor
            error = ctypes.get_errno()
            if error != errno.EINTR:
                raise OSError(error, os.strerror(error), path)

    with opened_folder("/") as top:
        try:
            # Sandboxes fail with various errors, none of which this call can cause otherwise.
            os.close(openat2(top, ".", PASSAGE))
        except OSError:
            return None
    return openat2


def _open_part_by_part(folder: int, path: str, flags: int) -> int:
    """Open like `openat2`, one part of the path at a time."""
    *parents, name = path.split("/")
    here = folder
    try:
        for parent in parents:
            inner = open_part(here, parent, PASSAGE)
            if here != folder:
                os.close(here)
            here = inner
        return open_part(here, name, flags)
    finally:
        if here != folder:
            os.close(here)
