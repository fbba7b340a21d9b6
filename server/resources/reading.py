"""Reading what a URI names, whatever its kind."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from server.resources.chunks import read_chunk
from server.resources.contents import Contents
from server.resources.documents import read_document
from server.resources.index import read_field, read_language, read_statistics
from server.resources.uris import Kind, ResourceUri, parse
from server.state import ToolContext

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
        McpLuceneError: there is no such resource, or it cannot be read; the class says why.
    """
    parsed = parse(uri)
    return await _READERS[parsed.kind](context, parsed)
