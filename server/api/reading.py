"""What endpoints share: the state of the server, ids in paths, who may change what, and JSON."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote

from fastapi import Depends, HTTPException, Path, Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError, to_json
from starlette.responses import Response

from server.administration.operations import Administration
from server.state import ServerState
from shared.model.search_results import plain

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

JSON: Final = "application/json"

_NOT_CACHED: Final = {"Cache-Control": "no-store"}

MAX_ENCODED_CHARACTERS: Final = 8_000
"""Maximum length of an id in a path, percent-encoded, in characters: half of what the headers of a
request may have, so that no proxy cuts it. Longer ids can be read by MCP."""


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]
"""The state of the server, as an argument of an endpoint."""


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
    ),
    AfterValidator(_decoded),
]
"""An id in a path, which is routed with its percent-encoding: see `server.http.application`."""


def scopes(request: Request) -> frozenset[str]:
    """Return the scopes of a request: those of its token, or ``read`` if none is required."""
    user = request.scope.get("user")
    if isinstance(user, AuthenticatedUser):
        return frozenset(user.scopes)
    return frozenset({"read"})


def _administrator(request: Request, state: State) -> Administration:
    if state.administration is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this server does not write; ask its operator to start it with --admin",
        )
    if "admin" not in scopes(request):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this needs the scope 'admin', which the token of this request does not have; ask the "
            "operator for a token that has it",
        )
    return state.administration


Administrator = Annotated[Administration, Depends(_administrator)]
"""The administration service, for requests that may change something; others are refused."""


async def answered(
    state: ServerState, work: Callable[["Searcher"], Any], *, partial: bool = False
) -> Response:
    """Answer a request from the index, by a plain dataclass."""
    return as_json(plain(await state.ask(work, partial=partial)))


def as_json(content: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return plain data, a dataclass or a model as a response of JSON."""
    return Response(to_json(content), status, _NOT_CACHED, JSON)
