"""Paths of Windows in the form that has no limit of 260 characters and no reserved names."""

import ntpath
from pathlib import PurePath
from typing import Final

_EXTENDED: Final = "\\\\?\\"
_DEVICE: Final = "\\\\.\\"
_SHARE: Final = "\\\\"


def extended(path: PurePath | str) -> str:
    r"""Return an absolute path with the prefix ``\\?\``, under which Windows takes it literally.

    A device such as ``NUL``, for which Windows has a path of its own, keeps that.
    """
    absolute = ntpath.abspath(path)
    if absolute.startswith((_EXTENDED, _DEVICE)):
        return absolute
    if absolute.startswith(_SHARE):
        return f"{_EXTENDED}UNC\\{absolute.removeprefix(_SHARE)}"
    return _EXTENDED + absolute
