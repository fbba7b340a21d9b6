"""One folder put in the place of another."""

import ctypes
import errno
import os
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import Final

_CURRENT_FOLDER: Final = -100
_EXCHANGE: Final = 2
"""``AT_FDCWD`` of fcntl.h and ``RENAME_EXCHANGE`` of linux/fs.h, for renameat2(2)."""

_NOT_SUPPORTED: Final = {errno.EINVAL, errno.ENOSYS}
"""What the call fails with where the kernel or the file system does not know it."""

_NOT_FLUSHED: Final = {errno.EINVAL, errno.EBADF}
"""What fsync(2) of a folder fails with on a file system that writes names by itself."""


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
    replaced = None
    with ExitStack() as undo:
        if not old.exists() or not any(old.iterdir()):
            was_there = old.exists()
            new.replace(old)
            if was_there:
                undo.callback(old.mkdir)
            undo.callback(old.rename, new)
        elif _exchange(new, old):
            undo.callback(_exchange, new, old)
            replaced = new
        else:
            replaced = old.with_name(f".{old.name}.{token_hex(8)}")
            old.rename(replaced)
            undo.callback(replaced.rename, old)
            new.rename(old)
            undo.callback(old.rename, new)
        # Without it a power failure could bring back the name of a folder that is deleted by then.
        flush(old.parent)
        undo.pop_all()
    return replaced


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk.

    Raises:
        OSError: the file system refused.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_FLUSHED or not path.is_dir():
            raise
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
