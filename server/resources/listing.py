"""The paginated list of resources: the statistics, then the documents ordered by id."""

from base64 import b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Final, TypeGuard

from mcp.types import Annotations, ListResourcesResult, Resource
from pydantic_core import to_json

from server.answers.errors import CursorError
from server.answers.text import DEFAULT_CHARACTERS
from server.answers.uris import ResourceUri
from server.resources.contents import JSON, TEXT
from server.runtime.state import ToolContext, ask
from shared.messages import quantity
from shared.model.index_results import DocumentSummary
from shared.model.metadata import MODIFIED

PAGE_SIZE: Final = 100
"""Maximum number of documents on a page, if they fit."""

_LIST_ENVELOPE_CHARACTERS: Final = 500
"""Characters reserved for the rest of the response besides the entries and the cursor."""

STATISTICS: Final = Resource(
    uri=str(ResourceUri("statistics")),
    name="stats",
    title="State of the index",
    description="The size of the index, its languages and the folders it was made from.",
    mime_type=JSON,
)


async def list_resources(context: ToolContext, cursor: str | None) -> ListResourcesResult:
    """Return a page of the list.

    The cursor is the last document's id, so that no document is missed or repeated if others appear
    or disappear between two pages.

    Args:
        context: the request's context.
        cursor: the end of the previous page; None for the first page.

    Raises:
        CursorError: the cursor is invalid.
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
    return ListResourcesResult(
        resources=resources,
        next_cursor=None if is_end or last is None else _cursor(last.source_document),
    )


def _resource(document: DocumentSummary) -> Resource:
    name, modified = document.source_document, document.metadata.get(MODIFIED)
    chunks = quantity(document.chunk_count, "chunk")
    return Resource(
        uri=str(ResourceUri("document", name)),
        name=name,
        title=document.title,
        description=f"{document.file_path}, {chunks}" if document.file_path else chunks,
        mime_type=TEXT,
        annotations=Annotations(last_modified=modified) if _is_time(modified) else None,
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
