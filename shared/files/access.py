"""Existence and identity of files and folders, and opening them without following links.

Anyone who can write into an indexed folder can replace an entry between its listing and its
reading: a file by a symbolic link to a private key, a folder by a link to another one, either by a
pipe without a writer. So a path that was checked is worthless later, because opening it follows any
links present by then. Instead, each part of a path in a folder is opened relative to a descriptor
of the part before, and refused if it is a link. Type and size are read from the opened descriptor,
not from the path.

Hard links and mounts are not links in this sense: a file with two names lies in both folders.
"""

import errno
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Final

from shared.system import MAX_PATH_LENGTH, PASSAGE, open_folder, open_parent, open_part, path_length

Identity = tuple[int, int]
"""Identity of a file or folder, whatever its path: its device and inode number."""

OWN: Final = "is a file of mcp-lucene itself: its configuration, tokens, key, certificate or log"
"""Reason why one of the program's own files is not indexed."""

_STDOUT_AND_STDERR: Final = (1, 2)


def is_folder(path: Path | str) -> bool:
    """Check whether there is an accessible folder, or a link to one, at a path.

    `Path.is_dir` raises an error for a mount whose server is gone, and below a folder that this
    user may not search; this function returns False.
    """
    return os.path.isdir(path)  # noqa: PTH112 - see above


def is_missing(path: Path | str) -> bool:
    """Check whether nothing is at a path; False if unknown, as behind a dead mount."""
    try:
        os.stat(path)  # noqa: PTH116 - takes both kinds of paths
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def identity(path: Path | str) -> Identity | None:
    """Return the identity of a folder; None if it is out of reach."""
    try:
        return identity_of(os.stat(path))  # noqa: PTH116 - takes both kinds of paths
    except OSError:
        return None


def identity_of(status: os.stat_result) -> Identity:
    """Return the identity of the file or folder with a status."""
    return status.st_dev, status.st_ino


@contextmanager
def opened_folder(path: Path | str) -> Iterator[int]:
    """Open a folder for a block, following the links in its path.

    Yields a descriptor of the folder, to open its content.
    """
    descriptor = open_folder(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def lies_in(descriptor: int, folders: Collection[Identity]) -> bool:
    """Check whether an open folder is, or is inside, a folder with one of some identities.

    The system is asked for one parent after the other, so that links and paths do not matter.
    """
    here = os.dup(descriptor)
    try:
        while identity_of(os.fstat(here)) not in folders:
            above = open_parent(here)
            if above is None:
                return False
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


def own_files(paths: Iterable[Path | None]) -> frozenset[Identity]:
    """Return the identities of the program's own files and of those that it prints to.

    Identities recognize the files under any name, in any folder.
    """
    given = {identity(path) for path in paths if path is not None}
    return frozenset({known for known in given if known} | {*_printed_to()})


def _printed_to() -> Iterable[Identity]:
    for descriptor in _STDOUT_AND_STDERR:
        try:
            status = os.fstat(descriptor)
        except OSError:
            # It was closed before the program began.
            continue
        if S_ISREG(status.st_mode):
            yield identity_of(status)


_LINK_REFUSED: Final = "it, or a folder above it, was replaced by a link, which is not followed"


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open a file or a folder beneath a folder.

    The path is relative to the folder, with slashes; "." is the folder itself. The flags are
    `LISTING`, `PASSAGE`, or `READING` of `shared.system`. ``ELOOP`` if it is or contains a link.
    """
    if path.startswith("/") or ".." in path.split("/"):
        raise OSError(errno.EXDEV, "its path leads out of its folder", path)
    try:
        return _open_part_by_part(folder, path, flags)
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
    """Refuse a path that is too long to be opened by the user, to whom a hit shows it."""
    if path_length(folder) + 1 + path_length(path) > MAX_PATH_LENGTH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)


def _open_part_by_part(folder: int, path: str, flags: int) -> int:
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
