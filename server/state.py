"""What the handlers of a server share while it runs, and how they ask the index."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mcp.server.mcpserver import Context

from server.lucene_pool import LucenePool
from server.settings import ServerSettings

if TYPE_CHECKING:
    from shared.searcher import Searcher

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class ServerState:
    """What lives as long as the server.

    Attributes:
        settings: the choices of whoever started it.
        pool: the threads and the searcher that answer from the index.
    """

    settings: ServerSettings
    pool: LucenePool


ToolContext: TypeAlias = Context[ServerState, Any]
"""What a tool, a resource or a prompt is told of the request that it answers."""


async def ask(context: ToolContext, work: Callable[["Searcher"], Answer]) -> Answer:
    """Answer a request from the index.

    Args:
        context: the request.
        work: asks the searcher; it runs in a thread of the pool.

    Raises:
        McpLuceneError: what the work raised, or why Java could not start.
    """
    return await context.request_context.lifespan_context.pool.run(work)
