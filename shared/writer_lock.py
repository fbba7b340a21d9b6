"""Who holds the write lock of an index.

Lucene's `NativeFSLockFactory` locks ``write.lock`` with a POSIX record lock, so the kernel can
name the process that holds it (``F_GETLK`` in fcntl(2)).
"""

import fcntl
import os
import struct
from pathlib import Path
from typing import Final

_FLOCK: Final = "hhqqi"
"""`struct flock` on 64-bit Linux: type, whence, start, length, process."""


def holder(index_path: Path) -> str:
    """Describe the process that holds the write lock of an index.

    Returns:
        Words for an error message such as ``process 4711 (idx bulk -j big.json)``. The kernel
        does not report a lock of the calling process, so where it reports none this one is
        named.
    """
    request = struct.pack(_FLOCK, fcntl.F_WRLCK, 0, 0, 0, 0)
    with (index_path / "write.lock").open("r+b") as lock:
        answer = fcntl.fcntl(lock, fcntl.F_GETLK, request)
    lock_type, _, _, _, process = struct.unpack(_FLOCK, answer)
    if lock_type == fcntl.F_UNLCK:
        return f"this process, {os.getpid()}"
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return f"process {process}"
    return f"process {process} ({' '.join(' '.join(words).split())[:200]})"
