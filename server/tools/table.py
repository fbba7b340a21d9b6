"""The table of tools, by public name: title, group, function and annotations."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcp.types import ToolAnnotations

from server.settings import ServerOptionError, ServerSettings
from server.tools import connector
from server.tools.admin import (
    add_directory,
    admin_status,
    crawl_status,
    list_directories,
    optimize_index,
    pause_crawl,
    purge_index,
    remove_directory,
    resume_crawl,
    start_crawl,
    stop_crawl,
    unlock_index,
)
from server.tools.index import index_stats, list_fields, suggest_terms, top_terms
from server.tools.pages import show_page
from server.tools.read import (
    document_details,
    get_document_chunks,
    get_next_chunk,
    get_previous_chunk,
    list_documents,
    list_failures,
    more_like,
)
from server.tools.search import explain_query, search
from shared.messages import did_you_mean

READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Annotations of a tool that changes nothing."""

ADDITIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Annotations of a tool whose changes are reversible and lose nothing."""

DESTRUCTIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
"""Annotations of a tool that deletes or interrupts something."""


Group = Literal["search", "browse", "admin", "connector"]
"""The groups of tools: search for chunks, browse documents and the index, administer it, or do what
some assistants require of every connector."""

_ONLY_IF_NAMED: Final[tuple[Group, ...]] = ("connector",)
"""Groups that are offered only if ``--tools`` names them."""


@dataclass(frozen=True)
class ToolEntry:
    """A tool as the server registers it."""

    title: str
    group: Group
    function: Callable[..., Awaitable[Any]]
    annotations: ToolAnnotations = field(default_factory=lambda: READ_ONLY)


TOOLS: Final[dict[str, ToolEntry]] = {
    "Search": ToolEntry("Search documents", "search", search),
    "more_like": ToolEntry("Similar chunks", "search", more_like),
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
    "show_page": ToolEntry("Page of a PDF as a picture", "browse", show_page),
    "search": ToolEntry("Search for texts to fetch", "connector", connector.search),
    "fetch": ToolEntry("Fetch a text", "connector", connector.fetch),
    "start_crawl": ToolEntry("Crawl folders", "admin", start_crawl, DESTRUCTIVE),
    "crawl_status": ToolEntry("Progress of a crawl", "admin", crawl_status),
    "pause_crawl": ToolEntry("Pause a crawl", "admin", pause_crawl, ADDITIVE),
    "resume_crawl": ToolEntry("Resume a crawl", "admin", resume_crawl, DESTRUCTIVE),
    "stop_crawl": ToolEntry("Stop a crawl", "admin", stop_crawl, DESTRUCTIVE),
    "list_directories": ToolEntry("List folders to crawl", "admin", list_directories),
    "add_directory": ToolEntry("Remember a folder", "admin", add_directory, ADDITIVE),
    "remove_directory": ToolEntry("Forget a folder", "admin", remove_directory, DESTRUCTIVE),
    "optimize_index": ToolEntry("Merge the index", "admin", optimize_index, ADDITIVE),
    "purge_index": ToolEntry("Delete all documents", "admin", purge_index, DESTRUCTIVE),
    "unlock_index": ToolEntry("Remove a lock", "admin", unlock_index, DESTRUCTIVE),
    "admin_status": ToolEntry("Administration status", "admin", admin_status),
}


def chosen_tools(settings: ServerSettings) -> dict[str, ToolEntry]:
    """Return the tools that a server offers."""
    left_out = _names(settings.exclude_tools)
    members = _members(TOOLS)
    administration = members["admin"]
    left_out_by_default = set().union(
        set() if settings.admin else administration, *(members[group] for group in _ONLY_IF_NAMED)
    )
    wanted = _names(settings.tools) or set(TOOLS) - left_out_by_default
    if not settings.admin and wanted & administration:
        named = ", ".join(choice for choice in settings.tools if _names([choice]) & administration)
        raise ServerOptionError(
            f"--tools {named}: the administration tools need --admin, and --root for the "
            "folders that may be crawled"
        )
    chosen = {name: tool for name, tool in TOOLS.items() if name in wanted - left_out}
    if not chosen:
        raise ServerOptionError("no tool is left to offer; exclude fewer tools")
    return chosen


def _names(choices: Iterable[str]) -> set[str]:
    members = _members(TOOLS)
    names: set[str] = set()
    for choice in choices:
        if choice not in members:
            hint = did_you_mean(choice, members, f"there are {', '.join(members)}")
            raise ServerOptionError(f"there is no tool or group of tools {choice[:60]!r}; {hint}")
        names |= members[choice]
    return names


def _members(tools: Mapping[str, ToolEntry]) -> dict[str, set[str]]:
    """Return the tools of each group, and each tool by itself."""
    groups: dict[str, set[str]] = {}
    for name, tool in tools.items():
        groups.setdefault(tool.group, set()).add(name)
    # A tool with the name of a group is chosen with its own group only.
    return groups | {name: {name} for name in tools if name not in groups}
