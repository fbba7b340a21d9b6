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
import hashlib
import os
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Final

from shared import system
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


def is_lock_file(name: str) -> bool:
    """Check whether a name is that of a file with the user of a document, made while it is open.

    Microsoft Office names it ``~$Report.docx``, LibreOffice ``.~lock.Report.odt#``.
    """
    return name.startswith("~$") or (name.startswith(".~lock.") and name.endswith("#"))


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
def lent(descriptor: int) -> Iterator[int]:
    """Lend an open file or folder to a block, and close it at the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def opened_folder(path: Path | str) -> AbstractContextManager[int]:
    """Open a folder for a block, following the links in its path, to open its content."""
    return lent(open_folder(path))


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
        if stat.S_ISREG(status.st_mode):
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


def opened_beneath(folder: int, path: str, flags: int) -> AbstractContextManager[int]:
    """Open a file or a folder like `open_beneath`, for a block."""
    return lent(open_beneath(folder, path, flags))


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


NOT_REGULAR: Final = "it is not a regular file but a link, a folder, a pipe or a device"


class IrregularFileError(ValueError):
    """A file is not a regular file, or is larger than allowed."""


def read_regular(file: Path, max_bytes: int) -> bytes:
    """Read a small file completely."""
    if not stat.S_ISREG(file.lstat().st_mode):
        raise IrregularFileError(NOT_REGULAR)
    # It may have been replaced since.
    with lent(system.open_file(file, follow_links=False)) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IrregularFileError(NOT_REGULAR)
        return _bounded(descriptor, max_bytes)


def read_of_owner(file: Path, max_bytes: int) -> bytes:
    """Read a small file completely; it may be a link, as its owner may keep the file elsewhere.

    The null device is an empty file.
    """
    with lent(system.open_file(file, follow_links=True)) as descriptor:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if not (stat.S_ISREG(status.st_mode) or system.is_null_device(file, status)):
            raise IrregularFileError("it is not a regular file but a pipe or a device")
        return _bounded(descriptor, max_bytes)


def _bounded(descriptor: int, max_bytes: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise IrregularFileError(f"it is larger than {max_bytes / 1e6:,.0f} MB")
    return content


def content_hash(stream: BufferedReader) -> str:
    """Return the SHA-256 of the bytes of a file, hexadecimal."""
    return hashlib.file_digest(stream, "sha256").hexdigest()


_OWNER_ONLY_FILE: Final = 0o600


def write_private(new: Path, file: Path, content: bytes) -> None:
    """Replace a file that only its owner can read, by way of a new one beside it."""
    # A killed run may have left it behind; a link of this name must not be followed.
    new.unlink(missing_ok=True)
    try:
        private = partial(os.open, mode=_OWNER_ONLY_FILE)
        with open(new, "xb", opener=private) as stream:
            stream.write(content)
        system.replace(new, file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep other programs that change a file in this way waiting for the length of a block.

    The lock is one of the folder of the file, or of the file that a link leads to, which is created
    if it is missing. It leaves nothing behind, and ends with the process.
    """
    parent = Path(os.path.realpath(file)).parent
    parent.mkdir(parents=True, exist_ok=True)
    with system.locked_folder(parent):
        yield


def write_atomically(file: Path, content: bytes) -> None:
    """Replace a file, or the target of a link, and keep its permissions.

    A file that does not exist is created with its folders, for its owner only.
    """
    # Dotfiles are often links; the link is kept.
    target = Path(os.path.realpath(file))
    if target.exists() and not target.is_file():
        # Renaming would put a file in the place of a device, such as /dev/null.
        raise FileExistsError(errno.EEXIST, "it is not a regular file", str(file))
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _OWNER_ONLY_FILE
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        # Closed before it is moved, which Windows demands.
        with os.fdopen(descriptor, "wb") as new:
            new.write(content)
            new.flush()
            system.set_mode(descriptor, mode)
            os.fsync(descriptor)
        system.replace(Path(name), target)
    except BaseException:
        Path(name).unlink()
        raise
