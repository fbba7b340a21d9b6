"""The table of tools, by public name: title, group, function and annotations.

Short JSON Schemas of tools, which occupy the context of every conversation.

pydantic adds a title to each property, the docstrings of Python classes, and a definition for each
class. What is left has the words only that all clients and models take: Gemini refuses a whole
conversation for an exclusive bound, a constant, a reference, or a description beside a union.
"""

from collections.abc import Awaitable, Callable, Iterable, Set as AbstractSet
from typing import Any, Final, Literal, NamedTuple

from mcp.types import ToolAnnotations

from server.settings import ServerOptionError, ServerSettings
from server.tools import admin, connector, index, read
from server.tools.search import explain_query, search
from shared.messages import did_you_mean

_REFERENCE: Final = "#/$defs/"

_NULL_SCHEMA: Final = {"type": "null"}
_NUMBER_SCHEMA: Final = {"type": "number"}
_INTEGER_SCHEMA: Final = {"type": "integer"}

_LEFT_OUT: Final = frozenset({"$defs", "title", "minLength", "maxLength"})
"""Keywords that no model needs: pydantic checks the lengths."""

Schema = dict[str, Any]


def short_input_schema(schema: Schema) -> Schema:
    """Shorten the schema of a tool's arguments; the description of each argument stays."""
    definitions = schema.get("$defs", {})

    def short(part: Any, left_out: AbstractSet[str]) -> Any:
        match part:
            case {"$ref": str(reference), **rest}:
                definition = definitions[reference.removeprefix(_REFERENCE)]
                return short(definition, left_out | {"description"}) | short(rest, left_out)
            case dict():
                kept = {
                    # Of properties the keys are names of arguments, such as title.
                    word: {name: short(of, left_out) for name, of in each.items()}
                    if word == "properties"
                    else short(each, left_out)
                    for word, each in part.items()
                    if word not in left_out
                }
                return _in_common_words(kept)
            case list():
                return [short(each, left_out) for each in part]
        return part

    shortened: Schema = short(schema, _LEFT_OUT)
    return shortened


def _in_common_words(schema: Schema) -> Schema:
    """Replace words that some clients refuse, and drop options of unions that say nothing more.

    These are null where it is the default, and integer beside number.
    """
    match schema:
        case {"anyOf": list(options), **rest}:
            redundant = [_INTEGER_SCHEMA] if _NUMBER_SCHEMA in options else []
            if rest.get("default", ...) is None:
                redundant.append(_NULL_SCHEMA)
                del rest["default"]
            left = [option for option in options if option not in redundant]
            return {**left[0], **rest} if len(left) == 1 else {**rest, "anyOf": left}
        case {"exclusiveMinimum": bound, **rest}:
            return {"minimum": bound, **rest}
        case {"default": [], **rest}:
            return rest
    return schema


def short_output_schema(schema: Schema, never_null: AbstractSet[str]) -> Schema:
    """Shorten the schema of a tool's result to the names and types of its fields.

    Objects within a result are documented in docs/tools.md; models see them in the results.
    `never_null` are fields that a result omits instead of setting them to null.
    """
    fields = {
        name: _type_of(part, with_null=name not in never_null)
        for name, part in schema["properties"].items()
    }
    return {"type": "object", "properties": fields}


def _type_of(schema: Schema, *, with_null: bool = True) -> Schema:
    """Return the type of a value, and of the items of a list."""
    match schema:
        case {"$ref": _}:
            return {"type": "object"}
        case {"anyOf": list(options)}:
            types = [_type_of(option) for option in options if with_null or option != _NULL_SCHEMA]
            if len(types) == 1:
                return types[0]
            merged = {keyword: part for each in types for keyword, part in each.items()}
            return merged | {"type": [each["type"] for each in types]}
        case {"type": "array", "items": items}:
            return {"type": "array", "items": _type_of(items)}
    return {"type": schema["type"]}


READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, open_world_hint=False
)
"""Annotations of a tool that changes nothing; whether again has no effect is asked of others."""

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


