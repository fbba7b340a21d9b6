"""Tools for the maintenance of the index: optimize, purge, unlock."""

from typing import Annotated, Final

from mcp.server.mcpserver import (
    AcceptedElicitation,
    Elicit,
    ElicitationResult,
    Resolve,
)
from mcp.types import ClientCapabilities
from pydantic import BaseModel, Field

from server.administration.errors import ChildError, ConfirmationError
from server.administration.results import OperationStatus
from server.runtime.state import ToolContext, administration, ask
from shared.messages import quantity
from shared.system.shell import quoted

_UNLOCK_TIMEOUT_SECONDS: Final = 30.0


class Confirmation(BaseModel):
    """The confirmation required before all documents are deleted."""

    delete_all: bool = Field(
        default=False,
        title="Delete all documents",
        description="Yes, delete all documents from the index.",
    )


async def ask_to_purge(context: ToolContext) -> Elicit[Confirmation]:
    """Return the question that asks the user to confirm the deletion of all documents.

    Raises:
        ConfirmationError: the client does not support elicitation.
        OperationRunningError: another operation is running or paused, so a confirmation is useless.
        IndexFolderError: no index exists, or it cannot be read.
    """
    admin = administration(context)
    admin.operations.refuse_if_busy()
    if not _can_ask(context.client_capabilities):
        raise ConfirmationError(
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
            raise ConfirmationError("the user did not confirm it, so nothing was deleted")
        case _:
            raise ConfirmationError(
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
