"""Errors of requests to the server, in the hierarchy of `shared.errors`."""

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
from shared.messages import listed, quantity, shortened


class ResourceNotFoundError(McpLuceneError):
    """A URI identifies no resource of the server.

    Args:
        uri: the URI.
        reason: what is wrong with it, and the correct form.
    """

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"there is no resource {uri[:200]!r}: {reason}")


class LanguageNotFoundError(McpLuceneError):
    """No document of the index is in the language.

    Args:
        language: the language code.
        known: the language codes of the index.
    """

    def __init__(self, language: str, known: Sequence[str]) -> None:
        there = f"the languages are {listed(known)}" if known else "no language is known"
        super().__init__(f"no document is in the language {language[:80]!r}; {there}")


class CursorError(McpLuceneError):
    """A cursor was not returned by an earlier page of the list."""

    def __init__(self, cursor: str) -> None:
        super().__init__(
            f"{cursor[:80]!r} is not a cursor of this list; ask for the first page without one"
        )


class TooManySubscriptionsError(McpLuceneError):
    """A client exceeds the limit of subscriptions.

    Args:
        most: maximum number of subscriptions.
        whose: the client or clients that the limit applies to.
    """

    def __init__(self, most: int, whose: str = "a client") -> None:
        super().__init__(
            f"{whose} can subscribe to {quantity(most, 'resource')}; subscribe to fewer, or listen "
            "to changes of the list"
        )


class ServerBusyError(McpLuceneError):
    """No thread was free within the time budget."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was not run: the server was busy with other calls, or still starting, "
            f"for {seconds:g} seconds; try again"
        )


class QueryDisplacedError(McpLuceneError):
    """A slow call was stopped, since too many others were slow as well."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call was stopped after {seconds:g} seconds or more, because too many other slow "
            "calls were running; ask for less, or try again later"
        )


class AnswerTooLongError(McpLuceneError):
    """The ids of an answer alone exceed the requested length."""

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"the answer does not fit into {characters:,} characters; ask for more with "
            "max_characters"
        )


class DocumentFileError(McpLuceneError):
    """The file of a document cannot be read.

    Args:
        source_document: the id of the document.
        reason: the reason, whose subject is the document or its file.
    """

    def __init__(self, source_document: str, reason: str) -> None:
        super().__init__(f"{source_document[:200]} {reason}")


class PageNotShownError(DocumentFileError):
    """A page of a document cannot be shown as a picture."""


def client_message(error: McpLuceneError) -> str:
    """Return the message of an error with the tools that help, or what to ask the user for."""
    if isinstance(error, DocumentNotFoundError):
        return error.message(f"{error.suggestion}list the ids with ListDocuments")
    return error.client_message()


MAX_ERROR_CHARACTERS: Final = 2_000
"""Maximum length of an error message, in characters, since it may repeat data from a client."""

_REQUEST_ERRORS: Final = (
    AnswerTooLongError,
    ChunkNotFoundError,
    CursorError,
    DocumentNotFoundError,
    FieldNotFoundError,
    InvalidTextError,
    LanguageNotFoundError,
    PageNotShownError,
    ResourceNotFoundError,
    TooManySubscriptionsError,
)
"""Errors that a different request would avoid; all others are in the index or the server."""


@contextmanager
def as_protocol_errors(data: Any = None) -> Iterator[None]:
    """Convert errors within a block to protocol errors.

    Args:
        data: additional data of the protocol error.

    Raises:
        MCPError: in place of a `McpLuceneError`.
    """
    try:
        yield
    except McpLuceneError as error:
        raise protocol_error(error, data) from error


def protocol_error(error: McpLuceneError, data: Any = None) -> MCPError:
    """Return the protocol error for one of this project's errors."""
    code = INVALID_PARAMS if isinstance(error, _REQUEST_ERRORS) else INTERNAL_ERROR
    return MCPError(code, brief_error(client_message(error)), data)


async def keep_errors_brief(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Shorten protocol errors: middleware, since the SDK repeats parts of a request in them."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        detail = error.error
        data = brief_error(detail.data) if isinstance(detail.data, str) else detail.data
        raise MCPError(detail.code, brief_error(detail.message), data) from error


def brief_error(text: str) -> str:
    """Return the text of an error, cut to `MAX_ERROR_CHARACTERS`."""
    return shortened(text, MAX_ERROR_CHARACTERS)


class TokenMissingError(McpLuceneError):
    """A request reached the index without a token, though the server requires one of everybody."""

    def __init__(self) -> None:
        super().__init__("this needs a token; send it as Authorization: Bearer TOKEN")


class TimeBudgetError(McpLuceneError):
    """A call exceeded the time budget."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call had no result after {seconds:g} seconds and was stopped; ask for less, "
            "or ask the user to start the server with a longer --time-budget"
        )
