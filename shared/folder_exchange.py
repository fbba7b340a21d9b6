"""One folder put in the place of another."""

import ctypes
import errno
import os
import tempfile
from pathlib import Path
from typing import Final

_CURRENT_FOLDER: Final = -100
_EXCHANGE: Final = 2
"""``AT_FDCWD`` of fcntl.h and ``RENAME_EXCHANGE`` of linux/fs.h, for renameat2(2)."""

_NOT_SUPPORTED: Final = {errno.EINVAL, errno.ENOSYS}
"""What the call fails with where the kernel or the file system does not know it."""


def replace_folder(new: Path, old: Path) -> Path | None:
    """Have a folder take the path of another one, or of none.

    Whoever looks at the path sees the one or the other; only on a file system that cannot
    exchange names nothing is there for a moment.

    Args:
        new: the folder, on the same file system.
        old: the path it takes.

    Returns:
        Where the folder is now that had the path; None if there was none, or an empty one.

    Raises:
        OSError: the file system refused; both are where they were.
    """
    if not old.exists() or not any(old.iterdir()):
        new.replace(old)
        replaced = None
    elif _exchange(new, old):
        replaced = new
    else:
        replaced = Path(tempfile.mkdtemp(prefix=f".{old.name}.", dir=old.parent))
        old.replace(replaced)
        try:
            new.replace(old)
        except BaseException:
            replaced.replace(old)
            raise
    flush(old.parent)
    return replaced


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk.

    Raises:
        OSError: the file system refused.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders; False if that is not supported here."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = (os.fsencode(one), _CURRENT_FOLDER, os.fsencode(other))
    if renameat2(_CURRENT_FOLDER, *names, _EXCHANGE) == 0:
        return True
    error = ctypes.get_errno()
    if error in _NOT_SUPPORTED:
        return False
    raise OSError(error, os.strerror(error), str(other))
