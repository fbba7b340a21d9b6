"""Errors of the JSON API as problem details (RFC 9457)."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from server.answers.errors import (
    CursorError,
    DocumentFileError,
    LanguageNotFoundError,
    OperationNotFoundError,
    OperationRunningError,
    QueryDisplacedError,
    ResourceNotFoundError,
    ServerBusyError,
    TimeBudgetError,
    brief_error,
    client_message,
    described_errors,
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

RETRY: Final = {"Retry-After": "1"}
"""Headers of a refusal that does not hold for long."""

_MAX_PATH_CHARACTERS: Final = 200


class Problem(BaseModel):
    """An error (RFC 9457)."""

    type: str = "about:blank"  # the status says what kind of problem it is
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


class ProblemResponse(Response):
    """A problem, of which a page may be made for people."""

    media_type = MEDIA_TYPE

    def __init__(
        self, status: HTTPStatus, detail: str, headers: dict[str, str] | None = None
    ) -> None:
        self.detail = brief_error(detail)
        body = Problem(title=status.phrase, status=status, detail=self.detail)
        super().__init__(body.model_dump_json(), status, headers)


def problem(
    status: HTTPStatus, detail: str, headers: dict[str, str] | None = None
) -> ProblemResponse:
    """Return a problem as a response; the detail says what happened, to what, and what to do."""
    return ProblemResponse(status, detail, headers)


def problem_of(error: McpLuceneError) -> ProblemResponse:
    """Return an error of this project as a response, with the message of the tools."""
    status = next(
        (status for types, status in _STATUS if isinstance(error, types)),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    return problem(status, client_message(error), RETRY if isinstance(error, _TEMPORARY) else None)


def answer_errors(app: FastAPI, shown: Callable[[Request, Response], Response]) -> None:
    """Make an application answer its errors as problems, and show these for a request."""

    async def known(request: Request, error: Exception) -> Response:
        assert isinstance(error, McpLuceneError)  # noqa: S101 - registered for this class only
        return shown(request, problem_of(error))

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101
        # The first part says where the argument was: in the query, the path or the body.
        details = [each | {"loc": each["loc"][1:] or each["loc"]} for each in error.errors()]
        detail = described_errors(details)
        return shown(request, problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        status = HTTPStatus(error.status_code)
        path = shortened(request.url.path, _MAX_PATH_CHARACTERS)
        known = _HTTP_DETAILS.get(status)
        detail = known.format(method=request.method, path=path) if known else error.detail
        return shown(request, problem(status, detail, dict(error.headers or {})))

    async def unforeseen(request: Request, _error: Exception) -> Response:
        # The log has the error; its text may contain parts of documents.
        return shown(
            request,
            problem(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "the server failed unexpectedly; its log says where, please report it",
            ),
        )

    app.add_exception_handler(McpLuceneError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unforeseen)


_HTTP_DETAILS: Final = {
    HTTPStatus.NOT_FOUND: "there is nothing at {path}; /api/openapi.json lists all that there is, "
    "and an id within a path is percent-encoded, with its slashes",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not take the method {method}",
}
