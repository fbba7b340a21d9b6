"""The tools: one table, by public name, of each tool's title, group, function and annotations."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcp.types import ToolAnnotations

from server.tools.annotations import ADDS, DESTRUCTIVE, READ_ONLY
from server.tools.chunks import get_document_chunks, get_next_chunk, get_previous_chunk
from server.tools.crawl import (
    admin_status,
    crawl_status,
    pause_crawl,
    resume_crawl,
    start_crawl,
    stop_crawl,
)
from server.tools.directories import add_directory, list_directories, remove_directory
from server.tools.documents import document_details, list_documents, list_failures
from server.tools.explain import explain_query
from server.tools.index import index_stats, list_fields
from server.tools.maintenance import optimize_index, purge_index, unlock_index
from server.tools.search import search
from server.tools.terms import suggest_terms, top_terms

Group = Literal["search", "browse", "admin"]
"""What a tool is for: to find chunks, to look through documents and the index, or to change it."""


@dataclass(frozen=True)
class ToolEntry:
    """A tool as the server registers it.

    Attributes:
        title: the name that people see.
        group: tools are chosen by their group or by their name.
        function: its docstring and arguments are the description that a model gets.
        annotations: its effects, for clients.
    """

    title: str
    group: Group
    function: Callable[..., Awaitable[Any]]
    annotations: ToolAnnotations = field(default_factory=lambda: READ_ONLY)


TOOLS: Final[dict[str, ToolEntry]] = {
    "Search": ToolEntry("Search documents", "search", search),
    "explain_query": ToolEntry("Explain a query", "search", explain_query),
    "ListDocuments": ToolEntry("List documents", "browse", list_documents),
    "document_details": ToolEntry("Details of a document", "browse", document_details),
    "suggest_terms": ToolEntry("Words with a prefix", "search", suggest_terms),
    "top_terms": ToolEntry("Most frequent words or values", "search", top_terms),
    "list_fields": ToolEntry("List fields", "search", list_fields),
    "index_stats": ToolEntry("Index statistics", "browse", index_stats),
    "list_failures": ToolEntry("Files not indexed", "browse", list_failures),
    "get_next_chunk": ToolEntry("Next chunk", "browse", get_next_chunk),
    "get_previous_chunk": ToolEntry("Previous chunk", "browse", get_previous_chunk),
    "get_document_chunks": ToolEntry("Chunks of a document", "browse", get_document_chunks),
    "start_crawl": ToolEntry("Crawl folders", "admin", start_crawl, DESTRUCTIVE),
    "crawl_status": ToolEntry("Progress of a crawl", "admin", crawl_status),
    "pause_crawl": ToolEntry("Pause a crawl", "admin", pause_crawl, ADDS),
    "resume_crawl": ToolEntry("Resume a crawl", "admin", resume_crawl, DESTRUCTIVE),
    "stop_crawl": ToolEntry("Stop a crawl", "admin", stop_crawl, DESTRUCTIVE),
    "list_directories": ToolEntry("List folders to crawl", "admin", list_directories),
    "add_directory": ToolEntry("Remember a folder", "admin", add_directory, ADDS),
    "remove_directory": ToolEntry("Forget a folder", "admin", remove_directory, DESTRUCTIVE),
    "optimize_index": ToolEntry("Merge the index", "admin", optimize_index, ADDS),
    "purge_index": ToolEntry("Delete all documents", "admin", purge_index, DESTRUCTIVE),
    "unlock_index": ToolEntry("Remove a lock", "admin", unlock_index, DESTRUCTIVE),
    "admin_status": ToolEntry("Administration status", "admin", admin_status),
}
