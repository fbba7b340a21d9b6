"""Paths of Windows, and the marks of entries that lead elsewhere; importable on all systems."""

import ntpath
from pathlib import PurePath
from typing import Final

_EXTENDED: Final = "\\\\?\\"
_DEVICE: Final = "\\\\.\\"
_SHARE: Final = "\\\\"

_NAME_SURROGATE: Final = 0x2000_0000
"""Bit of the tag of a reparse point that stands for another path, such as a symbolic link or a
junction; the entries of OneDrive, deduplicated and compressed files lack it (winnt.h,
IsReparseTagNameSurrogate)."""

_LINKS_WITHOUT_THE_BIT: Final = frozenset({0x8000_001B})
"""Tag of an app execution alias, which stands for a program elsewhere."""


def extended(path: PurePath | str) -> str:
    r"""Return an absolute path with the prefix ``\\?\``, under which Windows takes it literally.

    Then there is no limit of 260 characters and no reserved name. A device such as ``NUL``, for
    which Windows has a path of its own, keeps that.
    """
    # Windows would take the dot from the end of a name even here.
    if str(path).startswith(_EXTENDED):
        return str(path)
    absolute = ntpath.abspath(path)
    if absolute.startswith(_DEVICE):
        return absolute
    if absolute.startswith(_SHARE):
        return f"{_EXTENDED}UNC\\{absolute.removeprefix(_SHARE)}"
    return _EXTENDED + absolute


def is_link_tag(tag: int) -> bool:
    """Check whether the tag of a reparse point, or 0, belongs to an entry for another path."""
    return bool(tag & _NAME_SURROGATE) or tag in _LINKS_WITHOUT_THE_BIT
