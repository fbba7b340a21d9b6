"""Completion of template variables and prompt arguments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
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
from server.prompts.table import PROMPTS
from server.resources.templates import TEMPLATES
from server.runtime.known_values import Completer
from server.runtime.state import ServerState, ask

_COMPLETION_ENVELOPE_CHARACTERS: Final = 500
"""Characters reserved for the rest of the response besides the values."""

Variables: TypeAlias = Mapping[str, Completer | None]
"""Completer of each template variable or prompt argument; None without completion."""


class Completions:
    """Completion of variables and arguments with values from the index.

    Args:
        prompts: the prompts that the server offers.
    """

    def __init__(self, prompts: Sequence[Prompt]) -> None:
        self._templates: dict[str, Variables] = {
            template: _variables(UriTemplate.parse(template).variable_names, entry.completers)
            for template, entry in TEMPLATES.items()
        }
        self._prompts: dict[str, Variables] = {
            prompt.name: _variables(
                (argument.name for argument in prompt.arguments or ()),
                PROMPTS[prompt.name].completers,
            )
            for prompt in prompts
        }

    def register(self, server: Server[ServerState]) -> None:
        """Register the completion handler with a server."""
        server.add_request_handler("completion/complete", CompleteRequestParams, self._complete)

    async def _complete(
        self, context: ServerRequestContext[ServerState, Any], parameters: CompleteRequestParams
    ) -> CompleteResult:
        ref, typed = parameters.ref, parameters.argument
        if isinstance(ref, PromptReference):
            variables = _known("prompt", ref.name, self._prompts)
        else:
            variables = _known("template", ref.uri, self._templates)
        completer = _known("variable or argument", typed.name, variables)
        if completer is None:
            return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
        with as_protocol_errors():
            found = await ask(
                Context(request_context=context),
                lambda searcher: completer(searcher, typed.value),
            )
        values = found.values[
            : fitting(found.values, DEFAULT_CHARACTERS - _COMPLETION_ENVELOPE_CHARACTERS)
        ]
        return CompleteResult(
            completion=Completion(
                values=values, total=found.total, has_more=found.total > len(values)
            )
        )


def _variables(names: Iterable[str], completers: Mapping[str, Completer]) -> Variables:
    return {name: completers.get(name) for name in names}


def _known(what: str, name: str, table: Mapping[str, Any]) -> Any:
    """Return the entry of a table by name.

    Raises:
        MCPError: the table has no such entry.
    """
    if name not in table:
        text = f"there is no {what} {name[:200]!r}; there are {', '.join(table)}"
        raise MCPError(INVALID_PARAMS, brief_error(text))
    return table[name]
