"""How many sessions one token may open, where there are several."""

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
from server.http.admission import PATIENCE_SECONDS, holder_of_token, refused
from server.resources.shares import Holder


class SessionShares:
    """Answers 429 to a request for a session whose token has its share of them.

    Args:
        app: what answers the others.
        most: sessions of one token.
        sessions: tells whose the open sessions are.
    """

    def __init__(self, app: ASGIApp, most: int, sessions: Callable[[], list[Holder]]) -> None:
        self._app = app
        self._most = most
        self._sessions = sessions
        self._opening: Counter[Holder] = Counter()
        self._opened = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        holder = holder_of_token(scope)
        if holder is None or not _opens_session(scope):
            await self._app(scope, receive, send)
            return
        # One that is being opened may be among the open ones already, or come to nothing.
        with anyio.move_on_after(PATIENCE_SECONDS):
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
    """Whether a request opens a session: all do that belong to none, but for newer versions."""
    if (scope["type"], scope.get("path")) != ("http", MCP_PATH):
        return False
    headers = Headers(scope=scope)
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return MCP_SESSION_ID_HEADER not in headers and (
        version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    )
