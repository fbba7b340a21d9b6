"""The limit on sessions per token, if there are several tokens."""

from collections import Counter
from collections.abc import Callable
from http import HTTPStatus

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.address import MCP_PATH
from server.http.limits.admission import ADMISSION_TIMEOUT_SECONDS, holder_of_token, refused
from server.resources.shares import Holder


class SessionShares:
    """Middleware that responds with 429 if a request would exceed its token's limit of sessions.

    Args:
        app: the next ASGI application.
        most: maximum number of sessions of one token.
        sessions: returns the holders of the open sessions.
    """

    def __init__(self, app: ASGIApp, most: int, sessions: Callable[[], list[Holder]]) -> None:
        self._app = app
        self._most = most
        self._sessions = sessions
        self._opening: Counter[Holder] = Counter()
        self._opened = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        holder = holder_of_token(scope)
        if holder is None or not _opens_session(scope):
            await self._app(scope, receive, send)
            return
        # A session being opened may already be among the open ones, or may fail to open.
        with anyio.move_on_after(ADMISSION_TIMEOUT_SECONDS):
            while self._is_full(holder) and self._opening[holder]:
                await self._opened.wait()
        if self._is_full(holder):
            await refused(HTTPStatus.TOO_MANY_REQUESTS)(scope, receive, send)
            return
        self._opening[holder] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._opening[holder] -= 1
            if not self._opening[holder]:
                del self._opening[holder]
            self._opened.set()
            self._opened = anyio.Event()

    def _is_full(self, holder: Holder) -> bool:
        return self._sessions().count(holder) + self._opening[holder] >= self._most


def _opens_session(scope: Scope) -> bool:
    """Check whether a request opens a session: no session ID and an older protocol version."""
    if (scope["type"], scope.get("path")) != ("http", MCP_PATH):
        return False
    headers = Headers(scope=scope)
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return MCP_SESSION_ID_HEADER not in headers and (
        version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    )
