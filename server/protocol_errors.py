"""Mistakes and troubles as errors of the protocol, for what is not a tool.

A tool answers a mistake, so that the model reads it. A resource, a prompt or a completion has no
such answer: the protocol knows an error with a code and a text for them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from server.errors import (
    AnswerTooLongError,
    CursorError,
    LanguageNotFoundError,
    ResourceNotFoundError,
    TooManySubscriptionsError,
)
from shared.errors import (
    ChunkNotFoundError,
    DocumentNotFoundError,
    FieldNotFoundError,
    InvalidTextError,
    McpLuceneError,
)

MAX_ERROR_CHARACTERS: Final = 2_000
"""Characters of an error: what a client sent may come back in it."""

_OF_THE_CLIENT: Final = (
    AnswerTooLongError,
    ChunkNotFoundError,
    CursorError,
    DocumentNotFoundError,
    FieldNotFoundError,
    InvalidTextError,
    LanguageNotFoundError,
    ResourceNotFoundError,
    TooManySubscriptionsError,
)
"""What another request would not run into; everything else is in the index or the server."""


@contextmanager
def told_to_client(data: Any = None) -> Iterator[None]:
    """Have the client told what goes wrong within a block.

    Args:
        data: what comes with an error, beside its text.

    Raises:
        MCPError: in place of a `McpLuceneError`.
    """
    try:
        yield
    except McpLuceneError as error:
        raise protocol_error(error, data) from error


def protocol_error(error: McpLuceneError, data: Any = None) -> MCPError:
    """The error of the protocol that tells of one of ours."""
    code = INVALID_PARAMS if isinstance(error, _OF_THE_CLIENT) else INTERNAL_ERROR
    return MCPError(code, brief_error(error.for_client), data)


async def keep_errors_brief(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Middleware of the server: cuts what the SDK repeats of a request, such as its method."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        told = error.error
        data = brief_error(told.data) if isinstance(told.data, str) else told.data
        raise MCPError(told.code, brief_error(told.message), data) from error


def brief_error(text: str) -> str:
    """The text of an error, cut where it is long."""
    return text if len(text) <= MAX_ERROR_CHARACTERS else f"{text[:MAX_ERROR_CHARACTERS]}…"
