"""The roots: folders under which a client may crawl folders, and the folders of crawls.

A client may be misled by a document, and others may replace folders by links during a crawl.
Therefore all links in a path are resolved, and a root is not the folder at a path but the folder
that was there when the server started, identified by its device and inode numbers. `idx` receives
these identities and reads nothing outside them, whatever its paths lead to by then.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.administration.child import run_for_json
from server.administration.results import RememberedDirectory
from server.answers.errors import DirectoryError
from server.settings import ServerOptionError
from shared.errors import McpLuceneError
from shared.files.access import Identity, identity_of, is_folder, lies_in, opened_folder
from shared.messages import decodable, reason_of
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES

_BEGINNING: Final = "a drive such as C:\\" if sys.platform == "win32" else "/"


@dataclass(frozen=True)
class Roots:
    """The roots, absolute and with links resolved at the start of the server."""

    folders: tuple[Path, ...]
    identities: frozenset[Identity]

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> "Roots":
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
            roots = ", ".join(decodable(str(root)) for root in self.folders)
            raise DirectoryError(
                path,
                "does not lie under the roots of this server, with links resolved; the roots are "
                f"{roots[:1_000]}: name a folder under one of them, or ask the user to start the "
                "server with another --root",
            )
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
            raise DirectoryError(
                path,
                "does not lie in the root that this server was started with, because the root was "
                "replaced or moved; ask the user to start the server again",
            )
        return folder

    def contain(self, path: str) -> bool:
        try:
            self.resolve(path)
        except DirectoryError:
            return False
        return True


CONFIGURATION_TIMEOUT_SECONDS: Final = 30.0  # such a command normally takes half a second

_VARIABLE: Final = VARIABLES["folders"]


@dataclass(frozen=True)
class FolderSettings:
    """The configuration of folders as `idx` reads it now."""

    folders: tuple[RememberedDirectory, ...]
    links_followed: str | None

    def folders_to_crawl(self, paths: Sequence[str], roots: Roots) -> list[str]:
        """Return the folders to crawl, as arguments of `idx`."""
        if self.links_followed is not None:
            raise McpLuceneError(
                f"links in folders are followed (follow_links in {self.links_followed}) and might "
                "lead out of the roots of this server; ask the user to run idx sync, or to unset "
                "follow_links"
            )
        # idx finds the patterns of a folder by its path as remembered.
        remembered = {os.path.realpath(folder.path): folder.path for folder in self.folders}
        named = paths or [folder.path for folder in self.folders]
        if not named:
            raise McpLuceneError(
                "there are no folders to crawl: name them in directories, or remember them with "
                "add_directory"
            )
        folders = (str(roots.resolve_existing(path)) for path in named)
        return list(dict.fromkeys(remembered.get(folder, folder) for folder in folders))


async def folder_settings(roots: Roots) -> FolderSettings:
    """Read the configuration of folders by running `idx`."""
    answer = await run_for_json(("config", "show", "--json"), CONFIGURATION_TIMEOUT_SECONDS)
    settings = answer["settings"]
    follow_links = settings["follow_links"]
    return FolderSettings(
        tuple(
            RememberedDirectory(
                path=folder["path"],
                include=folder["include"],
                exclude=folder["exclude"],
                exists=is_folder(folder["path"]),
                allowed=roots.contain(folder["path"]),
            )
            for folder in settings["folders"]["value"]
        ),
        follow_links["from"] if follow_links["value"] else None,
    )


def folder_source() -> str:
    """Return the source of the remembered folders: the variable, or else the configuration file."""
    return _VARIABLE if os.environ.get(_VARIABLE) else str(configuration_file())


def refuse_fixed_folders() -> None:
    if os.environ.get(_VARIABLE):
        raise McpLuceneError(
            f"the folders come from the variable {_VARIABLE} of the server's environment and "
            "cannot be changed here; ask the user to change the variable, or to unset it and use "
            "the configuration file"
        )
