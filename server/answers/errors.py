"""What can go wrong with requests that only the server knows.

They are of the family of `shared.errors`, where everything else is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from shared.errors import (
    ChunkNotFoundError,
    DocumentNotFoundError,
    FieldNotFoundError,
    InvalidTextError,
    McpLuceneError,
)
from shared.messages import quantity, shortened


class ResourceNotFoundError(McpLuceneError):
    """A URI names nothing that the server has.

    Args:
        uri: the URI.
        reason: what is wrong with it, and what would be right.
    """

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"there is no resource {uri[:200]!r}: {reason}")


class LanguageNotFoundError(McpLuceneError):
    """No document of the index is in a language.

    Args:
        language: its code.
        known: the codes of the languages that there are.
    """

    def __init__(self, language: str, known: Sequence[str]) -> None:
        there = f"the languages are {', '.join(known[:50])}" if known else "no language is known"
        super().__init__(f"no document is in the language {language[:80]!r}; {there}")


class CursorError(McpLuceneError):
    """A list was asked for from a place that no page of it ended with."""

    def __init__(self, cursor: str) -> None:
        super().__init__(
            f"{cursor[:80]!r} is not a cursor of this list; ask for the first page without one"
        )


class TooManySubscriptionsError(McpLuceneError):
    """A client wants to hear of more resources than it may.

    Args:
        most: how many may be subscribed to.
        whose: by whom.
    """

    def __init__(self, most: int, whose: str = "a client") -> None:
        super().__init__(
            f"{whose} can subscribe to {quantity(most, 'resource')}; subscribe to fewer, or listen "
            "to changes of the list"
        )


class ServerBusyError(McpLuceneError):
    """Other calls held all threads until the time of a call was over."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was not run: the server was busy with other calls, or still starting, "
            f"for {seconds:g} seconds; try again"
        )


class QueryDisplacedError(McpLuceneError):
    """A call that took long was stopped, since too many others took long as well."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was stopped after {seconds:g} seconds or more, since too many others that "
            "take long were running; ask for less, or ask again later"
        )


class AnswerTooLongError(McpLuceneError):
    """Not even the ids of an answer fit into the length that was asked for."""

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"the answer does not fit into {characters:,} characters; ask for more with "
            "max_characters"
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
    return shortened(text, MAX_ERROR_CHARACTERS)


class TimeBudgetError(McpLuceneError):
    """A call took longer than the server allows."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the answer was not ready after {seconds:g} seconds and was given up; ask for less, "
            "or ask the user to start the server with a greater --time-budget"
        )
