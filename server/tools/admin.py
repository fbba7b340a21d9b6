"""Tools that change the index or its folders, for a server with `--admin`."""

from pathlib import Path
from typing import Annotated, Any, Final

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.types import ClientCapabilities
from pydantic import BaseModel, Field

from server.administration.child import run_for_json
from server.administration.operations import Administration
from server.administration.results import (
    AdminStatus,
    DirectoryAdded,
    DirectoryList,
    DirectoryRemoved,
    OperationStatus,
)
from server.administration.roots import (
    CONFIGURATION_TIMEOUT_SECONDS,
    folder_settings,
    folder_source,
    refuse_fixed_folders,
)
from server.answers.errors import ChildError, DirectoryError
from server.answers.text import DEFAULT_CHARACTERS, fit, fitting
from server.state import ToolContext, ask
from server.tools.arguments import MaxCharacters
from shared.errors import McpLuceneError
from shared.messages import quantity
from shared.storage.lock import writer
from shared.system.shell import quoted

_MAX_ROOTS_CHARACTERS: Final = 6_000  # of the roots in an answer

OperationId = Annotated[
    str,
    Field(
        max_length=100,
        description="operation_id from an earlier answer; empty for the latest crawl.",
    ),
]


def administration(context: ToolContext) -> Administration:
    """Return the service, which every server that offers these tools has."""
    service = context.request_context.lifespan_context.administration
    assert service is not None  # noqa: S101 - see server.tools.table
    return service


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
    return (await administration(context).start_crawl(directories)).status()


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
    return (await administration(context).request_crawl(operation_id, "paused")).status()


async def resume_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Resume a paused crawl, without reading finished files again.

    Use this after pause_crawl. It returns at once; call crawl_status for the progress.
    """
    return (await administration(context).resume_crawl(operation_id)).status()


async def stop_crawl(context: ToolContext, operation_id: OperationId = "") -> OperationStatus:
    """Stop a running or paused crawl: its work so far is committed and stays in the index.

    Use this when the crawl is no longer wanted. start_crawl continues where it stopped.
    """
    return (await administration(context).request_crawl(operation_id, "stopped")).status()


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
    directories, notice = fit(settings.folders, max_characters)
    return DirectoryList(directories=directories, folders_from=folder_source(), notice=notice)


async def _run_folders(admin: Administration, action: str, folder: Path) -> Any:
    command = ("folders", action, "--json", "--", str(folder))
    async with admin.configuration:
        return await run_for_json(command, CONFIGURATION_TIMEOUT_SECONDS)


async def add_directory(context: ToolContext, directory: Directory) -> DirectoryAdded:
    """Remember a folder in the configuration file. Nothing is indexed until start_crawl.

    Use this when the user wants a folder to be kept in the index from now on.
    """
    admin = administration(context)
    refuse_fixed_folders()
    folder = admin.roots.resolve_existing(directory)
    added = bool((await _run_folders(admin, "add", folder))["added"])
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
    if not (await _run_folders(admin, "remove", folder))["removed"]:
        raise DirectoryError(folder, "is not a remembered folder; see list_directories")
    return DirectoryRemoved(
        path=str(folder),
        removed=True,
        notice="Its documents stay in the index; to delete them, ask the user to run: "
        f"idx sync --index-path {quoted(str(admin.index_path))} --exclude '*' --prune-missing "
        f"{quoted(str(folder))}",
    )


_UNLOCK_TIMEOUT_SECONDS: Final = 30.0


class Confirmation(BaseModel):
    """The confirmation required before all documents are deleted."""

    delete_all: bool = Field(
        default=False,
        title="Delete all documents",
        description="Yes, delete all documents from the index.",
    )


async def ask_to_purge(context: ToolContext) -> Elicit[Confirmation]:
    """Return the question that asks the user to confirm the deletion of all documents."""
    admin = administration(context)
    # A confirmation would be useless.
    admin.operations.refuse_if_busy()
    if not _can_ask(context.client_capabilities):
        raise McpLuceneError(
            "this client cannot ask its user to confirm (it has no elicitation), so nothing was "
            "deleted; ask the user to run: idx purge --index-path "
            f"{quoted(str(admin.index_path))}"
        )
    index = await ask(context, lambda searcher: searcher.statistics())
    return Elicit(
        f"Delete all documents ({quantity(index.documents, 'document')}, "
        f"{quantity(index.chunks, 'chunk')}) from the index at {index.path}? This cannot be "
        "undone; the original files are not touched.",
        Confirmation,
    )


async def optimize_index(context: ToolContext) -> OperationStatus:
    """Merge the index into one segment, and free the space of deleted chunks.

    Use this when the user asks for it, or after many deletions; it is rarely needed. It returns
    an operation_id at once; call crawl_status for the outcome. Searches continue meanwhile. It
    needs free disk space of twice the size of the index.
    """
    admin = administration(context)
    return admin.operations.start("optimize", admin.command("optimize")).status()


async def purge_index(
    context: ToolContext,
    confirmation: Annotated[ElicitationResult[Confirmation], Resolve(ask_to_purge)],
) -> OperationStatus:
    """Delete all documents from the index, after the user has confirmed it.

    Use this only when the user wants an empty index. The client asks the user to confirm;
    otherwise, nothing is deleted. The original files are not touched, and start_crawl adds them
    again. It returns an operation_id at once; call crawl_status for the outcome.
    """
    match confirmation:
        case AcceptedElicitation(data=Confirmation(delete_all=True)):
            pass
        case AcceptedElicitation():
            raise McpLuceneError("the user did not confirm it, so nothing was deleted")
        case _:
            raise McpLuceneError(
                f"the user was asked, and the answer was {confirmation.action!r}: nothing was "
                "deleted"
            )
    admin = administration(context)
    return admin.operations.start("purge", admin.command("purge", "--yes")).status()


async def unlock_index(context: ToolContext) -> OperationStatus:
    """Remove the lock file that a killed writer left in the index.

    Use this when an operation failed because the index is locked, although nothing writes to it.
    A running process that holds the lock keeps it, and is named in the error.
    """
    admin = administration(context)
    operation = admin.operations.start("unlock", admin.command("unlock"))
    await admin.operations.wait(operation, _UNLOCK_TIMEOUT_SECONDS)
    if operation.error is not None:
        raise ChildError(operation.error)
    return operation.status()


def _can_ask(client: ClientCapabilities | None) -> bool:
    """Check whether a client supports forms; one that declares no kind of elicitation does."""
    elicitation = client.elicitation if client else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
