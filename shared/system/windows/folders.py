"""Folders and files opened relative to a handle of their folder (NtCreateFile).

A descriptor here is one of the C runtime around a handle, so that `os.fstat`, `os.dup` and
`os.close` work as elsewhere. Names are passed to the kernel as they are: it knows no reserved names
such as ``aux.txt``, no trailing dots, and no limit of 260 characters.
"""

import ctypes
import errno
import msvcrt
import os
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import wintypes
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.system.reparse_tags import is_link_tag
from shared.system.windows.api import (
    INVALID_HANDLE,
    KERNEL,
    NTDLL,
    close_handle,
    declare,
    error_of,
    last_error,
)
from shared.system.windows.links import INFORMATION, REPARSE_POINT, is_link, reparse_tag
from shared.system.windows.paths import extended

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

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

_NT_OPEN: Final = 1
_NT_DIRECTORY_FILE: Final = 0x1
_NT_SYNCHRONOUS: Final = 0x20
"""Disposition and options of NtCreateFile; ``FILE_OPEN_REPARSE_POINT`` equals the flag above."""

_CASE_INSENSITIVE: Final = 0x40

_DELETE_PENDING: Final = 0xC000_0056
"""Status ``STATUS_DELETE_PENDING``, which Win32 reports as a lack of permission."""

_SHARING_VIOLATION: Final = 32
_LOCK_VIOLATION: Final = 33
_ENDS: Final = frozenset({2, 18})
"""Errors at the end of a listing: ``ERROR_FILE_NOT_FOUND`` of an empty one, and
``ERROR_NO_MORE_FILES``."""

_ID_BOTH_DIRECTORY: Final = 10
"""Constant ``FileIdBothDirectoryInfo`` of minwinbase.h."""

_ENTRY: Final = struct.Struct("<II48xIII")
"""Offset of the next entry, index, times and sizes, attributes, length of the name, and the tag of
a reparse point, in the structure ``FILE_ID_BOTH_DIR_INFO``."""

_NAME_OFFSET: Final = 104

_LISTING_BYTES: Final = 65_536

_HIDDEN: Final = stat.FILE_ATTRIBUTE_HIDDEN | stat.FILE_ATTRIBUTE_SYSTEM


class _Text(ctypes.Structure):
    """Structure ``UNICODE_STRING``."""

    _fields_ = (
        ("length", wintypes.USHORT),
        ("maximum", wintypes.USHORT),
        ("buffer", ctypes.c_void_p),
    )


class _Attributes(ctypes.Structure):
    """Structure ``OBJECT_ATTRIBUTES``."""

    _fields_ = (
        ("length", wintypes.ULONG),
        ("root", wintypes.HANDLE),
        ("name", ctypes.POINTER(_Text)),
        ("attributes", wintypes.ULONG),
        ("security", ctypes.c_void_p),
        ("quality", ctypes.c_void_p),
    )


class _Status(ctypes.Structure):
    """Structure ``IO_STATUS_BLOCK``."""

    _fields_ = (("status", ctypes.c_void_p), ("information", ctypes.c_void_p))


_nt_create_file: Final = declare(
    NTDLL,
    "NtCreateFile",
    ctypes.c_long,
    *(ctypes.POINTER(wintypes.HANDLE), wintypes.DWORD, ctypes.POINTER(_Attributes)),
    *(ctypes.POINTER(_Status), ctypes.c_void_p, wintypes.ULONG, wintypes.ULONG),
    *(wintypes.ULONG, wintypes.ULONG, ctypes.c_void_p, wintypes.ULONG),
)
_code_of_status: Final = declare(NTDLL, "RtlNtStatusToDosError", wintypes.ULONG, ctypes.c_long)
_last_status: Final = declare(NTDLL, "RtlGetLastNtStatus", ctypes.c_long)
_create_file: Final = declare(
    KERNEL,
    "CreateFileW",
    wintypes.HANDLE,
    *(wintypes.LPCWSTR, wintypes.DWORD, wintypes.DWORD, ctypes.c_void_p),
    *(wintypes.DWORD, wintypes.DWORD, wintypes.HANDLE),
)
_final_path: Final = declare(
    KERNEL,
    "GetFinalPathNameByHandleW",
    wintypes.DWORD,
    *(wintypes.HANDLE, wintypes.LPWSTR, wintypes.DWORD, wintypes.DWORD),
)


def path_length(path: Path | str) -> int:
    """Return the length of a path in the unit of `MAX_PATH_LENGTH`."""
    return len(str(path).encode("utf-16-le", "surrogatepass")) // 2


def open_folder(path: Path | str) -> int:
    """Open a folder to reach its content, following the links in its path.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened.
    """
    return open_path(path, PASSAGE)


def open_path(path: Path | str, flags: int, *, follow_links: bool = True) -> int:
    """Open a file or a folder by its path.

    Args:
        path: its path.
        flags: as for `open_part`.
        follow_links: false to refuse a link at the end of the path.

    Raises:
        OSError: it cannot be opened; ``ELOOP`` if it is a link that is not followed.
    """
    options = _BACKUP_SEMANTICS | (0 if follow_links else _OPEN_REPARSE_POINT)
    handle = _create_file(
        extended(path), flags & ~_FOLDER, _SHARED, None, _OPEN_EXISTING, options, None
    )
    if handle == INVALID_HANDLE:
        status = _last_status() & 0xFFFF_FFFF
        raise _specific(last_error(str(path)), status)
    with _closed_on_error(handle):
        if not follow_links and is_link(handle):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    descriptor = _descriptor(handle)
    if flags & _FOLDER and not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return descriptor


