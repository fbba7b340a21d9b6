"""Completion of template variables and prompt arguments, with values from the index."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.shared.uri_template import UriTemplate
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    PromptReference,
)

from server.answers.errors import as_protocol_errors, brief_error
from server.answers.text import DEFAULT_CHARACTERS, fitting
from server.resources.listing import TEMPLATES
from server.state import ServerState, ask
from shared.model.index_results import Names

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

MAX_VALUES: Final = 100
"""Maximum number of values in a completion, as the protocol requires."""

_ENVELOPE_CHARACTERS: Final = 500
"""Characters reserved for the rest of the response besides the values."""

Completer = Callable[["Searcher", str], Names]
"""Takes a searcher and the typed prefix, and returns the matching values."""


def _document_ids(searcher: "Searcher", typed: str) -> Names:
    return searcher.catalog.document_ids(typed, MAX_VALUES)


def _chunk_ids(searcher: "Searcher", typed: str) -> Names:
    return searcher.catalog.chunk_ids(typed, MAX_VALUES)


def _fields(searcher: "Searcher", typed: str) -> Names:
    return _matching(searcher.catalog.field_names(), typed)


def _languages(searcher: "Searcher", typed: str) -> Names:
    # The most frequent first.
    return _matching(searcher.statistics().languages, typed)


def _matching(names: Iterable[str], typed: str) -> Names:
    found = [name for name in names if name.casefold().startswith(typed.casefold())]
    return Names(len(found), found[:MAX_VALUES])


COMPLETERS: Final[dict[tuple[str, str], Completer]] = {
    ("document", "id"): _document_ids,
    ("document_part", "id"): _document_ids,
    ("chunk", "id"): _chunk_ids,
    ("field", "field"): _fields,
    ("language", "language"): _languages,
    ("answer_from_documents", "language"): _languages,
    ("summarize_document", "document_id"): _document_ids,
    ("compare_documents", "first_document_id"): _document_ids,
    ("compare_documents", "second_document_id"): _document_ids,
}
"""Completers by the name of the template or prompt, and of its variable or argument."""


async def complete(
    context: ServerRequestContext[ServerState, Any],
    parameters: CompleteRequestParams,
    prompts: Sequence[Prompt],
) -> CompleteResult:
    """Complete a variable of a template, or an argument of one of the offered prompts."""
    ref, typed = parameters.ref, parameters.argument
    if isinstance(ref, PromptReference):
        arguments = {
            prompt.name: [argument.name for argument in prompt.arguments or ()]
            for prompt in prompts
        }
        name, variables = ref.name, _known("prompt", ref.name, arguments)
    else:
        name = _known("template", ref.uri, TEMPLATES).name
        variables = UriTemplate.parse(ref.uri).variable_names
    _known("variable or argument", typed.name, dict.fromkeys(variables))
    completer = COMPLETERS.get((name, typed.name))
    if completer is None:
        return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
    with as_protocol_errors():
        found = await ask(
            Context(request_context=context), lambda searcher: completer(searcher, typed.value)
        )
    values = found.values[: fitting(found.values, DEFAULT_CHARACTERS - _ENVELOPE_CHARACTERS)]
    return CompleteResult(
        completion=Completion(values=values, total=found.total, has_more=found.total > len(values))
    )


def _known(what: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table by name, or refuse the request."""
    if name not in table:
        text = f"there is no {what} {name[:200]!r}; there are {', '.join(table)}"
        raise MCPError(INVALID_PARAMS, brief_error(text))
    return table[name]
