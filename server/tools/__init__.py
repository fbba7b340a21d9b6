"""The tools: one table, by public name, of the title that people see and the function."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from server.tools.chunks import get_document_chunks, get_next_chunk, get_previous_chunk
from server.tools.documents import list_documents, list_failures
from server.tools.search import search

TOOLS: Final[dict[str, tuple[str, Callable[..., Awaitable[Any]]]]] = {
    "Search": ("Search documents", search),
    "ListDocuments": ("List documents", list_documents),
    "list_failures": ("Files not indexed", list_failures),
    "get_next_chunk": ("Next chunk", get_next_chunk),
    "get_previous_chunk": ("Previous chunk", get_previous_chunk),
    "get_document_chunks": ("Chunks of a document", get_document_chunks),
}
