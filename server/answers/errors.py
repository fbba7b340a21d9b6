"""Errors of requests to the server, in the hierarchy of `shared.errors`, and their messages."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from shared.errors import (
    ChunkNotFoundError,
    DocumentNotFoundError,
    FieldNotFoundError,
    InvalidTextError,
    McpLuceneError,
)
from shared.messages import decodable, did_you_mean, listed, quantity, shortened


class ResourceNotFoundError(McpLuceneError):
    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"there is no resource {uri[:200]!r}: {reason}")


class LanguageNotFoundError(McpLuceneError):
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


class AnswerTooLongError(McpLuceneError):
    """The ids of an answer alone exceed the requested length."""

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"the answer does not fit into {characters:,} characters; ask for more with "
            "max_characters"
        )


class DocumentFileError(McpLuceneError):
    def __init__(self, source_document: str, reason: str) -> None:
        super().__init__(f"{source_document[:200]} {reason}")


class PageNotShownError(DocumentFileError):
    """A page of a document cannot be shown as a picture."""


class TokenMissingError(McpLuceneError):
    """A request reached the index without a token, though the server requires one of everybody."""

    def __init__(self) -> None:
        super().__init__("this needs a token; send it as Authorization: Bearer TOKEN")


class TimeBudgetError(McpLuceneError):
    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call had no result after {seconds:g} seconds and was stopped; ask for less, "
            "or ask the user to start the server with a longer --time-budget"
        )


class DirectoryError(McpLuceneError):
    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"the folder {decodable(str(path))[:200]!r} {reason}")


class OperationRunningError(McpLuceneError):
    def __init__(self, name: str, operation_id: str, state: str) -> None:
        paused = state == "paused"
        help_ = (
            "resume it with resume_crawl, or end it with stop_crawl" if paused else "wait for it"
        )
        if name == "crawl" and not paused:
            help_ += ", or end it with stop_crawl"
        super().__init__(
            f"the operation {name} ({operation_id}) is {state}, and there is one at a time: {help_}"
        )


class OperationNotFoundError(McpLuceneError):
    def __init__(self, operation_id: str, known: Sequence[str]) -> None:
        what = f"has the id {operation_id[:80]!r}" if operation_id else "was started"
        there = f"there are {', '.join(known)}" if known else "start one with start_crawl"
        super().__init__(f"no operation {what} since the server started; {there}")


class OperationStateError(McpLuceneError):
    def __init__(self, name: str, operation_id: str, state: str, requested: str) -> None:
        super().__init__(
            f"the operation {name} ({operation_id}) is {state} and cannot be {requested}"
        )


class ServerStoppingError(McpLuceneError):
    def __init__(self) -> None:
        super().__init__("the server is shutting down; start the operation again afterwards")


class ChildError(McpLuceneError):
    """`idx` could not be run or failed."""


def client_message(error: McpLuceneError) -> str:
    """Return the message of an error with the tools that help, or what to ask the user for."""
    if isinstance(error, DocumentNotFoundError):
        return error.message(f"{error.suggestion}search again, or list the ids with ListDocuments")
    return error.client_message()


MAX_ERROR_CHARACTERS: Final = 2_000  # of an error message, since it may repeat data from a client

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


def protocol_error(error: McpLuceneError, data: Any = None) -> MCPError:
    code = INVALID_PARAMS if isinstance(error, _REQUEST_ERRORS) else INTERNAL_ERROR
    return MCPError(code, brief_error(client_message(error)), data)


def brief_error(text: str) -> str:
    return shortened(text, MAX_ERROR_CHARACTERS)


_MAX_ARGUMENT_CHARACTERS: Final = 60

_MAX_LISTED_ERRORS: Final = 5
"""Maximum number of errors listed for one call: a client can send any number of unknown
arguments."""

_FILLED_IN: Final = frozenset({"context", "confirmation"})
"""Parameters filled in by the server, not by clients."""


def argument_errors(error: ValidationError, function: Callable[..., Any]) -> str:
    known = [name for name in inspect.signature(function).parameters if name not in _FILLED_IN]
    return described_errors(error.errors(include_url=False), known)


def described_errors(details: Sequence[Any], known: Sequence[str] | None = None) -> str:
    """Return a description of pydantic's errors; `known` are the names of all arguments, if few."""
    described = [_describe_one(detail, known) for detail in details[:_MAX_LISTED_ERRORS]]
    if more := len(details) - len(described):
        described.append(f"and {more:,} more")
    return "; ".join(described)


def _describe_one(detail: Any, known: Sequence[str] | None) -> str:
    name = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            if known is None or len(detail["loc"]) > 1:
                return f"there is no argument {name!r}"
            hint = did_you_mean(name, known, f"there are {', '.join(known) or 'none'}")
            return f"there is no argument {name!r}; {hint}"
        case "missing":
            return f"the argument {name!r} is missing"
        case "json_invalid":
            return "the body is not valid JSON"
        case "dataclass_type" | "model_type" | "model_attributes_type":
            # The library's messages are about classes of Python.
            problem = "input should be an object"
        case _:
            problem = f"{detail['msg'][:1].lower()}{detail['msg'][1:]}"
    shown = shortened(repr(detail.get("input")), _MAX_ARGUMENT_CHARACTERS)
    return f"the argument {name!r} is {shown}: {problem}"
