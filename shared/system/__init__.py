"""Calls of the operating system that differ between Linux, macOS and Windows, under one name each.

docs/platforms.md says how the systems differ. Nothing else imports these modules by name.
"""

import os
import sys
from typing import Protocol

if sys.platform == "win32":
    from shared.system.windows import *  # noqa: F403 - the same names as below
    from shared.system.windows_files import *  # noqa: F403 - those of files
else:
    from shared.system.posix import *  # noqa: F403 - all names without an underscore


class FolderEntry(Protocol):
    """Entry of a listed folder, which must still be open when the entry is examined."""

    @property
    def name(self) -> str: ...

    def is_symlink(self) -> bool:
        """Check whether it is a link, or a junction of Windows."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return its state; only with `follow_symlinks` false on all systems."""
