"""The folders under which a client may have folders crawled.

A client may be led by a document that it read, and others may replace folders by links while it
goes on. So a path counts only with all links in it resolved, and a root is not the folder at a path
but the folder that was there when the server started, known by its device and number. `idx` is
given these identities and takes nothing that does not lie in one of them, whatever the paths that
it is given lead to by then.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from server.administration.errors import (
    DirectoryError,
    OutsideRootsError,
    RootReplacedError,
)
from server.settings import ServerOptionError
from shared.files.access import Identity, identity_of, lies_in, opened_folder
from shared.messages import reason_of


@dataclass(frozen=True)
class Roots:
    """Folders, absolute and with links resolved when the server started.

    Attributes:
        folders: their paths.
        identities: what they are known by.
    """

    folders: tuple[Path, ...]
    identities: frozenset[Identity]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "Roots":
        """Resolve the folders that the server was given.

        Raises:
            ServerOptionError: one of them is no folder.
        """
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
        """The options that keep `idx sync` in these folders."""
        return [f"--only-in={device}:{inode}" for device, inode in sorted(self.identities)]

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
            RootReplacedError: it only seems to, for another folder is where a root was.
        """
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

    def hold(self, path: str) -> bool:
        """Whether a path leads to somewhere under the roots."""
        try:
            self.resolve(path)
        except DirectoryError:
            return False
        return True
