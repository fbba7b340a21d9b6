"""Functions and structures of Windows, as ctypes calls them."""

import ctypes
import sys
from ctypes import wintypes
from typing import Any, Final

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

KERNEL: Final = ctypes.WinDLL("kernel32", use_last_error=True)
NTDLL: Final = ctypes.WinDLL("ntdll")

INVALID_HANDLE: Final = wintypes.HANDLE(-1).value


def declare(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of a library with its types."""
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


def last_error(path: str | None = None) -> OSError:
    """Return the error of the last call of `KERNEL`, of its specific class."""
    return error_of(ctypes.get_last_error(), path)


def error_of(code: int, path: str | None = None) -> OSError:
    """Return the error with a code of Windows (winerror.h)."""
    return OSError(None, ctypes.FormatError(code).strip(), path, code)


close_handle: Final = declare(KERNEL, "CloseHandle", wintypes.BOOL, wintypes.HANDLE)
