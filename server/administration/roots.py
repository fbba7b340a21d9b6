"""The roots: folders under which a client may crawl folders.

A client may be misled by a document, and others may replace folders by links during a crawl.
Therefore all links in a path are resolved, and a root is not the folder at a path but the folder
that was there when the server started, identified by its device and inode numbers. `idx` receives
these identities and reads nothing outside them, whatever its paths lead to by then.
"""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.answers.errors import (
    DirectoryError,
    OutsideRootsError,
    RootReplacedError,
)
from server.settings import ServerOptionError
from shared.files.access import Identity, identity_of, lies_in, opened_folder
from shared.messages import reason_of

_BEGINNING: Final = "a drive such as C:\\" if sys.platform == "win32" else "/"


@dataclass(frozen=True)
class Roots:
    """The roots, absolute and with links resolved at the start of the server."""

    folders: tuple[Path, ...]
    identities: frozenset[Identity]

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> "Roots":
        """Resolve the roots given to the server."""
        folders = []
        identities = []
        for path in paths:
            try:
                folder = path.resolve(strict=True)
            except (OSError, RuntimeError, ValueError) as error:
                raise ServerOptionError(f"--root: there is no folder {path}") from error
            try:
                with opened_folder(folder) as descriptor:
                    identities.append(identity_of(os.fstat(descriptor)))
            except OSError as error:
                raise ServerOptionError(f"--root: {path} is not a folder") from error
            folders.append(folder)
        return cls(tuple(dict.fromkeys(folders)), frozenset(identities))

    @property
    def options(self) -> list[str]:
        """Options that restrict `idx sync` to the roots."""
        return [f"--only-in={device}:{inode}" for device, inode in sorted(self.identities)]

    def resolve(self, path: str) -> Path:
        """Return the folder that a path leads to, which need not exist."""
        if not os.path.isabs(path):  # noqa: PTH117 - text of a client
            raise DirectoryError(path, f"is not an absolute path, which begins with {_BEGINNING}")
        try:
            resolved = os.path.realpath(path)
            # Of a link to itself, the part of the path after it stays unresolved.
            is_resolved = os.path.realpath(resolved) == resolved
        except (OSError, ValueError) as error:
            raise DirectoryError(path, "is not a valid path") from error
        folder = Path(resolved)
        if not is_resolved or not any(folder.is_relative_to(root) for root in self.folders):
            raise OutsideRootsError(path, self.folders)
        return folder

    def resolve_existing(self, path: str) -> Path:
        """Return the folder that a path leads to, which must exist."""
        folder = self.resolve(path)
        try:
            with opened_folder(folder) as descriptor:
                is_in_root = lies_in(descriptor, self.identities)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DirectoryError(path, "does not exist, or is not a folder") from error
        except OSError as error:
            raise DirectoryError(path, f"cannot be read: {reason_of(error)}") from error
        if not is_in_root:
            raise RootReplacedError(path)
        return folder

    def contain(self, path: str) -> bool:
        """Check whether a path leads to a place under the roots."""
        try:
            self.resolve(path)
        except DirectoryError:
            return False
        return True
