"""Handlers of the resource requests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
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
from server.resources.shares import Holder
from server.resources.subscribers import RequestContext, Subscribers
from server.resources.templates import templates
from server.runtime.limit import Limit
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

    Clients that may see the same collections share a watcher and a bus, since nobody must hear of a
    change in a document that he cannot see.

    Args:
        state: the state of the server.
        max_streams: maximum number of open streams of `subscriptions/listen`.
        max_watched: maximum number of resources that one token can subscribe to.

    Attributes:
        subscribers: the subscriptions of the clients that may see the whole index.
    """

    def __init__(self, state: ServerState, max_streams: int, max_watched: int) -> None:
        self._state = state
        self._max_streams = max_streams
        self._max_watched = max_watched
        self._running = AsyncExitStack()
        self.subscribers = Subscribers(state.pool, max_watched)
        self._by_limit: dict[Limit, tuple[Subscribers, ListenHandler]] = {
            None: (self.subscribers, self._listener(self.subscribers))
        }

    def _listener(self, subscribers: Subscribers) -> ListenHandler:
        return ListenHandler(subscribers.bus, max_subscriptions=self._max_streams)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send notifications about changes within a block."""
        async with self._running:
            await self._running.enter_async_context(self.subscribers.running())
            yield

    def has_room(self, uris: Iterable[str], holder: Holder) -> bool:
        """Check whether resources fit into the share of a token; see `Subscribers.has_room`."""
        known = self._by_limit.get(self._state.limit())
        return known is None or known[0].has_room(uris, holder)

    async def _of_request(self) -> tuple[Subscribers, ListenHandler]:
        """Return the subscriptions that the current request may join."""
        limit = self._state.limit()
        if limit not in self._by_limit:
            subscribers = Subscribers(self._state.pool, self._max_watched, within=limit)
            self._by_limit[limit] = (subscribers, self._listener(subscribers))
            await self._running.enter_async_context(subscribers.running())
        return self._by_limit[limit]

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
            subscribers, _ = await self._of_request()
            await subscribers.subscribe_to_list(context)
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
            subscribers, _ = await self._of_request()
            await subscribers.subscribe_to_list(context)
            await subscribers.subscribe(context, parameters.uri)
        return EmptyResult()

    async def _unsubscribe(
        self, context: RequestContext, parameters: UnsubscribeRequestParams
    ) -> EmptyResult:
        subscribers, _ = await self._of_request()
        subscribers.unsubscribe(context, parameters.uri)
        return EmptyResult()

    async def _listen_to(
        self, context: RequestContext, parameters: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        with as_protocol_errors():
            subscribers, listener = await self._of_request()
            async with subscribers.listening(parameters.notifications):
                return await listener(context, parameters)


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
