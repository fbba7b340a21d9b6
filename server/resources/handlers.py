"""Handlers of the resource requests."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.server.mcpserver import Context
from mcp.server.subscriptions import ListenHandler
from mcp.types import (
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from server.answers.errors import as_protocol_errors, brief_error
from server.answers.uris import Kind, ResourceUri, parse
from server.resources.chunks import read_chunk
from server.resources.contents import Contents
from server.resources.documents import read_document
from server.resources.index import read_field, read_language, read_statistics
from server.resources.listing import list_resources
from server.resources.subscribers import RequestContext, Subscribers
from server.resources.templates import templates
from server.runtime.lucene_pool import LucenePool
from server.runtime.state import ServerState, ToolContext

_READERS: Final[Mapping[Kind, Callable[[ToolContext, ResourceUri], Awaitable[Contents]]]] = {
    "document": read_document,
    "chunk": read_chunk,
    "statistics": read_statistics,
    "field": read_field,
    "language": read_language,
}


async def read(context: ToolContext, uri: str) -> Contents:
    """Read a resource.

    Raises:
        McpLuceneError: the resource does not exist or cannot be read, as the class says.
    """
    parsed = parse(uri)
    return await _READERS[parsed.kind](context, parsed)


class ResourceHandlers:
    """Handlers of requests for documents, chunks and the index as resources.

    Args:
        pool: the thread pool that answers from the index.
        max_streams: maximum number of open streams of `subscriptions/listen`.
        max_watched: maximum number of resources that one token can subscribe to.
    """

    def __init__(self, pool: LucenePool, max_streams: int, max_watched: int) -> None:
        self.subscribers = Subscribers(pool, max_watched)
        self._listen = ListenHandler(self.subscribers.bus, max_subscriptions=max_streams)

    def register(self, server: Server[ServerState]) -> None:
        """Register these handlers with a server, in place of its own."""
        add = server.add_request_handler
        add("resources/list", PaginatedRequestParams, self._list)
        add("resources/templates/list", PaginatedRequestParams, self._list_templates)
        add("resources/read", ReadResourceRequestParams, self._read)
        add("resources/subscribe", SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)
        add("subscriptions/listen", SubscriptionsListenRequestParams, self._listen_to)
        server.middleware.append(advertise_changes_of_list)

    async def _list(
        self, context: RequestContext, parameters: PaginatedRequestParams
    ) -> ListResourcesResult:
        with as_protocol_errors():
            await self.subscribers.subscribe_to_list(context)
            return await list_resources(_tool_context(context), parameters.cursor)

    async def _list_templates(
        self, _context: RequestContext, _parameters: PaginatedRequestParams
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=templates())

    async def _read(
        self, context: RequestContext, parameters: ReadResourceRequestParams
    ) -> ReadResourceResult:
        with as_protocol_errors({"uri": brief_error(parameters.uri)}):
            contents = await read(_tool_context(context), parameters.uri)
        return contents.as_result(parameters.uri)

    async def _subscribe(
        self, context: RequestContext, parameters: SubscribeRequestParams
    ) -> EmptyResult:
        with as_protocol_errors({"uri": brief_error(parameters.uri)}):
            await self.subscribers.subscribe_to_list(context)
            await self.subscribers.subscribe(context, parameters.uri)
        return EmptyResult()

    async def _unsubscribe(
        self, context: RequestContext, parameters: UnsubscribeRequestParams
    ) -> EmptyResult:
        self.subscribers.unsubscribe(context, parameters.uri)
        return EmptyResult()

    async def _listen_to(
        self, context: RequestContext, parameters: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        with as_protocol_errors():
            async with self.subscribers.listening(parameters.notifications):
                return await self._listen(context, parameters)


async def advertise_changes_of_list(ctx: RequestContext, call_next: CallNext) -> HandlerResult:
    """Advertise notifications about list changes in the older handshake (middleware).

    The SDK advertises them only for servers that run the transport themselves; for 2026-07-28 it
    does so by itself.
    """
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        result["capabilities"]["resources"]["listChanged"] = True
    return result


def _tool_context(context: RequestContext) -> ToolContext:
    return Context(request_context=context)
