"""Sign-in of people: a session cookie in place of a token that a browser cannot send."""

import hmac
import secrets
import time
from collections import Counter
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.api.problems import problem
from server.http.address import MCP_PATH
from server.pages.errors import as_page
from server.resources.shares import Holder, holder_of

MAX_AGE_SECONDS: Final = 12 * 3_600
"""Maximum duration of a session, in seconds: a working day."""

MAX_SESSIONS: Final = 1_000
"""Maximum number of sessions; then the oldest ends of the holder that has the most."""

_SECRET_BYTES: Final = 32

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, section 9.2.1)."""


class WebSessions:
    """The sessions of people who are signed in, by the tokens that their cookies become.

    The secret in a cookie is no token: what it becomes never leaves this process.

    Args:
        port: the port that the server listens on, since browsers share cookies between ports.
        public_url: the URL of the server as browsers see it.

    Attributes:
        cookie: the name of the cookie.
        secure: whether the cookie is sent by HTTPS only.
        origin: the origin of the pages as browsers see them (RFC 6454).
    """

    def __init__(self, port: int, public_url: str) -> None:
        self.secure = urlsplit(public_url).scheme == "https"
        self.origin = _origin(public_url)
        self.cookie = f"{'__Host-' if self.secure else ''}mcp-lucene-{port}"
        self._key = secrets.token_bytes()
        self._sessions: dict[str, tuple[AccessToken, float]] = {}

    def open(self, token: AccessToken) -> str:
        """Begin a session with the rights of a token, and return its secret."""
        ends = time.time() + self.seconds_left(token)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        self._sessions[self.token_of(secret)] = token, ends
        if len(self._sessions) > MAX_SESSIONS:
            holders = {key: _holder(each) for key, (each, _) in self._sessions.items()}
            ((most, _),) = Counter(holders.values()).most_common(1)
            del self._sessions[next(key for key, holder in holders.items() if holder == most)]
        return secret

    def token_of(self, secret: str) -> str:
        """Return the token in the place of the cookie of a session."""
        return hmac.digest(self._key, secret.encode(errors="replace"), "sha256").hex()

    def seconds_left(self, token: AccessToken) -> int:
        """Return the duration of a session with the rights of a token, in seconds."""
        if token.expires_at is None:
            return MAX_AGE_SECONDS
        return max(0, min(MAX_AGE_SECONDS, int(token.expires_at - time.time())))

    def find(self, presented: str) -> AccessToken | None:
        """Return the rights of a session by `token_of` its secret, or None if there is none."""
        token, ends = self._sessions.get(presented, (None, 0.0))
        if token is not None and ends <= time.time():
            del self._sessions[presented]
            return None
        return token

    def close(self, secret: str) -> None:
        """End a session."""
        self._sessions.pop(self.token_of(secret), None)

    def secret_of(self, headers: Headers) -> str | None:
        """Return the secret in the cookie of a request, or None without one."""
        return cookie_parser(headers.get("cookie", "")).get(self.cookie)


class CookieAuthorization:
    """Middleware that turns the cookie of a session into the header ``Authorization``.

    Pages of other programs on this machine count as the same site, whatever the cookie says of
    sites, so a request that may change something must come from a page of this server.

    Args:
        app: the next ASGI application, which verifies the header.
        sessions: the sessions.
    """

    def __init__(self, app: ASGIApp, sessions: WebSessions) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] == "http" and scope["path"] != MCP_PATH:
            headers = Headers(scope=scope)
            secret = self._sessions.secret_of(headers)
            if secret and "authorization" not in headers:
                if scope["method"] not in _SAFE_METHODS and not is_from_own_page(
                    headers, self._sessions.origin
                ):
                    await as_page(Request(scope), foreign())(scope, receive, send)
                    return
                bearer = (b"authorization", f"Bearer {self._sessions.token_of(secret)}".encode())
                scope = {**scope, "headers": [*scope["headers"], bearer]}
        await self._app(scope, receive, send)


def is_from_own_page(headers: Headers, own_origin: str) -> bool:
    """Check whether a request comes from a page of the server that it is sent to.

    Args:
        headers: the headers of the request.
        own_origin: the origin of the pages as browsers see them; a proxy may change the host.
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    return origin == own_origin or urlsplit(origin).netloc == headers.get("host")


def foreign() -> Response:
    """Return the response to a request from a page of another server."""
    return problem(HTTPStatus.FORBIDDEN, "this request does not come from a page of this server")


def _origin(url: str) -> str:
    """Return the origin of a URL as browsers send it: without the default port of its scheme."""
    parts = urlsplit(url.lower())
    host = parts.netloc.removesuffix({"http": ":80", "https": ":443"}.get(parts.scheme, ""))
    return f"{parts.scheme}://{host}"


def _holder(token: AccessToken) -> Holder:
    return holder_of(authorization_context(AuthenticatedUser(token)))
