"""Folders and files opened relative to a descriptor of their folder, without following links."""

import os
import sys
from typing import Protocol

if sys.platform == "win32":
    from shared.system.windows.folders import (
        LISTING,
        MAX_PATH_LENGTH,
        PASSAGE,
        READING,
        entries,
        is_hidden,
        open_folder,
        open_parent,
        open_part,
        path_length,
        status_of_part,
    )
else:
    from shared.system.posix.folders import (
        LISTING,
        MAX_PATH_LENGTH,
        PASSAGE,
        READING,
        entries,
        is_hidden,
        open_folder,
        open_parent,
        open_part,
        path_length,
        status_of_part,
    )

__all__ = [
    "LISTING",
    "MAX_PATH_LENGTH",
    "PASSAGE",
    "READING",
    "FolderEntry",
    "entries",
    "is_hidden",
    "open_folder",
    "open_parent",
    "open_part",
    "path_length",
    "status_of_part",
]


class FolderEntry(Protocol):
    """Entry of a listed folder, which must still be open when the entry is examined."""

    @property
    def name(self) -> str:
        """Its name."""

    def is_symlink(self) -> bool:
        """Check whether it is a link, or a junction of Windows."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return its state; only with `follow_symlinks` false on all systems."""
