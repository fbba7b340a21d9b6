"""The folders of crawls: the roots that they must lie under, and those that are remembered."""

import os
from dataclasses import dataclass
from typing import Final

from server.administration.child import run_for_json
from server.administration.results import RememberedDirectory
from server.administration.roots import Roots
from server.answers.errors import FoldersFixedError, LinksFollowedError, NothingToCrawlError
from shared.files.access import is_folder
from shared.settings.current import configuration_file
from shared.settings.defaults import VARIABLES

CONFIGURATION_TIMEOUT_SECONDS: Final = 30.0
"""Timeout of a command on the configuration, in seconds; it normally takes half a second."""

_VARIABLE: Final = VARIABLES["folders"]


@dataclass(frozen=True)
class FolderSettings:
    """The configuration of folders as `idx` reads it now."""

    folders: tuple[RememberedDirectory, ...]
    links_followed: str | None

    def folders_to_crawl(self, paths: list[str], roots: Roots) -> list[str]:
        """Return the folders to crawl, as arguments of `idx`."""
        if self.links_followed is not None:
            raise LinksFollowedError(self.links_followed)
        # idx finds the patterns of a folder by its path as remembered.
        remembered = {os.path.realpath(folder.path): folder.path for folder in self.folders}
        named = paths or [folder.path for folder in self.folders]
        if not named:
            raise NothingToCrawlError
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
    """Refuse to change folders that come from the environment."""
    if os.environ.get(_VARIABLE):
        raise FoldersFixedError(_VARIABLE)
