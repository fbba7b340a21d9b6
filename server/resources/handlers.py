"""Handlers of requests about resources, with their list and templates."""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Final, TypeGuard

from mcp import types
from mcp.server import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from pydantic_core import to_json

from server.answers.errors import CursorError
from server.answers.text import DEFAULT_CHARACTERS, FORMS, Kind, ResourceUri, parse
from server.extensions import published
from server.pictures.page import PNG
from server.resources import reading
from server.resources.changes import Changes, RequestContext
from server.settings import Limit
from server.state import ServerState, ToolContext, ask
from shared.messages import quantity
from shared.model.index_results import DocumentSummary
from shared.model.metadata import MODIFIED

PAGE_SIZE: Final = 100  # maximum number of documents on a page, if they fit
_LIST_ENVELOPE_CHARACTERS: Final = 500  # for the response besides the entries and the cursor

STATISTICS: Final = types.Resource(
    uri=str(ResourceUri("statistics")),
    name="stats",
    title="State of the index",
    description="The size of the index, its languages and the folders it was made from.",
    mime_type=reading.JSON,
)


async def list_resources(context: ToolContext, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the list.

    The cursor is the last document's id, so that no document is missed or repeated if others appear
    or disappear between two pages.
    """
    after = None if cursor is None else _id_of(cursor)
    documents = await ask(
        context, lambda searcher: searcher.catalog.documents(after=after, limit=PAGE_SIZE + 1)
    )
    resources = [STATISTICS] if cursor is None else []
    left = DEFAULT_CHARACTERS - _LIST_ENVELOPE_CHARACTERS
    last = None
    for document in documents[:PAGE_SIZE]:
        resource = _resource(document)
        following = _cursor(document.source_document)
        left -= len(to_json(resource, by_alias=True, exclude_none=True).decode()) + 1
        # A page has at least one document, however long its id.
        if last is not None and left < len(following):
            break
        resources.append(resource)
        last = document
    is_end = not documents or last is documents[-1]
    return types.ListResourcesResult(
        resources=resources,
        next_cursor=None if is_end or last is None else _cursor(last.source_document),
    )


def _resource(document: DocumentSummary) -> types.Resource:
    name, modified = document.source_document, document.metadata.get(MODIFIED)
    chunks = quantity(document.chunk_count, "chunk")
    return types.Resource(
        uri=str(ResourceUri("document", name)),
        name=name,
        title=document.title,
        description=f"{document.file_path}, {chunks}" if document.file_path else chunks,
        mime_type=reading.TEXT,
        annotations=types.Annotations(last_modified=modified) if _is_time(modified) else None,
    )


def _is_time(value: object) -> TypeGuard[str]:
    """Check whether a metadata value, which may be anything, is a time in ISO 8601."""
    if not isinstance(value, str):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _cursor(source_document: str) -> str:
    return urlsafe_b64encode(source_document.encode()).decode()


def _id_of(cursor: str) -> str:
    try:
        name = b64decode(cursor, altchars="-_", validate=True).decode()
    except ValueError as error:
        raise CursorError(cursor) from error
    if not name:
        raise CursorError(cursor)
    return name


def _template(
    form: str, name: str, title: str, description: str, mime_type: str = reading.TEXT
) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=form, name=name, title=title, description=description, mime_type=mime_type
    )


_TEMPLATES: Final = (
    _template(
        FORMS["document"],
        "document",
        "Document",
        "The text of a document by its id. A long text is cut at 40,000 characters, and says how "
        "to continue.",
    ),
    _template(
        FORMS["document"] + "{?start_index,count,max_characters}",
        "document_part",
        "Part of a document",
        "The text of a document from chunk number start_index on: count chunks, or as many as "
        "fit into max_characters.",
    ),
    _template(
        FORMS["chunk"],
        "chunk",
        "Chunk of a document",
        "The text of a chunk by its id, about 250 words. Its position in the file and the URIs "
        "of its neighbours are in _meta.",
    ),
    _template(
        FORMS["page"] + "{?page,query}",
        "page",
        "Page of a PDF",
        "The picture of a page by the id of its document and its number, with the words of a query "
        "marked.",
        PNG,
    ),
    _template(
        FORMS["field"],
        "field",
        "Values of a field",
        "The most frequent words or values of a field, with the number of chunks of each.",
        reading.JSON,
    ),
    _template(
        FORMS["language"],
        "language",
        "Documents in a language",
        "The documents in a language, by its ISO 639-1 code.",
        reading.JSON,
    ),
)

TEMPLATES: Final = {template.uri_template: template for template in _TEMPLATES}  # RFC 6570


_READERS: Final[
    Mapping[Kind, Callable[[ToolContext, ResourceUri], Awaitable[ReadResourceContents]]]
] = {
    "document": reading.read_document,
    "chunk": reading.read_chunk,
    "page": reading.read_page,
    "statistics": reading.read_statistics,
    "field": reading.read_field,
    "language": reading.read_language,
}


async def read_resource(context: ToolContext, uri: str) -> ReadResourceContents:
    if (found := published().get(uri)) is not None:
        return ReadResourceContents(*found)
    parsed = parse(uri)
    return await _READERS[parsed.kind](context, parsed)


class ResourceHandlers:
    """Handlers of requests for the list of documents, and for notifications about changes."""

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
        add("resources/list", types.PaginatedRequestParams, self._list)
        add("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)
        add("subscriptions/listen", types.SubscriptionsListenRequestParams, self._listen)

    async def _list(
        self, context: RequestContext, parameters: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        await (await self.changes()).subscribe_to_list(context)
        return await list_resources(Context(request_context=context), parameters.cursor)

    async def _subscribe(
        self, context: RequestContext, parameters: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        changes = await self.changes()
        await changes.subscribe_to_list(context)
        await changes.subscribe(context, parameters.uri)
        return types.EmptyResult()

    async def _unsubscribe(
        self, context: RequestContext, parameters: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        (await self.changes()).unsubscribe(context, parameters.uri)
        return types.EmptyResult()

    async def _listen(
        self, context: RequestContext, parameters: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        return await (await self.changes()).listen(context, parameters)
