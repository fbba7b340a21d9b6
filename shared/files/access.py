"""Paths: whether there is a file or folder at one, and which, whatever is wrong with it."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

Identity = tuple[int, int]
"""What tells a file or folder from any other one, whatever its path: its device and number."""

PASSAGE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""Flags that open a folder in order to open what is in it, which takes no right to list it."""


def is_folder(path: Path | str) -> bool:
    """Whether there is a folder at a path, or a link to one, that can be looked at.

    `Path.is_dir` raises an error for a mount whose server is gone, and below a folder that this
    user may not search; this says no.
    """
    return os.path.isdir(path)  # noqa: PTH112 - see above


def is_missing(path: Path | str) -> bool:
    """Whether there is nothing at a path; not so where nobody can tell, as behind a dead mount."""
    try:
        os.stat(path)  # noqa: PTH116 - takes both kinds of paths
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def identity(path: Path | str) -> Identity | None:
    """The identity of a folder; None if it is out of reach."""
    try:
        return identity_of(os.stat(path))  # noqa: PTH116 - takes both kinds of paths
    except OSError:
        return None


def identity_of(status: os.stat_result) -> Identity:
    """The identity of the file or folder that has a state."""
    return status.st_dev, status.st_ino


@contextmanager
def opened_folder(path: Path | str) -> Iterator[int]:
    """Open a folder for a block, by way of the links in its path.

    Yields:
        A descriptor of it, to open what is in it.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, PASSAGE)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def lies_in(descriptor: int, folders: Collection[Identity]) -> bool:
    """Whether an open folder is, or lies in, one of those with certain identities.

    The system is asked for one parent after the other, so that no link and no path counts.

    Raises:
        OSError: a folder above it cannot be opened.
    """
    top = identity("/")
    here = os.dup(descriptor)
    try:
        while (found := identity_of(os.fstat(here))) not in folders:
            if found == top:
                return False
            above = os.open("..", PASSAGE, dir_fd=here)
            os.close(here)
            here = above
    finally:
        os.close(here)
    return True


def holds(folder: Path, path: Path) -> bool:
    """Whether a path leads to a folder or into it, by whatever links, even if nothing is there yet.

    False where nobody can tell.
    """
    known = identity(folder)
    if known is None:
        return False
    # What does not exist yet lies where its nearest parent does.
    target = Path(os.path.realpath(path))
    nearest = next(place for place in (target, *target.parents) if is_folder(place))
    with suppress(OSError), opened_folder(nearest) as descriptor:
        return lies_in(descriptor, {known})
    return False
