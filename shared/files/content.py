"""Contents of files: regular files only, hashes, and atomic writes."""

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final

from shared import system

NOT_REGULAR: Final = "it is not a regular file but a link, a folder, a pipe or a device"


class IrregularFileError(ValueError):
    """A file is not a regular file, or is larger than allowed."""


def read_regular(file: Path, max_bytes: int) -> bytes:
    """Read a small file completely."""
    if not stat.S_ISREG(file.lstat().st_mode):
        raise IrregularFileError(NOT_REGULAR)
    # It may have been replaced since.
    with _opened(file, follow_links=False) as (descriptor, status):
        if not stat.S_ISREG(status.st_mode):
            raise IrregularFileError(NOT_REGULAR)
        return _bounded(descriptor, max_bytes)


def read_of_owner(file: Path, max_bytes: int) -> bytes:
    """Read a small file completely; it may be a link, as its owner may keep the file elsewhere.

    The null device is an empty file.
    """
    with _opened(file, follow_links=True) as (descriptor, status):
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if not (stat.S_ISREG(status.st_mode) or system.is_null_device(file, status)):
            raise IrregularFileError("it is not a regular file but a pipe or a device")
        return _bounded(descriptor, max_bytes)


@contextmanager
def _opened(file: Path, *, follow_links: bool) -> Iterator[tuple[int, os.stat_result]]:
    descriptor = system.open_file(file, follow_links=follow_links)
    try:
        yield descriptor, os.fstat(descriptor)
    finally:
        os.close(descriptor)


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
        with open(new, "xb", opener=_open_private) as stream:
            stream.write(content)
        system.replace(new, file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=_OWNER_ONLY_FILE)


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
