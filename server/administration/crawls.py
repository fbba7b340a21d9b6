"""Crawls: how they are started, resumed, paused and stopped."""

from server.administration.folders import folder_settings
from server.administration.operation import Operation, RequestedState
from server.administration.service import Administration


async def start_crawl(
    administration: Administration, directories: list[str] | None = None
) -> Operation:
    """Start a crawl without waiting for it.

    Args:
        administration: the administration service.
        directories: the folders to crawl; without any, those that are remembered.

    Raises:
        McpLuceneError: another operation is running or paused, or a folder may not be crawled.
    """
    administration.operations.refuse_if_busy()
    directories = directories or []
    for directory in directories:
        # Invalid folders are refused before idx is run.
        administration.roots.resolve_existing(directory)
    settings = await folder_settings(administration.roots)
    folders = settings.folders_to_crawl(directories, administration.roots)
    command = administration.command("sync", *administration.bounds, paths=folders)
    return administration.operations.start("crawl", command, folders)


async def resume_crawl(administration: Administration, operation_id: str) -> Operation:
    """Resume a paused crawl without waiting for it.

    Args:
        administration: the administration service.
        operation_id: its id; empty for the newest crawl.

    Raises:
        McpLuceneError: there is none, it is not paused, or its folders may not be crawled any more.
    """
    operation = administration.operations.find(operation_id, "crawl")
    operation.refuse_unless_paused()
    # Folders and settings may have changed since the crawl began.
    settings = await folder_settings(administration.roots)
    settings.folders_to_crawl(list(operation.directories), administration.roots)
    administration.operations.resume(operation)
    return operation


async def request_crawl(
    administration: Administration, operation_id: str, requested: RequestedState
) -> Operation:
    """Pause or stop a crawl, and wait a little for that.

    Args:
        administration: the administration service.
        operation_id: its id; empty for the newest crawl.
        requested: the state that it is to have.

    Raises:
        McpLuceneError: there is none, or it cannot have the state.
    """
    operation = administration.operations.find(operation_id, "crawl")
    await administration.operations.request(operation, requested)
    return operation
