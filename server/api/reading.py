"""Answers from the index as JSON, which a client may keep until the next commit."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError, to_json
from starlette.responses import Response

from server.runtime.state import ServerState
from shared.model.search_results import SearchAnswer, plain
from shared.version import software_version

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

JSON: Final = "application/json"

_CACHED: Final = {"Cache-Control": "private, no-cache"}
"""Headers of an answer with an ETag: it may be kept, and is asked for again with its ETag."""

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
    """Return a part of a path without its percent-encoding.

    Raises:
        PydanticCustomError: the bytes are not UTF-8.
    """
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
"""An id in a path, which is routed with its percent-encoding: see `server.http.paths`."""


async def answered(
    request: Request,
    state: ServerState,
    work: Callable[["Searcher"], Any],
    *,
    partial: bool = False,
    cacheable: bool = True,
) -> Response:
    """Answer a request from the index; with 304 if the client has the answer of this commit.

    Args:
        request: the request.
        state: the state of the server.
        work: returns the answer, a plain dataclass.
        partial: whether the answer can say that it is partial.
        cacheable: whether the answer depends on nothing but the request and the commit.

    Raises:
        McpLuceneError: as `ServerState.ask`.
    """
    known = request.headers.get("if-none-match", "") if cacheable else ""

    def tagged(searcher: "Searcher") -> tuple[Any, str | None]:
        tag = _tag(searcher) if cacheable else None
        if tag and tag in known.split(", "):
            return None, tag
        answer = work(searcher)
        is_partial = isinstance(answer, SearchAnswer) and answer.partial
        # The answer may be of a newer commit than the tag.
        return answer, tag if tag and not is_partial and _tag(searcher) == tag else None

    answer, tag = await state.ask(tagged, partial=partial)
    headers = _CACHED | {"ETag": tag} if tag else _NOT_CACHED
    if answer is None:
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    return as_json(plain(answer), headers)


def as_json(
    content: Any, headers: dict[str, str] | None = None, status: HTTPStatus = HTTPStatus.OK
) -> Response:
    """Return plain data, a dataclass or a model as a response of JSON."""
    return Response(to_json(content), status, headers or _NOT_CACHED, JSON)


def _tag(searcher: "Searcher") -> str | None:
    """Return the ETag of answers from the newest commit, or None if it has no identity.

    Another version of this program may answer the same request in another way.
    """
    commit = searcher.commit()
    return f'W/"{software_version()}-{commit}"' if commit else None
