"""The folders under which a client may have folders crawled.

A client may be led by a document that it read. So a path counts only with all links in it
resolved, and it is the resolved one that `idx` is given: a link that leads elsewhere a moment
later changes nothing. Only a remembered folder is given as it is remembered, since its patterns
and its documents are those of that path: whoever may change a link in it, which no client can,
decides where it leads.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from server.administration.errors import DirectoryError, OutsideRootsError
from shared.errors import ServerOptionError


@dataclass(frozen=True)
class Roots:
    """Folders, absolute and with links resolved when the server started."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "Roots":
        """Resolve the folders that the server was given.

        Raises:
            ServerOptionError: one of them is no folder.
        """
        folders = []
        for path in paths:
            try:
                folder = path.resolve(strict=True)
            except (OSError, RuntimeError, ValueError) as error:
                raise ServerOptionError(f"--root: there is no folder {path}") from error
            if not folder.is_dir():
                raise ServerOptionError(f"--root: {path} is not a folder")
            folders.append(folder)
        return cls(tuple(dict.fromkeys(folders)))

    def resolve(self, path: str) -> Path:
        """The folder that a path leads to, which need not exist.

        Args:
            path: as a client or the configuration names it.

        Raises:
            DirectoryError: it is no absolute path.
            OutsideRootsError: the folder does not lie under the roots.
        """
        if not path.startswith("/"):
            raise DirectoryError(path, "is not an absolute path, which begins with /")
        try:
            resolved = os.path.realpath(path)
            # Of a link that leads to itself nothing behind it is resolved.
            is_resolved = os.path.realpath(resolved) == resolved
        except (OSError, ValueError) as error:
            raise DirectoryError(path, "is not a valid path") from error
        folder = Path(resolved)
        if not is_resolved or not any(folder.is_relative_to(root) for root in self.folders):
            raise OutsideRootsError(path, self.folders)
        return folder

    def resolve_existing(self, path: str) -> Path:
        """The same for a folder that must exist.

        Raises:
            DirectoryError: it does not, or is none.
            OutsideRootsError: it does not lie under the roots, whether it exists or not.
        """
        folder = self.resolve(path)
        try:
            exists = folder.is_dir()
        except OSError as error:
            raise DirectoryError(path, f"cannot be read: {error.strerror}") from error
        if not exists:
            raise DirectoryError(path, "does not exist, or is not a folder")
        return folder

    def hold(self, path: str) -> bool:
        """Whether a path leads to somewhere under the roots."""
        try:
            self.resolve(path)
        except DirectoryError:
            return False
        return True
