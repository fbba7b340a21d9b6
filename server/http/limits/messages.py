"""Checks of posted messages: each must be complete and have a request ID of its own.

If a client disconnects, the SDK passes on the incomplete message, which then appears as a server
error; and if two requests of a session have the same ID, it leaves the first without a response for
as long as the session lasts.
"""

from collections.abc import Callable, MutableMapping, Sequence, Set as AbstractSet
from http import HTTPStatus
from typing import Any, Final

import anyio
import pydantic_core
from mcp.server.streamable_http import GET_STREAM_KEY, MCP_SESSION_ID_HEADER
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, RequestId
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.address import MCP_PATH
from server.http.limits.admission import ADMISSION_TIMEOUT_SECONDS, holder_of_token, refused
from server.http.paths import is_public, path_label
from server.resources.shares import Holder

MAX_PUBLIC_BYTES: Final = 16_384
"""Maximum size of a body that anyone may send without a token, in bytes."""

_MAX_ID_CHARACTERS: Final = 200
"""Maximum length of a request ID that an error repeats, in characters."""


class LimitedBodies:
    """Middleware that limits bodies, and drops messages of MCP whose client disconnects.

    Args:
        app: the next ASGI application.
        max_bytes: maximum size of a body; longer ones get a 413 response.
        known: paths that exist, besides those of the pages and of the JSON API.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, known: AbstractSet[str]) -> None:
        self._app = app
        self._known = known
        self._messages = RequestBodyLimitMiddleware(self._pass_on, max_bytes)
        self._bodies = RequestBodyLimitMiddleware(app, max_bytes)
        self._public = RequestBodyLimitMiddleware(app, MAX_PUBLIC_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        limited: ASGIApp
        if scope["type"] == "http" and path_label(scope["path"], self._known) is None:
            # It is refused whatever it would have sent.
            limited = self._app
        elif scope["type"] == "http" and is_public(scope["path"]):
            limited = self._public
        else:
            limited = self._messages if _is_message(scope) else self._bodies
        await limited(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        if first["type"] == "http.request" and not first["more_body"]:
            await self._app(scope, _preceded(first, receive), send)


class DistinctIds:
    """Middleware that rejects a request with the ID of another running request of the session.

    A client that sends its next request as soon as it has its response may be faster than the end
    of the previous request, so the middleware waits for that a little.

    Args:
        app: the next ASGI application; it receives each message in one part.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running: MutableMapping[tuple[str, str], anyio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER) if _is_message(scope) else None
        if session is None:
            await self._app(scope, receive, send)
            return
        first = await receive()
        receive = _preceded(first, receive)
        request = _request_id(first.get("body", b""))
        if request is None:
            await self._app(scope, receive, send)
            return
        # The SDK compares IDs as strings: 1 and "1" are the same.
        key = (session, str(request))
        with anyio.move_on_after(ADMISSION_TIMEOUT_SECONDS):
            while key in self._running:
                await self._running[key].wait()
        if key in self._running or str(request) == GET_STREAM_KEY:
            await _id_in_use(request)(scope, receive, send)
            return
        ended = self._running[key] = anyio.Event()
        try:
            await self._app(scope, receive, send)
        finally:
            del self._running[key]
            ended.set()


class SubscriptionShares:
    """Answers 429 to a request for subscriptions beyond the share of its token.

    Args:
        app: the application that answers all other requests; each message is passed to it whole.
        has_room: checks whether resources, by URI, fit into the share of a token.
    """

    def __init__(self, app: ASGIApp, has_room: Callable[[Sequence[str], Holder], bool]) -> None:
        self._app = app
        self._has_room = has_room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        holder = holder_of_token(scope) if _is_message(scope) else None
        if holder is None:
            await self._app(scope, receive, send)
            return
        first = await receive()
        uris = _subscribed_uris(first.get("body", b""))
        if uris and not self._has_room(uris, holder):
            await refused(HTTPStatus.TOO_MANY_REQUESTS)(scope, receive, send)
            return
        await self._app(scope, _preceded(first, receive), send)


def _subscribed_uris(body: bytes) -> list[str]:
    """Return the resources that a message subscribes to, in either era of the protocol."""
    # Most messages are calls of tools, which need not be read twice.
    if b"subscri" not in body:
        return []
    try:
        message: Any = pydantic_core.from_json(body)
    except ValueError:
        return []
    match message:
        case {"method": "resources/subscribe", "params": {"uri": str() as uri}}:
            return [uri]
        case {
            "method": "subscriptions/listen",
            "params": {"notifications": {"resourceSubscriptions": list() as uris}},
        }:
            return [uri for uri in uris if isinstance(uri, str)]
    return []


def _is_message(scope: Scope) -> bool:
    return (scope["type"], scope.get("path"), scope.get("method")) == ("http", MCP_PATH, "POST")


def _preceded(first: Message, receive: Receive) -> Receive:
    """Return a receive function that first returns the part already received."""
    waiting = [first]

    async def next_part() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_part


def _request_id(body: bytes) -> RequestId | None:
    """Return the ID of a request, or None if the message is not a request or not valid JSON."""
    try:
        message: Any = pydantic_core.from_json(body)
    except ValueError:
        return None
    match message:
        case {"method": _, "id": bool()}:
            return None
        case {"method": _, "id": int() | str() as request}:
            return request
    return None


def _id_in_use(request: RequestId) -> Response:
    error = ErrorData(
        code=INVALID_REQUEST,
        message="another request of this session has this id and still runs; use each id once",
    )
    is_short = len(str(request)) <= _MAX_ID_CHARACTERS
    body = JSONRPCError(jsonrpc="2.0", id=request if is_short else None, error=error)
    return Response(
        body.model_dump_json(by_alias=True, exclude_unset=True),
        HTTPStatus.BAD_REQUEST,
        media_type="application/json",
    )
