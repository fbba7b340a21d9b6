"""Holder of the write lock of an index.

Lucene's `NativeFSLockFactory` locks ``write.lock`` with a POSIX record lock. The file must not be
opened to query the lock, since closing it would release the lock of the calling process (fcntl(2)).
So the kernel's tables of locks (proc_locks(5)) and of mounts (proc_pid_mountinfo(5)) are read. Only
Linux has them; elsewhere the holder is unknown.
"""

import errno
import os
import sys
from pathlib import Path
from typing import Final

from shared.messages import decodable

_LOCKS: Final = Path("/proc/locks")
_MOUNTS: Final = Path("/proc/self/mountinfo")
_DEVICE_COLUMN: Final = 2
_PROCESS_COLUMN: Final = 4
_FILE_COLUMN: Final = 5

_INVISIBLE_PROCESS: Final = (
    "a process that has just ended, or runs in another container or on another machine"
)


def holder(index_path: Path) -> str:
    """Describe the process that holds, or has just held, the write lock of an index.

    The kernel shows only processes of the same machine and container.
    """
    try:
        return writer(index_path) or _INVISIBLE_PROCESS
    except OSError:
        return "an unknown process"


def writer(index_path: Path) -> str | None:
    """Describe the process that holds the write lock of an index; None if it is not locked.

    For example ``process 4711 (idx bulk -j big.json)``.
    """
    file = _identity(index_path / "write.lock")
    for row in (line.split() for line in _LOCKS.read_text().splitlines()):
        # 1: POSIX  ADVISORY  WRITE 4711 08:01:1234567 0 EOF
        if row[1] == "POSIX" and row[_FILE_COLUMN].split(":")[-len(file) :] == file:
            return _describe(int(row[_PROCESS_COLUMN]))
    return None


def _identity(file: Path) -> list[str]:
    """Return the identity of a file in the kernel's table of locks: device and inode, or inode.

    The table has the device of the file system. It equals the device of the file unless a volume
    has subvolumes, as with Btrfs; then no mount has the device of the file, and only the inode is
    returned.
    """
    status = file.stat()
    major, minor = _device(status)
    mounts = (line.split() for line in _MOUNTS.read_text(errors="replace").splitlines())
    if any(mount[_DEVICE_COLUMN] == f"{major}:{minor}" for mount in mounts):
        return [f"{major:02x}", f"{minor:02x}", str(status.st_ino)]
    return [str(status.st_ino)]


def _device(status: os.stat_result) -> tuple[int, int]:
    if sys.platform == "win32":
        raise OSError(errno.ENOSYS, "Windows has no table of locks")
    else:  # noqa: RET506 - mypy knows that one of both is never reached
        return os.major(status.st_dev), os.minor(status.st_dev)


def _describe(process: int) -> str:
    if process == os.getpid():
        return f"this process, {process}"
    import psutil

    try:
        found = psutil.Process(process)
        command = decodable(" ".join(" ".join(found.cmdline()).split())[:200])
        # By Ctrl-Z or ``kill -STOP``, or by a debugger.
        is_suspended = found.status() in {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP}
    # A number below 0 is none of a process.
    except (psutil.Error, ValueError):
        return f"process {process}"
    return f"process {process} ({command}){', which is suspended' if is_suspended else ''}"