class ToolEntry(NamedTuple):
    title: str
    group: Group
    function: Callable[..., Awaitable[Any]]
    annotations: ToolAnnotations = READ_ONLY


TOOLS: Final[dict[str, ToolEntry]] = {
    "Search": ToolEntry("Search documents", "search", search),
    "more_like": ToolEntry("Similar chunks", "search", read.more_like),
    "explain_query": ToolEntry("Explain a query", "search", explain_query),
    "ListDocuments": ToolEntry("List documents", "browse", read.list_documents),
    "document_details": ToolEntry("Details of a document", "browse", read.document_details),
    "suggest_terms": ToolEntry("Words with a prefix", "search", index.suggest_terms),
    "top_terms": ToolEntry("Most frequent words or values", "search", index.top_terms),
    "list_fields": ToolEntry("List fields", "search", index.list_fields),
    "index_stats": ToolEntry("Index statistics", "browse", index.index_stats),
    "list_failures": ToolEntry("Files not indexed", "browse", read.list_failures),
    "get_next_chunk": ToolEntry("Next chunk", "browse", read.get_next_chunk),
    "get_previous_chunk": ToolEntry("Previous chunk", "browse", read.get_previous_chunk),
    "get_document_chunks": ToolEntry("Chunks of a document", "browse", read.get_document_chunks),
    "show_page": ToolEntry("Page of a PDF as a picture", "browse", read.show_page),
    "search": ToolEntry("Search for texts to fetch", "connector", connector.search),
    "fetch": ToolEntry("Fetch a text", "connector", connector.fetch),
    "start_crawl": ToolEntry("Crawl folders", "admin", admin.start_crawl, DESTRUCTIVE),
    "crawl_status": ToolEntry("Progress of a crawl", "admin", admin.crawl_status),
    "pause_crawl": ToolEntry("Pause a crawl", "admin", admin.pause_crawl, ADDITIVE),
    "resume_crawl": ToolEntry("Resume a crawl", "admin", admin.resume_crawl, DESTRUCTIVE),
    "stop_crawl": ToolEntry("Stop a crawl", "admin", admin.stop_crawl, DESTRUCTIVE),
    "list_directories": ToolEntry("List folders to crawl", "admin", admin.list_directories),
    "add_directory": ToolEntry("Remember a folder", "admin", admin.add_directory, ADDITIVE),
    "remove_directory": ToolEntry("Forget a folder", "admin", admin.remove_directory, DESTRUCTIVE),
    "optimize_index": ToolEntry("Merge the index", "admin", admin.optimize_index, ADDITIVE),
    "purge_index": ToolEntry("Delete all documents", "admin", admin.purge_index, DESTRUCTIVE),
    "unlock_index": ToolEntry("Remove a lock", "admin", admin.unlock_index, DESTRUCTIVE),
    "admin_status": ToolEntry("Administration status", "admin", admin.admin_status),
}


def _members() -> dict[str, set[str]]:
    """Return the tools of each group, and each tool by itself."""
    groups: dict[str, set[str]] = {}
    for name, tool in TOOLS.items():
        groups.setdefault(tool.group, set()).add(name)
    # A tool with the name of a group is chosen with its own group only.
    return groups | {name: {name} for name in TOOLS if name not in groups}


_MEMBERS: Final = _members()


def chosen_tools(settings: ServerSettings) -> dict[str, ToolEntry]:
    """Return the tools that a server offers."""
    left_out = _names(settings.exclude_tools)
    administration = _MEMBERS["admin"]
    # What some assistants require is offered only if it is named.
    usual = set(TOOLS) - _MEMBERS["connector"] - (set() if settings.admin else administration)
    wanted = _names(settings.tools) or usual
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
    names: set[str] = set()
    for choice in choices:
        if choice not in _MEMBERS:
            hint = did_you_mean(choice, _MEMBERS, f"there are {', '.join(_MEMBERS)}")
            raise ServerOptionError(f"there is no tool or group of tools {choice[:60]!r}; {hint}")
        names |= _MEMBERS[choice]
    return names
