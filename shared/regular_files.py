"""Reading of small files that somebody else may have put there.

A name in an index folder may be a link out of the folder, or a named pipe that keeps its reader
waiting for ever. Files are opened without following a link and without waiting, and read only if
they are regular files of a bounded size.
"""

import os
import stat
from pathlib import Path
from typing import Final

NOT_REGULAR: Final = "it is not a regular file but a link, a folder, a pipe or a device"


class IrregularFileError(ValueError):
    """A file is not a regular file, or is too large to be what it should be."""


def read_regular(file: Path, max_bytes: int) -> bytes:
    """Read the whole of a small file.

    Args:
        file: the file; its folder may be reached through links, the file itself may not be one.
        max_bytes: the greatest size that is read.

    Raises:
        IrregularFileError: it is a link, a folder, a pipe or a device, or it is larger.
        OSError: it does not exist, or cannot be read.
    """
    if not stat.S_ISREG(file.lstat().st_mode):
        raise IrregularFileError(NOT_REGULAR)
    # It may have been replaced since; O_NONBLOCK returns at once from a pipe nobody writes to.
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IrregularFileError(NOT_REGULAR)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            content = stream.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > max_bytes:
        raise IrregularFileError(f"it is larger than {max_bytes / 1e6:,.0f} MB")
    return content
