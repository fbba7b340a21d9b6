"""Sign-in of people: a session cookie in place of a token that a browser cannot send."""

import hashlib
import secrets
import time
from collections import OrderedDict
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.api.problems import problem
from server.http.address import MCP_PATH
from server.pages.errors import as_page

MAX_AGE_SECONDS: Final = 12 * 3_600
"""Maximum duration of a session, in seconds: a working day."""

MAX_SESSIONS: Final = 1_000
"""Maximum number of sessions; the oldest ends when there are more."""

_SECRET_BYTES: Final = 32

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, section 9.2.1)."""


class WebSessions:
    """The sessions of people who are signed in; only hashes of their secrets are kept.

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
        self._sessions: OrderedDict[bytes, tuple[AccessToken, float]] = OrderedDict()

    def open(self, token: AccessToken) -> str:
        """Begin a session with the rights of a token, and return its secret."""
        ends = time.time() + self.seconds_left(token)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        self._sessions[_digest(secret)] = token, ends
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    def seconds_left(self, token: AccessToken) -> int:
        """Return the duration of a session with the rights of a token, in seconds."""
        if token.expires_at is None:
            return MAX_AGE_SECONDS
        return max(0, min(MAX_AGE_SECONDS, int(token.expires_at - time.time())))

    def find(self, secret: str) -> AccessToken | None:
        """Return the token of a session, or None if it has ended or never existed."""
        token, ends = self._sessions.get(_digest(secret), (None, 0.0))
        if token is not None and ends <= time.time():
            self.close(secret)
            return None
        return token

    def close(self, secret: str) -> None:
        """End a session."""
        self._sessions.pop(_digest(secret), None)

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
                bearer = (b"authorization", f"Bearer {secret}".encode("latin-1", "replace"))
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


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
