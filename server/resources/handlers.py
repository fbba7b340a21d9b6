"""Handlers of the resource requests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from mcp.server import Server
from mcp.server.mcpserver import Context
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
from server.resources.changes import Changes, RequestContext
from server.resources.listing import TEMPLATES, list_resources
from server.resources.reading import (
    Contents,
    read_chunk,
    read_document,
    read_field,
    read_language,
    read_statistics,
)
from server.scopes import Limit
from server.state import ServerState, ToolContext

_READERS: Final[Mapping[Kind, Callable[[ToolContext, ResourceUri], Awaitable[Contents]]]] = {
    "document": read_document,
    "chunk": read_chunk,
    "statistics": read_statistics,
    "field": read_field,
    "language": read_language,
}


class ResourceHandlers:
    """Handlers of requests for documents, chunks and the index as resources."""

    def __init__(self, state: ServerState, max_streams: int) -> None:
        self._state = state
        self._max_streams = max_streams
        self._running = AsyncExitStack()
        self._changes: dict[Limit, Changes] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send notifications about changes within a block."""
        async with self._running:
            yield

    async def changes(self) -> Changes:
        """Return the subscriptions that the current request may join."""
        limit = self._state.limit()
        if limit not in self._changes:
            changes = Changes(self._state.pool, self._max_streams, within=limit)
            self._changes[limit] = changes
            await self._running.enter_async_context(changes.running())
        return self._changes[limit]

    def register(self, server: Server[ServerState]) -> None:
        """Register these handlers with a server, in place of its own."""
        add = server.add_request_handler
        add("resources/list", PaginatedRequestParams, self._list)
        add("resources/templates/list", PaginatedRequestParams, self._list_templates)
        add("resources/read", ReadResourceRequestParams, self._read)
        add("resources/subscribe", SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)
        add("subscriptions/listen", SubscriptionsListenRequestParams, self._listen)

    async def _list(
        self, context: RequestContext, parameters: PaginatedRequestParams
    ) -> ListResourcesResult:
        with as_protocol_errors():
            await (await self.changes()).subscribe_to_list(context)
            return await list_resources(Context(request_context=context), parameters.cursor)

    async def _list_templates(
        self, _context: RequestContext, _parameters: PaginatedRequestParams
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[*TEMPLATES.values()])

    async def _read(
        self, context: RequestContext, parameters: ReadResourceRequestParams
    ) -> ReadResourceResult:
        with as_protocol_errors({"uri": brief_error(parameters.uri)}):
            uri = parse(parameters.uri)
            contents = await _READERS[uri.kind](Context(request_context=context), uri)
        return contents.as_result(parameters.uri)

    async def _subscribe(
        self, context: RequestContext, parameters: SubscribeRequestParams
    ) -> EmptyResult:
        with as_protocol_errors({"uri": brief_error(parameters.uri)}):
            changes = await self.changes()
            await changes.subscribe_to_list(context)
            await changes.subscribe(context, parameters.uri)
        return EmptyResult()

    async def _unsubscribe(
        self, context: RequestContext, parameters: UnsubscribeRequestParams
    ) -> EmptyResult:
        (await self.changes()).unsubscribe(context, parameters.uri)
        return EmptyResult()

    async def _listen(
        self, context: RequestContext, parameters: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        with as_protocol_errors():
            return await (await self.changes()).listen(context, parameters)
