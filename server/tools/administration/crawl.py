"""Tools for crawls, which synchronize the index with folders, and for their progress."""

from typing import Annotated, Final

from pydantic import Field

from server.administration import crawls
from server.administration.folders import folder_source
from server.administration.results import AdminStatus, OperationStatus
from server.administration.service import Administration
from server.answers.text import fitting
from server.runtime.state import ToolContext, administration
from shared.messages import quantity
from shared.storage.lock import writer

_MAX_ROOTS_CHARACTERS: Final = 6_000
"""Maximum length of the roots in an answer, in characters."""

OperationId = Annotated[
    str,
    Field(
        max_length=100,
        description="operation_id from an earlier answer; empty for the latest crawl.",
    ),
]


async def start_crawl(
    context: ToolContext,
    directories: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4_096)]],
        Field(
            max_length=100,
            description="Absolute paths of folders under the roots of admin_status; by default, "
            "all folders of list_directories.",
        ),
    ] = [],  # noqa: B006 - pydantic copies the default for each call
) -> OperationStatus:
    """Synchronize the index with folders: add new files, update changed ones, delete removed ones.

    Use this when the user wants folders or new files to be searchable. It returns an operation_id
    at once; call crawl_status every few seconds for the progress. Finished documents can be
    searched meanwhile. Only one operation runs at a time.
    """
    return (await crawls.start_crawl(administration(context), directories)).status()


async def crawl_status(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Report the progress of a crawl or another operation, its problems, and its outcome.

    Use this after start_crawl, optimize_index or purge_index. progress counts files: remaining of
    planned are left, skipped ones are unchanged. problems are the last files that could not be
    read completely; list_failures lists all unreadable files.
    """
    return administration(context).operations.find(operation_id, "crawl").status()


async def pause_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Pause a crawl: commit its work so far, and read no more files.

    Use this when the machine is needed for something else; continue with resume_crawl. While a
    crawl is paused, no other operation can start, but idx can write to the index.
    """
    admin = administration(context)
    return (await crawls.request_crawl(admin, operation_id, "paused")).status()


async def resume_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Resume a paused crawl, without reading finished files again.

    Use this after pause_crawl. It returns at once; call crawl_status for the progress.
    """
    return (await crawls.resume_crawl(administration(context), operation_id)).status()


async def stop_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Stop a running or paused crawl: its work so far is committed and stays in the index.

    Use this when the crawl is no longer wanted. start_crawl continues where it stopped.
    """
    admin = administration(context)
    return (await crawls.request_crawl(admin, operation_id, "stopped")).status()


async def admin_status(context: ToolContext) -> AdminStatus:
    """Show the running operation, earlier ones, and the folders that may be crawled.

    Use this before start_crawl to learn the roots that folders must be under, or when an operation
    was refused: locked_by is the process that is writing to the index.
    """
    admin = administration(context)
    current = admin.operations.current
    roots = [str(root) for root in admin.roots.folders]
    shown = roots[: fitting(roots, _MAX_ROOTS_CHARACTERS)]
    return AdminStatus(
        current=current.status(brief=True) if current else None,
        recent=[operation.status(brief=True) for operation in admin.operations.past],
        roots=shown,
        index_path=str(admin.index_path),
        locked_by=_locked_by(admin),
        folders_from=folder_source(),
        notice=f"There are {quantity(len(roots), 'root')} in all."
        if len(shown) < len(roots)
        else None,
    )


def _locked_by(admin: Administration) -> str | None:
    try:
        return writer(admin.index_path)
    except FileNotFoundError:
        # Nothing has written to the index yet.
        return None
    except OSError:
        return "an unknown process"
