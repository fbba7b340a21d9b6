"""What endpoints share: the state, ids in paths, scopes, JSON, and errors as problems."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote

from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError, to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from server.administration.operations import Administration
from server.answers import errors as own
from server.answers.errors import brief_error, client_message, described_errors
from server.lucene_pool import QueryDisplacedError
from server.state import ServerState, granted_scopes
from shared import errors
from shared.errors import McpLuceneError
from shared.messages import shortened
from shared.model.search_results import plain

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

JSON: Final = "application/json"

NOT_CACHED: Final = {"Cache-Control": "no-store"}  # headers of answers with parts of documents

MAX_ENCODED_CHARACTERS: Final = 8_000
"""Maximum length of an id in a path, percent-encoded, in characters: half of what the headers of a
request may have, so that no proxy cuts it. Longer ids can be read by MCP."""


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]


def _decoded(encoded: str) -> str:
    try:
        return unquote(encoded, errors="strict")
    except UnicodeError as error:
        raise PydanticCustomError("not_utf8", "Its bytes are not UTF-8") from error


Encoded = Annotated[
    str,
    Path(
        min_length=1,
        max_length=MAX_ENCODED_CHARACTERS,
        description="Id of a document or chunk; percent-encoded, slashes, too.",
        # Before it is encoded, to twelve characters each: longer URLs may be refused by uvicorn.
        json_schema_extra={"maxLength": 1_300},
    ),
    AfterValidator(_decoded),
]
"""An id in a path, which is routed with its percent-encoding: see `server.http.application`."""


def _administrator(request: Request, state: State) -> Administration:
    if state.administration is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this server does not write; ask its operator to start it with --admin",
        )
    if "admin" not in granted_scopes(request):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this needs the scope 'admin', which the token of this request does not have; ask the "
            "operator for a token that has it",
        )
    return state.administration


Administrator = Annotated[Administration, Depends(_administrator)]
"""The administration service, for requests that may change something; others are refused."""


async def answered(state: ServerState, work: Callable[["Searcher"], Any]) -> Response:
    """Answer a request from the index, by a plain dataclass."""
    return as_json(plain(await state.ask(work)))


def as_json(content: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    return Response(to_json(content), status, NOT_CACHED, JSON)


MEDIA_TYPE: Final = "application/problem+json"  # media type of a problem (RFC 9457, section 3)

_TEMPORARY: Final = (QueryDisplacedError, own.ServerBusyError, own.TimeBudgetError)
"""Errors that the same request may not have a little later."""

_STATUS: Final[dict[HTTPStatus, tuple[type[McpLuceneError], ...]]] = {
    HTTPStatus.NOT_FOUND: (
        *(errors.ChunkNotFoundError, errors.DocumentNotFoundError, errors.FieldNotFoundError),
        *(own.DocumentFileError, own.LanguageNotFoundError),
        *(own.OperationNotFoundError, own.ResourceNotFoundError),
    ),
    HTTPStatus.BAD_REQUEST: (
        *(errors.FilterError, errors.InvalidTextError, errors.QueryError, own.CursorError),
    ),
    HTTPStatus.CONFLICT: (own.OperationRunningError,),
    HTTPStatus.BAD_GATEWAY: (errors.LanguageModelError,),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        *(errors.ExtraMissingError, errors.IndexFolderError),
        *(errors.JavaHeapError, errors.JavaStartError, *_TEMPORARY),
    ),
}
"""Status of errors; of any other it is 500."""

RETRY: Final = {"Retry-After": "1"}  # headers of a refusal that does not hold for long

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
    """A problem, of which a page may be made for people.

    The detail says what happened, to what, and what to do.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self, status: HTTPStatus, detail: str, headers: dict[str, str] | None = None
    ) -> None:
        self.detail = brief_error(detail)
        body = Problem(title=status.phrase, status=status, detail=self.detail)
        super().__init__(body.model_dump_json(), status, headers)


def problem_of(error: McpLuceneError) -> ProblemResponse:
    status = next(
        (status for status, types in _STATUS.items() if isinstance(error, types)),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    return ProblemResponse(
        status, client_message(error), RETRY if isinstance(error, _TEMPORARY) else None
    )


def answer_errors(app: FastAPI, shown: Callable[[Request, Response], Response]) -> None:
    """Make an application answer its errors as problems, and show these for a request."""

    @app.exception_handler(McpLuceneError)
    async def known(request: Request, error: McpLuceneError) -> Response:
        return shown(request, problem_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        # The first part says where the argument was: in the query, the path or the body.
        details = [each | {"loc": each["loc"][1:] or each["loc"]} for each in error.errors()]
        detail = described_errors(details)
        return shown(request, ProblemResponse(HTTPStatus.UNPROCESSABLE_ENTITY, detail))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        path = shortened(request.url.path, _MAX_PATH_CHARACTERS)
        known = _HTTP_DETAILS.get(status)
        detail = known.format(method=request.method, path=path) if known else error.detail
        headers = dict(error.headers or {})
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            # The framework names those of one route of the path only (RFC 9110, section 10.2.1).
            headers["Allow"] = ", ".join(sorted(_methods(request)))
        return shown(request, ProblemResponse(status, detail, headers))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, _error: Exception) -> Response:
        # The log has the error; its text may contain parts of documents.
        return shown(
            request,
            ProblemResponse(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "the server failed unexpectedly; its log says where, please report it",
            ),
        )


def _methods(request: Request) -> set[str]:
    return {
        method
        for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
        for route in request.app.routes
        if route.matches({**request.scope, "method": method})[0] == Match.FULL
    }


_HTTP_DETAILS: Final = {
    HTTPStatus.NOT_FOUND: "there is nothing at {path}; /api/openapi.json lists all that there is, "
    "and an id within a path is percent-encoded, with its slashes",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not take the method {method}",
}
