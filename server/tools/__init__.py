"""The tools: one table, by public name, of the title that people see and the function."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from server.tools.chunks import get_document_chunks, get_next_chunk, get_previous_chunk
from server.tools.documents import document_details, list_documents, list_failures
from server.tools.explain import explain_query
from server.tools.index import index_stats, list_fields
from server.tools.search import search
from server.tools.terms import suggest_terms, top_terms

TOOLS: Final[dict[str, tuple[str, Callable[..., Awaitable[Any]]]]] = {
    "Search": ("Search documents", search),
    "explain_query": ("Explain a query", explain_query),
    "ListDocuments": ("List documents", list_documents),
    "document_details": ("Details of a document", document_details),
    "suggest_terms": ("Words that begin so", suggest_terms),
    "top_terms": ("Most frequent words or values", top_terms),
    "list_fields": ("List fields", list_fields),
    "index_stats": ("State of the index", index_stats),
    "list_failures": ("Files not indexed", list_failures),
    "get_next_chunk": ("Next chunk", get_next_chunk),
    "get_previous_chunk": ("Previous chunk", get_previous_chunk),
    "get_document_chunks": ("Chunks of a document", get_document_chunks),
}
