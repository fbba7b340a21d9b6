"""Errors of the JSON API as problem details (RFC 9457)."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from server.administration.errors import OperationNotFoundError, OperationRunningError
from server.answers.errors import (
    CursorError,
    DocumentFileError,
    LanguageNotFoundError,
    QueryDisplacedError,
    ResourceNotFoundError,
    ServerBusyError,
    TimeBudgetError,
    brief_error,
    client_message,
)
from shared.errors import (
    ChunkNotFoundError,
    DocumentNotFoundError,
    ExtraMissingError,
    FieldNotFoundError,
    FilterError,
    IndexFolderError,
    InvalidTextError,
    JavaHeapError,
    JavaStartError,
    LanguageModelError,
    McpLuceneError,
    QueryError,
)
from shared.messages import shortened

MEDIA_TYPE: Final = "application/problem+json"
"""Media type of a problem (RFC 9457, section 3)."""

_STATUS: Final[tuple[tuple[tuple[type[McpLuceneError], ...], HTTPStatus], ...]] = (
    (
        (
            *(ChunkNotFoundError, DocumentFileError, DocumentNotFoundError, FieldNotFoundError),
            *(LanguageNotFoundError, OperationNotFoundError, ResourceNotFoundError),
        ),
        HTTPStatus.NOT_FOUND,
    ),
    ((CursorError, FilterError, InvalidTextError, QueryError), HTTPStatus.BAD_REQUEST),
    ((OperationRunningError,), HTTPStatus.CONFLICT),
    ((LanguageModelError,), HTTPStatus.BAD_GATEWAY),
    (
        (
            *(ExtraMissingError, IndexFolderError, JavaHeapError, JavaStartError),
            *(QueryDisplacedError, ServerBusyError, TimeBudgetError),
        ),
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)
"""Status of each error; of any other it is 500."""

_TEMPORARY: Final = (QueryDisplacedError, ServerBusyError, TimeBudgetError)
"""Errors that the same request may not have a little later."""

_RETRY_AFTER_SECONDS: Final = 1

_MAX_LISTED_ERRORS: Final = 5
"""Maximum number of invalid arguments that a problem describes."""

_MAX_VALUE_CHARACTERS: Final = 60

_MAX_PATH_CHARACTERS: Final = 200


class Problem(BaseModel):
    """An error (RFC 9457).

    Attributes:
        type: ``about:blank``, since the status says what kind of problem it is.
        title: the phrase of the status.
        status: the status of the response.
        detail: what happened, to what, and what to do.
    """

    type: str = "about:blank"
    title: str
    status: int = Field(ge=400, le=599)
    detail: str


PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status in (400, 401, 403, 404, 405, 408, 409, 413, 416, 422, 429, 500, 502, 503)
}
"""Problems that any request may have, for the description of the API."""


def problem(status: HTTPStatus, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as a response.

    Args:
        status: its status.
        detail: what happened, to what, and what to do.
        headers: further headers.
    """
    body = Problem(title=status.phrase, status=status, detail=brief_error(detail))
    return Response(body.model_dump_json(), status, headers, MEDIA_TYPE)


def problem_of(error: McpLuceneError) -> Response:
    """Return an error of this project as a response, with the message of the tools."""
    status = next(
        (status for types, status in _STATUS if isinstance(error, types)),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    retry = {"Retry-After": str(_RETRY_AFTER_SECONDS)} if isinstance(error, _TEMPORARY) else None
    return problem(status, client_message(error), retry)


def answer_errors_as_problems(app: FastAPI) -> None:
    """Make an application answer its errors, and those of FastAPI, as problems."""

    async def known(_request: Request, error: Exception) -> Response:
        assert isinstance(error, McpLuceneError)  # noqa: S101 - registered for this class only
        return problem_of(error)

    async def invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, _description(error.errors()))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        status = HTTPStatus(error.status_code)
        path = shortened(request.url.path, _MAX_PATH_CHARACTERS)
        known = _HTTP_DETAILS.get(status)
        detail = known.format(method=request.method, path=path) if known else error.detail
        headers = dict(error.headers or {})
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_methods(app, request))
        return problem(status, detail, headers)

    async def unforeseen(_request: Request, _error: Exception) -> Response:
        # The log has the error; its text may contain parts of documents.
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "the server failed unexpectedly; its log says where, please report it",
        )

    app.add_exception_handler(McpLuceneError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unforeseen)


_METHODS: Final = ("GET", "HEAD", "POST")
"""Methods of the endpoints."""

_HTTP_DETAILS: Final = {
    HTTPStatus.NOT_FOUND: "there is nothing at {path}; /api/docs lists all that there is, and an "
    "id within a path is percent-encoded, with its slashes",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not take the method {method}",
}


def _methods(app: FastAPI, request: Request) -> list[str]:
    """Return the methods that a path takes; the framework names those of its first route only."""
    return [
        method
        for method in _METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in app.routes
        )
    ]


def _description(errors: Sequence[Any]) -> str:
    described = [_described(error) for error in errors[:_MAX_LISTED_ERRORS]]
    if more := len(errors) - len(described):
        described.append(f"and {more:,} more")
    return "; ".join(described)


def _described(error: Any) -> str:
    # The first part says where the argument was: in the query, the path or the body.
    name = ".".join(map(str, error["loc"][1:])) or str(error["loc"][0])
    match error["type"]:
        case "extra_forbidden":
            return f"there is no argument {name!r}"
        case "missing":
            return f"the argument {name!r} is missing"
        case "json_invalid":
            return "the body is not valid JSON"
    shown = shortened(to_json(error.get("input"), fallback=str).decode(), _MAX_VALUE_CHARACTERS)
    return f"the argument {name!r} is {shown}: {error['msg'][:1].lower()}{error['msg'][1:]}"
