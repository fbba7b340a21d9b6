"""Files and folders of Windows; `shared.system.posix` says what is not described here.

A descriptor here is one of the C runtime around a handle, so that `os.fstat`, `os.dup` and
`os.close` work as elsewhere. Paths are passed on in the form that knows no reserved names such as
``aux.txt``, no trailing dots, and no limit of 260 characters.
"""

import ctypes
import errno
import hashlib
import msvcrt
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import wintypes
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from shared.system.windows_paths import extended, is_link_tag

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

_KERNEL: Final = ctypes.WinDLL("kernel32", use_last_error=True)


def declare(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of kernel32 with its types."""
    function = getattr(_KERNEL, name)
    function.restype = result
    function.argtypes = arguments
    return function


def last_error(path: str | None = None) -> OSError:
    """Return the error of the last call of `_KERNEL`, of its specific class."""
    code = ctypes.get_last_error()
    return OSError(None, ctypes.FormatError(code).strip(), path, code)


_close_handle: Final = declare("CloseHandle", wintypes.BOOL, wintypes.HANDLE)

# Files, and names on the disk

_IN_USE: Final = (5, 32, 33)
"""Codes of Windows for files that another program has open, such as a scanner for viruses:
``ERROR_ACCESS_DENIED``, ``ERROR_SHARING_VIOLATION`` and ``ERROR_LOCK_VIOLATION``."""

_FIRST_DELAY_SECONDS: Final = 0.01
_MAX_DELAYS: Final = 8
"""Number of delays between attempts to change such a file, each twice as long: 2.5 s in all."""

_FOREVER: Final = 0xFFFF_FFFF

_create_mutex: Final = declare(
    "CreateMutexW", wintypes.HANDLE, ctypes.c_void_p, wintypes.BOOL, wintypes.LPCWSTR
)
_wait: Final = declare("WaitForSingleObject", wintypes.DWORD, wintypes.HANDLE, wintypes.DWORD)
_release: Final = declare("ReleaseMutex", wintypes.BOOL, wintypes.HANDLE)


def open_file(path: Path, *, follow_links: bool) -> int:
    """Open a file for reading, so that other programs may replace it meanwhile."""
    descriptor, tag = _opened(str(path), READING, follow_links=follow_links)
    if is_link_tag(tag):
        os.close(descriptor)
        raise _is_link(str(path))
    return descriptor


def open_shared(file: Path) -> BufferedReader:
    """Open a file for reading that others may delete meanwhile, unlike one that Python opens."""
    return os.fdopen(open_file(file, follow_links=True), "rb")


def is_null_device(file: Path, status: os.stat_result) -> bool:
    """Check whether an open file is the null device; others, such as ``CON``, look alike."""
    return stat.S_ISCHR(status.st_mode) and file.name.casefold() == os.devnull


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a mutex named after a folder for a block, since Windows has no locks of folders."""
    name = os.path.normcase(os.path.realpath(folder))
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    mutex = _create_mutex(None, False, f"Global\\mcp-lucene-{digest}")
    if not mutex:
        # The mutex is another user's; two changes at a time are as rare there.
        yield
        return
    try:
        _wait(mutex, _FOREVER)
        yield
        _release(mutex)
    finally:
        # This also releases it, for the thread that waits next.
        _close_handle(mutex)


def lock(descriptor: int) -> bool:
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        # Wine gives no reason.
        return False
    return True


def link(path: Path, target: Path) -> None:
    # Symbolic links are a privilege on Windows, so this is a hard link, or on another disk a copy.
    try:
        path.hardlink_to(target)
    except OSError:
        shutil.copyfile(target, path)


def set_mode(_descriptor: int, _mode: int) -> None:
    """Do nothing: a file gets the permissions of its folder."""


def others_may_read(_status: os.stat_result) -> bool:
    """Return False: the state of a file does not show its permissions on Windows."""
    return False


def replace(source: Path, target: Path) -> None:
    """Fail if a program has the file open for longer than 2.5 s, as the next functions do."""
    _patiently(lambda: source.replace(target))


def delete(file: Path) -> None:
    _patiently(file.unlink)


def move_folder(source: Path, target: Path) -> None:
    was_there = target.exists()
    if was_there:
        _patiently(target.rmdir)
    try:
        _patiently(lambda: source.rename(target))
    except OSError:
        if was_there:
            target.mkdir()
        raise


def _patiently(change: Callable[[], object]) -> None:
    """Try a change again for a while if another program has the file open."""
    for attempt in range(_MAX_DELAYS):
        try:
            change()
        except PermissionError as error:
            if error.winerror not in _IN_USE:
                raise
            time.sleep(_FIRST_DELAY_SECONDS * 2**attempt)
        else:
            return
    change()


def flush(path: Path) -> None:
    """Write a file to the disk; the names in a folder are in the journal of the file system."""
    if path.is_dir():
        return
    # Only a file that may be written can be flushed.
    descriptor = os.open(path, os.O_RDWR | os.O_BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Folders and files opened in an open folder. Windows opens by path, so what was opened is asked for
# its own path afterwards, in which there are no links.

_FOLDER: Final = 1 << 32
"""Flag of this module, above the rights of Windows: only a folder is opened."""

_ATTRIBUTES: Final = 0x0010_0080
"""Rights ``FILE_READ_ATTRIBUTES`` and ``SYNCHRONIZE``."""

PASSAGE: Final = _FOLDER | _ATTRIBUTES | 0x20
"""Flags that open a folder to reach its content; ``FILE_TRAVERSE``, without the right to list."""

LISTING: Final = PASSAGE | 0x1
"""Flags for opening a folder to list it; ``FILE_LIST_DIRECTORY``."""

READING: Final = 0x0012_0089
"""Flags for opening a file to read it; ``FILE_GENERIC_READ``."""

MAX_PATH_LENGTH: Final = 32_767
"""Maximum length of a path for the system, in units of UTF-16."""

_SHARED: Final = 7
"""Shares ``FILE_SHARE_READ``, ``_WRITE`` and ``_DELETE``: no other program is disturbed."""

_OPEN_EXISTING: Final = 3
_BACKUP_SEMANTICS: Final = 0x0200_0000
_OPEN_REPARSE_POINT: Final = 0x0020_0000
"""Disposition and flags of CreateFileW; the first flag is necessary for folders."""

_INVALID_HANDLE: Final = wintypes.HANDLE(-1).value

_LOCKED: Final = frozenset({32, 33})
"""Errors ``ERROR_SHARING_VIOLATION`` and ``ERROR_LOCK_VIOLATION``."""

_DELETE_PENDING: Final = 0xC000_0056
"""Status ``STATUS_DELETE_PENDING``, which Win32 reports as a lack of permission: the name stays
until the last program that has the file open closes it."""

_FILE_ATTRIBUTE_TAG_INFO: Final = 9
"""Constant ``FileAttributeTagInfo`` of minwinbase.h."""

_HIDDEN: Final = stat.FILE_ATTRIBUTE_HIDDEN | stat.FILE_ATTRIBUTE_SYSTEM


class _AttributeTag(ctypes.Structure):
    """Structure ``FILE_ATTRIBUTE_TAG_INFO``."""

    _fields_ = (("attributes", wintypes.DWORD), ("tag", wintypes.DWORD))


_last_status: Final = ctypes.WinDLL("ntdll").RtlGetLastNtStatus
_last_status.restype = ctypes.c_long
_create_file: Final = declare(
    "CreateFileW",
    wintypes.HANDLE,
    *(wintypes.LPCWSTR, wintypes.DWORD, wintypes.DWORD, ctypes.c_void_p),
    *(wintypes.DWORD, wintypes.DWORD, wintypes.HANDLE),
)
_final_path: Final = declare(
    "GetFinalPathNameByHandleW",
    wintypes.DWORD,
    *(wintypes.HANDLE, wintypes.LPWSTR, wintypes.DWORD, wintypes.DWORD),
)
_information: Final = declare(
    "GetFileInformationByHandleEx",
    wintypes.BOOL,
    *(wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD),
)


def path_length(path: Path | str) -> int:
    return len(str(path).encode("utf-16-le", "surrogatepass")) // 2


def open_folder(path: Path | str) -> int:
    descriptor, _ = _opened(str(path), PASSAGE, follow_links=True)
    return descriptor


def open_part(folder: int, name: str, flags: int) -> int:
    """Refuse a junction like a link, and a file that a program keeps to itself, too."""
    # A colon would name a stream of the file, and a separator another folder.
    if set(name) & set("\\/:\0") or name == "..":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    above = _path_of(folder)
    path = above if name == "." else above.rstrip("\\") + "\\" + name
    descriptor, tag = _opened(path, flags, follow_links=False)
    try:
        _check_place(descriptor, above, name)
        if is_link_tag(tag):
            raise _is_link(name)
        if not tag:
            return os.dup(descriptor)
        # A file of OneDrive or the like is opened again, so that the system provides its content.
        again, _ = _opened(path, flags, follow_links=True)
        if not os.path.sameopenfile(descriptor, again):
            os.close(again)
            raise _is_link(name)
        return again
    finally:
        os.close(descriptor)


def _check_place(descriptor: int, above: str, name: str) -> None:
    """Refuse what was reached through a link that took the place of a folder above it."""
    found = _path_of(descriptor)
    place = found if name == "." else found.rpartition("\\")[0]
    if place.rstrip("\\") != above.rstrip("\\"):
        raise _is_link(name)


def open_parent(folder: int) -> int | None:
    """Open the folder that contains an open folder; None if that is the root of a volume.

    A folder whose content is open cannot be moved meanwhile.
    """
    here = Path(_path_of(folder))
    if here.parent == here:
        return None
    descriptor, tag = _opened(str(here.parent), PASSAGE, follow_links=False)
    if is_link_tag(tag):
        os.close(descriptor)
        raise _is_link(str(here.parent))
    return descriptor


def status_of_part(folder: int, name: str) -> os.stat_result:
    # A link has no state here, and is an error.
    descriptor = open_part(folder, name, _ATTRIBUTES)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Entry of a listed folder; see `shared.system.FolderEntry`."""

    folder: int
    name: str
    tag: int

    def is_symlink(self) -> bool:
        return is_link_tag(self.tag)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002 - see above
        return status_of_part(self.folder, self.name)


def entries(folder: int) -> list[_Entry]:
    path = _path_of(folder)
    with os.scandir(path) as listing:
        found = [
            _Entry(folder, entry.name, entry.stat(follow_symlinks=False).st_reparse_tag)
            for entry in listing
        ]
    if _path_of(folder) != path:
        raise _is_link(path)
    return found


def is_hidden(name: str, status: os.stat_result) -> bool:
    """Check whether an entry is hidden: by its name as elsewhere, or by its attributes."""
    return name.startswith(".") or bool(status.st_file_attributes & _HIDDEN)


def _opened(path: str, flags: int, *, follow_links: bool) -> tuple[int, int]:
    """Open a path; returns a descriptor and the tag of a reparse point that was not followed."""
    options = _BACKUP_SEMANTICS | (0 if follow_links else _OPEN_REPARSE_POINT)
    handle = _create_file(
        extended(path), flags & ~_FOLDER, _SHARED, None, _OPEN_EXISTING, options, None
    )
    if handle == _INVALID_HANDLE:
        is_going = _last_status() & 0xFFFF_FFFF == _DELETE_PENDING
        error = last_error(path)
        if is_going:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if error.winerror in _LOCKED:
            raise BlockingIOError(errno.EAGAIN, "another program keeps it locked", path)
        raise error
    try:
        descriptor = msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)
    except BaseException:
        _close_handle(handle)
        raise
    try:
        tag = 0 if follow_links else _reparse_tag(handle)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    if flags & _FOLDER and not is_folder and not is_link_tag(tag):
        os.close(descriptor)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return descriptor, tag


def _reparse_tag(handle: int) -> int:
    found = _AttributeTag()
    size = ctypes.sizeof(found)
    if not _information(handle, _FILE_ATTRIBUTE_TAG_INFO, ctypes.byref(found), size):
        raise last_error()
    return found.tag if found.attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT else 0


def _path_of(descriptor: int) -> str:
    """Return the path of an open file or folder, which has no links."""
    text = ctypes.create_unicode_buffer(MAX_PATH_LENGTH + 1)
    length = _final_path(msvcrt.get_osfhandle(descriptor), text, len(text), 0)
    if not 0 < length < len(text):
        raise last_error()
    return text.value


def _is_link(path: str) -> OSError:
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
