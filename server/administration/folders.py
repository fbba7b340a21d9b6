"""The remembered folders: those that are crawled if none is named."""

import os
from dataclasses import dataclass
from typing import Final

from server.administration.child import answer_of
from server.administration.errors import FoldersFixedError, LinksFollowedError, NothingToCrawlError
from server.administration.results import RememberedDirectory
from server.administration.roots import Roots
from shared.files.access import is_folder
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES

SECONDS: Final = 30.0
"""How long a command on the configuration may take; it takes half a second."""

_VARIABLE: Final = VARIABLES["folders"]


@dataclass(frozen=True)
class FolderSettings:
    """What the configuration says of folders, as `idx` reads it now.

    Attributes:
        folders: the remembered ones, with their patterns.
        links_followed: where it says that links in folders are followed; None if they are not.
    """

    folders: tuple[RememberedDirectory, ...]
    links_followed: str | None

    def wanted(self, paths: list[str], roots: Roots) -> list[str]:
        """The folders to crawl, as `idx` is to be given them.

        Args:
            paths: what a client named; empty for the remembered ones.
            roots: where they must lie.

        Raises:
            DirectoryError: one of them is no folder, or does not lie there.
            LinksFollowedError: links in the folders might lead elsewhere.
            NothingToCrawlError: there are neither.
        """
        if self.links_followed is not None:
            raise LinksFollowedError(self.links_followed)
        # The patterns of a folder are those of its path as it is remembered.
        remembered = {os.path.realpath(folder.path): folder.path for folder in self.folders}
        named = paths or [folder.path for folder in self.folders]
        if not named:
            raise NothingToCrawlError
        folders = (str(roots.resolve_existing(path)) for path in named)
        return list(dict.fromkeys(remembered.get(folder, folder) for folder in folders))


async def folder_settings(roots: Roots) -> FolderSettings:
    """Ask `idx` for the folders.

    Raises:
        ChildError: it cannot tell, for example because the configuration file is wrong.
    """
    answer = await answer_of(("config", "show", "--json"), SECONDS)
    settings = answer["settings"]
    follow_links = settings["follow_links"]
    return FolderSettings(
        tuple(
            RememberedDirectory(
                path=folder["path"],
                include=folder["include"],
                exclude=folder["exclude"],
                exists=is_folder(folder["path"]),
                allowed=roots.hold(folder["path"]),
            )
            for folder in settings["folders"]["value"]
        ),
        follow_links["from"] if follow_links["value"] else None,
    )


def folders_from() -> str:
    """Where the remembered folders come from: a variable, or else the configuration file."""
    return _VARIABLE if os.environ.get(_VARIABLE) else str(configuration_file())


def refuse_fixed_folders() -> None:
    """Refuse to change folders that come from the environment.

    Raises:
        FoldersFixedError: they do.
    """
    if os.environ.get(_VARIABLE):
        raise FoldersFixedError(_VARIABLE)
