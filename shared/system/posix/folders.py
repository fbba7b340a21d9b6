"""Folders and files opened relative to a descriptor of their folder (openat(2))."""

import errno
import os
import stat
import sys
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    raise ImportError("shared.system.windows has the calls of Windows")

PASSAGE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""Flags that open a folder to reach its content; with O_PATH this does not require the right to
list it."""

LISTING: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""Flags for opening a folder to list it."""

READING: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags for opening a file to read it; non-blocking, because it may now be a pipe."""

MAX_PATH_LENGTH: Final = 4_095 if sys.platform == "linux" else 1_023
"""Maximum length of a path for the system, in bytes (PATH_MAX without the null byte)."""


def path_length(path: Path | str) -> int:
    """Return the length of a path in the unit of `MAX_PATH_LENGTH`."""
    return len(os.fsencode(path))


def open_folder(path: Path | str) -> int:
    """Open a folder to reach its content, following the links in its path.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened.
    """
    return os.open(path, PASSAGE)


def open_part(folder: int, name: str, flags: int) -> int:
    """Open an entry of an open folder, or with "." the folder itself.

    Args:
        folder: a descriptor of the folder.
        name: the name of the entry.
        flags: `LISTING`, `PASSAGE`, or `READING`.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened; ``ELOOP`` if it is a link.
    """
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        # The error includes links to folders.
        if stat.S_ISLNK(status_of_part(folder, name).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def open_parent(folder: int) -> int | None:
    """Open the folder that contains an open folder.

    Returns:
        A descriptor, which the caller must close; None if the folder is the root.

    Raises:
        OSError: it cannot be opened.
    """
    parent = os.open("..", PASSAGE, dir_fd=folder)
    if os.path.sameopenfile(parent, folder):
        os.close(parent)
        return None
    return parent


def status_of_part(folder: int, name: str) -> os.stat_result:
    """Return the state of an entry of an open folder, or with "." of the folder itself.

    Raises:
        OSError: it does not exist, or the folder may not be searched.
    """
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def entries(folder: int) -> list[os.DirEntry[str]]:
    """List a folder that was opened with `LISTING`.

    Raises:
        OSError: it cannot be listed.
    """
    with os.scandir(folder) as listing:
        return list(listing)


def is_hidden(name: str, status: os.stat_result) -> bool:
    """Check whether an entry is hidden: by its name, or on macOS by its flag."""
    if sys.platform == "darwin" and status.st_flags & stat.UF_HIDDEN:
        return True
    return name.startswith(".")