def open_part(folder: int, name: str, flags: int) -> int:
    """Open an entry of an open folder, or with "." the folder itself.

    Args:
        folder: a descriptor of the folder.
        name: the name of the entry.
        flags: `LISTING`, `PASSAGE`, or `READING`.

    Returns:
        A descriptor, which the caller must close.

    Raises:
        OSError: it cannot be opened; ``ELOOP`` if it is a link or a junction, and `BlockingIOError`
            if another program keeps it to itself.
    """
    handle = _open(folder, name, flags, _OPEN_REPARSE_POINT)
    with _closed_on_error(handle):
        tag = reparse_tag(handle)
        if is_link_tag(tag):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    descriptor = _descriptor(handle)
    return _reopened(folder, name, flags, descriptor) if tag else descriptor


def _reopened(folder: int, name: str, flags: int, seen: int) -> int:
    """Open a file of OneDrive or the like again, so that the system provides its content.

    Raises:
        OSError: it cannot be opened, or was replaced meanwhile, perhaps by a link.
    """
    try:
        descriptor = _descriptor(_open(folder, name, flags, 0))
        if not os.path.sameopenfile(seen, descriptor):
            os.close(descriptor)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    finally:
        os.close(seen)
    return descriptor


def open_parent(folder: int) -> int | None:
    """Open the folder that contains an open folder.

    Windows has no entry for it, so its path is used, which has no links; a folder whose content is
    open cannot be moved meanwhile.

    Returns:
        A descriptor, which the caller must close; None if the folder is the root of a volume.

    Raises:
        OSError: it cannot be opened.
    """
    text = ctypes.create_unicode_buffer(MAX_PATH_LENGTH + 1)
    length = _final_path(msvcrt.get_osfhandle(folder), text, len(text), 0)
    if not 0 < length < len(text):
        raise last_error()
    here = Path(text.value)
    if here.parent == here:
        return None
    return open_path(here.parent, PASSAGE, follow_links=False)


def status_of_part(folder: int, name: str) -> os.stat_result:
    """Return the state of an entry of an open folder, or with "." of the folder itself.

    Raises:
        OSError: it does not exist, or it is a link, which has no state here.
    """
    descriptor = open_part(folder, name, _ATTRIBUTES)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Entry of a listed folder; see `shared.system.folders.FolderEntry`."""

    folder: int
    name: str
    tag: int

    def is_symlink(self) -> bool:
        """Check whether it is a link or a junction."""
        return is_link_tag(self.tag)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002 - see above
        """Return its state."""
        return status_of_part(self.folder, self.name)


def entries(folder: int) -> list[_Entry]:
    """List a folder that was opened with `LISTING`.

    Raises:
        OSError: it cannot be listed.
    """
    handle = msvcrt.get_osfhandle(folder)
    block = ctypes.create_string_buffer(_LISTING_BYTES)
    found: list[_Entry] = []
    while INFORMATION(handle, _ID_BOTH_DIRECTORY, block, _LISTING_BYTES):
        found += [_Entry(folder, name, tag) for name, tag in _names(block.raw)]
    if ctypes.get_last_error() not in _ENDS:
        raise last_error()
    return found


def _names(block: bytes) -> Iterator[tuple[str, int]]:
    """Yield the name of each entry in a block, and the tag of a reparse point or 0."""
    start = 0
    while True:
        step, _, attributes, length, tag = _ENTRY.unpack_from(block, start)
        first = start + _NAME_OFFSET
        name = block[first : first + length].decode("utf-16-le", "surrogatepass")
        if name not in (".", ".."):
            yield name, tag if attributes & REPARSE_POINT else 0
        if not step:
            return
        start += step


def is_hidden(name: str, status: os.stat_result) -> bool:
    """Check whether an entry is hidden: by its name as elsewhere, or by its attributes."""
    return name.startswith(".") or bool(status.st_file_attributes & _HIDDEN)


def _open(folder: int, name: str, flags: int, options: int) -> int:
    """Return a handle of an entry of an open folder."""
    # A colon would name a stream of the file, and a separator another folder.
    if set(name) & set("\\/:\0"):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    # The empty name is the folder itself.
    data = ("" if name == "." else name).encode("utf-16-le", "surrogatepass")
    characters = ctypes.create_string_buffer(data)
    text = _Text(len(data), len(data), ctypes.addressof(characters))
    attributes = _Attributes(
        ctypes.sizeof(_Attributes),
        msvcrt.get_osfhandle(folder),
        ctypes.pointer(text),
        _CASE_INSENSITIVE,
        None,
        None,
    )
    handle = wintypes.HANDLE()
    status = _nt_create_file(
        ctypes.byref(handle),
        flags & ~_FOLDER,
        ctypes.byref(attributes),
        ctypes.byref(_Status()),
        None,
        0,
        _SHARED,
        _NT_OPEN,
        options | _NT_SYNCHRONOUS | (_NT_DIRECTORY_FILE if flags & _FOLDER else 0),
        None,
        0,
    )
    if status < 0 or handle.value is None:
        raise _specific(error_of(_code_of_status(status), name), status & 0xFFFF_FFFF)
    return handle.value


def _specific(error: OSError, status: int) -> OSError:
    if status == _DELETE_PENDING:
        # Its name stays until the last program that has it open closes it.
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), error.filename)
    if error.winerror in (_SHARING_VIOLATION, _LOCK_VIOLATION):
        return BlockingIOError(errno.EAGAIN, "another program keeps it locked", error.filename)
    return error


def _descriptor(handle: int) -> int:
    with _closed_on_error(handle):
        return msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)


@contextmanager
def _closed_on_error(handle: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        close_handle(handle)
        raise
