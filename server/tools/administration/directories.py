"""Tools for the remembered folders, which a crawl uses if no folder is named."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from server.administration.child import run_for_json
from server.administration.errors import DirectoryError
from server.administration.folders import (
    CONFIGURATION_TIMEOUT_SECONDS,
    folder_settings,
    folder_source,
    refuse_fixed_folders,
)
from server.administration.results import (
    DirectoryAdded,
    DirectoryList,
    DirectoryRemoved,
    RememberedDirectory,
)
from server.answers.budget import fit
from server.answers.text import DEFAULT_CHARACTERS
from server.runtime.state import ToolContext, administration
from server.tools.arguments import MaxCharacters
from shared.system.shell import quoted

Directory = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4_096,
        description="Absolute path of a folder under the roots of admin_status.",
    ),
]


async def list_directories(
    context: ToolContext, max_characters: MaxCharacters = DEFAULT_CHARACTERS
) -> DirectoryList:
    """List the remembered folders, which start_crawl crawls by default.

    Use this before add_directory and remove_directory, or when the user asks which folders are
    kept in the index. allowed is false for a folder outside the roots of this server; if there is
    one, call start_crawl with the others. For the folders that are in the index, use index_stats.
    """
    settings = await folder_settings(administration(context).roots)
    directories, notice = fit(settings.folders, max_characters, _shorten)
    return DirectoryList(directories=directories, folders_from=folder_source(), notice=notice)


async def add_directory(context: ToolContext, directory: Directory) -> DirectoryAdded:
    """Remember a folder in the configuration file. Nothing is indexed until start_crawl.

    Use this when the user wants a folder to be kept in the index from now on.
    """
    admin = administration(context)
    refuse_fixed_folders()
    folder = admin.roots.resolve_existing(directory)
    async with admin.configuration:
        answer = await run_for_json(
            ("folders", "add", "--json", "--", str(folder)), CONFIGURATION_TIMEOUT_SECONDS
        )
    added = bool(answer["added"])
    return DirectoryAdded(
        path=str(folder),
        added=added,
        notice=f"{'' if added else 'It was remembered before; nothing was changed. '}"
        "Index its files with start_crawl.",
    )


async def remove_directory(context: ToolContext, directory: Directory) -> DirectoryRemoved:
    """Forget a remembered folder. Its documents stay in the index.

    Use this when the user no longer wants a folder to be crawled. notice says how the user can
    delete its documents.
    """
    admin = administration(context)
    refuse_fixed_folders()
    folder = admin.roots.resolve(directory)
    async with admin.configuration:
        answer = await run_for_json(
            ("folders", "remove", "--json", "--", str(folder)), CONFIGURATION_TIMEOUT_SECONDS
        )
    if not answer["removed"]:
        raise DirectoryError(folder, "is not a remembered folder; see list_directories")
    return DirectoryRemoved(
        path=str(folder),
        removed=True,
        notice="Its documents stay in the index; to delete them, ask the user to run: "
        f"idx sync --index-path {quoted(str(admin.index_path))} --exclude '*' --prune-missing "
        f"{quoted(str(folder))}",
    )


def _shorten(directory: RememberedDirectory, _excess: int) -> RememberedDirectory:
    return replace(directory, include=[], exclude=[])
