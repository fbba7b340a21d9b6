"""Pipes of Windows."""

import ctypes
import sys
from ctypes import wintypes
from typing import Final

from shared.system.windows.api import KERNEL, declare

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

_BROKEN_PIPE: Final = 109
"""Error ``ERROR_BROKEN_PIPE``."""

_peek: Final = declare(
    KERNEL,
    "PeekNamedPipe",
    wintypes.BOOL,
    *(wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD),
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
)


def is_broken(handle: int) -> bool:
    """Check whether a pipe is closed at the other end and has no unread data."""
    return not _peek(handle, None, 0, None, None, None) and (
        ctypes.get_last_error() == _BROKEN_PIPE
    )
