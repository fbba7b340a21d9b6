"""The tools on crawls, which keep the index equal to folders, and on what is under way."""

from typing import Annotated, Final

from pydantic import Field

from server.administration.answers import AdminStatus, OperationStatus
from server.administration.folders import folder_settings, folders_from
from server.administration.operation import Operation, Wish
from server.administration.service import Administration
from server.budget import fitting
from server.state import ToolContext, administration
from shared.writer_lock import writer

_ROOTS_CHARACTERS: Final = 6_000
"""Characters of an answer that roots may take."""

OperationId = Annotated[
    str,
    Field(
        max_length=100,
        description="operation_id as start_crawl and the others returned it; empty for the newest "
        "crawl.",
    ),
]


async def start_crawl(
    context: ToolContext,
    directories: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4_096)]],
        Field(
            max_length=100,
            description="Folders by their absolute paths, under the roots that admin_status "
            "tells; left out, all that list_directories shows.",
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
) -> OperationStatus:
    """Make the index equal to folders: add new files, update changed ones, delete vanished ones.

    Use this when the user wants folders or new files to be searchable. It returns at once with an
    operation_id; ask crawl_status how far it is, every few seconds. What is done can be searched
    meanwhile. There is one operation at a time.
    """
    admin = administration(context)
    admin.operations.refuse_if_busy()
    for directory in directories:
        # Before idx is asked for anything.
        admin.roots.resolve_existing(directory)
    settings = await folder_settings(admin.roots)
    folders = settings.wanted(directories, admin.roots)
    command = admin.command("sync", paths=folders)
    return admin.operations.start("crawl", command, folders).status()


async def crawl_status(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Tell how far a crawl or another operation is, what could not be read, and how it ended.

    Use this after start_crawl, optimize_index or purge_index. progress counts files: remaining of
    planned are left, skipped ones are unchanged. problems are the last files that could not be
    read, or not whole; list_failures has all that could not be read.
    """
    return administration(context).operations.find(operation_id, "crawl").status()


async def pause_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Pause a crawl: what it did so far is committed, and nothing more is read.

    Use this when the machine is needed for something else. Go on with resume_crawl. A paused crawl
    is still the one operation that there may be, but idx can write to the index meanwhile.
    """
    return await _ask(administration(context), operation_id, "paused")


async def resume_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Go on with a paused crawl; files that are done are not read again.

    Use this after pause_crawl. It returns at once; ask crawl_status how far it is.
    """
    admin = administration(context)
    operation = admin.operations.find(operation_id, "crawl")
    operation.refuse_unless_paused()
    # Folders and settings may be others than when the crawl began.
    settings = await folder_settings(admin.roots)
    settings.wanted(list(operation.directories), admin.roots)
    admin.operations.resume(operation)
    return operation.status()


async def stop_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """End a crawl, running or paused: what it did so far is committed and stays in the index.

    Use this when the crawl is not wanted any more. Another start_crawl goes on where it ended.
    """
    return await _ask(administration(context), operation_id, "stopped")


async def admin_status(context: ToolContext) -> AdminStatus:
    """Tell what operation is under way, which ended before, and what may be administered.

    Use this before start_crawl to learn under which roots folders may lie, or when an operation was
    refused: locked_by is the process that writes to the index now.
    """
    admin = administration(context)
    current = admin.operations.current
    roots = [str(root) for root in admin.roots.folders]
    shown = roots[: fitting(roots, _ROOTS_CHARACTERS)]
    return AdminStatus(
        current=current.status(brief=True) if current else None,
        recent=[operation.status(brief=True) for operation in admin.operations.past],
        roots=shown,
        index_path=str(admin.index_path),
        locked_by=_locked_by(admin),
        folders_from=folders_from(),
        notice=None if len(shown) == len(roots) else f"There are {len(roots)} roots in all.",
    )


async def _ask(admin: Administration, operation_id: str, wish: Wish) -> OperationStatus:
    operation: Operation = admin.operations.find(operation_id, "crawl")
    await admin.operations.ask(operation, wish)
    return operation.status()


def _locked_by(admin: Administration) -> str | None:
    try:
        return writer(admin.index_path)
    except FileNotFoundError:
        # Nobody has written to it yet.
        return None
    except OSError:
        return "a process that cannot be told"
