"""Errors of prompt requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp import MCPError
from mcp.types import INVALID_PARAMS, Prompt
from pydantic import ValidationError

from server.answers.argument_errors import describe
from server.answers.errors import brief_error, protocol_error
from server.prompts.table import PROMPTS
from shared.errors import McpLuceneError
from shared.messages import did_you_mean


def check_request(name: str, arguments: Mapping[str, Any], offered: Sequence[Prompt]) -> None:
    """Check that a prompt exists and has its required arguments.

    Raises:
        MCPError: the prompt does not exist, or an argument is missing.
    """
    prompts = {prompt.name: prompt for prompt in offered}
    if name not in prompts:
        hint = did_you_mean(name, prompts, f"there are {', '.join(prompts) or 'none'}")
        raise MCPError(INVALID_PARAMS, f"there is no prompt {name[:60]!r}; {hint}")
    for argument in prompts[name].arguments or ():
        if argument.required and argument.name not in arguments:
            raise MCPError(INVALID_PARAMS, f"{name}: the argument {argument.name!r} is missing")


def prompt_error(name: str, error: ValueError) -> MCPError | None:
    """Return the protocol error for an error that the SDK raised.

    Args:
        name: the prompt.
        error: the SDK's error; the cause of its cause is the error of the prompt's function.

    Returns:
        The protocol error, or None for an unexpected error.
    """
    match error.__cause__ and error.__cause__.__cause__:
        case ValidationError() as invalid:
            text = f"{name}: {describe(invalid, PROMPTS[name].function)}"
            return MCPError(INVALID_PARAMS, brief_error(text))
        case McpLuceneError() as known:
            return protocol_error(known)
    return None
