"""Reparse points of Windows: entries whose content the system gets from elsewhere."""

import ctypes
import sys
from ctypes import wintypes
from typing import Final

from shared.system.reparse_tags import is_link_tag
from shared.system.windows.api import KERNEL, declare, last_error

if sys.platform != "win32":
    raise ImportError("shared.system.posix has the calls of other systems")

_FILE_ATTRIBUTE_TAG_INFO: Final = 9
"""Constant ``FileAttributeTagInfo`` of minwinbase.h."""

REPARSE_POINT: Final = 0x400
"""Attribute ``FILE_ATTRIBUTE_REPARSE_POINT``."""

INFORMATION: Final = declare(
    KERNEL,
    "GetFileInformationByHandleEx",
    wintypes.BOOL,
    *(wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD),
)
"""GetFileInformationByHandleEx of kernel32."""


class _AttributeTag(ctypes.Structure):
    """Structure ``FILE_ATTRIBUTE_TAG_INFO``."""

    _fields_ = (("attributes", wintypes.DWORD), ("tag", wintypes.DWORD))


def reparse_tag(handle: int) -> int:
    """Return the tag of an open reparse point, or 0 if it is none.

    Raises:
        OSError: the file system does not say.
    """
    found = _AttributeTag()
    if not INFORMATION(handle, _FILE_ATTRIBUTE_TAG_INFO, ctypes.byref(found), ctypes.sizeof(found)):
        raise last_error()
    return found.tag if found.attributes & REPARSE_POINT else 0


def is_link(handle: int) -> bool:
    """Check whether an open reparse point is a link or a junction.

    Raises:
        OSError: the file system does not say.
    """
    return is_link_tag(reparse_tag(handle))
