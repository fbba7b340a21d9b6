"""Who may ask over HTTP: hosts and origins, tokens, and cookies of people who are signed in.

A web page can make its own host name resolve to this machine (DNS rebinding) and then send requests
through the user's browser. The header `Host` contains that name, and `Origin` identifies the page.
"""

import hmac
import re
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.answers.errors import TokenMissingError
from server.api.endpoint import ProblemResponse
from server.http.limits import MCP_PATH, SIGN_IN_PATH, RequestMiddleware, rules
from server.http.oauth import JwtVerifier, KeySet
from server.http.tokens import Token, find
from server.pages.rendering import as_page, root
from server.settings import HttpSettings, ServerOptionError
from server.state import holder_of

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")  # this machine's names without DNS

_PORT: Final = r"6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4}"
_HOST: Final = rf"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:({_PORT}))?"
_ORIGIN: Final = rf"[a-z][a-z0-9+.-]*://{_HOST}"


def allowed(settings: HttpSettings, own_url: str, public_url: str) -> TransportSecuritySettings:
    """Return the allowed values of `Host` and `Origin`, in the form that the SDK checks."""
    public = urlsplit(public_url.lower())
    names = {
        *_LOOPBACK,
        _host(urlsplit(own_url.lower())),
        _host(public),
        *(
            _checked("--allowed-host", host, _HOST, "a name such as example.org")
            for host in settings.allowed_hosts
        ),
    }
    origins = {
        *(f"{scheme}://{name}" for scheme in ("http", "https") for name in _LOOPBACK),
        f"{public.scheme}://{_host(public)}",
        *allowed_origins(settings),
    }
    return TransportSecuritySettings(
        allowed_hosts=_with_any_port(names), allowed_origins=_with_any_port(origins)
    )


def allowed_origins(settings: HttpSettings) -> list[str]:
    return [
        _checked("--allowed-origin", origin, _ORIGIN, "an origin such as https://app.example.org")
        for origin in settings.allowed_origins
    ]


def _checked(option: str, given: str, pattern: str, meant: str) -> str:
    value = given.lower().rstrip("/")
    if not re.fullmatch(pattern, value):
        raise ServerOptionError(f"{option}: {given[:200]!r} is not {meant}")
    return value


def _with_any_port(names: set[str]) -> list[str]:
    """Return the names, plus an SDK pattern that allows any port for each name without one."""
    return sorted(names | {f"{name}:*" for name in names if not re.search(r":[0-9]+$", name)})


def _host(url: SplitResult) -> str:
    """Return the header `Host` of requests for a URL, without the scheme's default port."""
    return url.netloc.removesuffix({"http": ":80", "https": ":443"}.get(url.scheme, ""))


_HEADERS: Final = {
    # Nothing is loaded from elsewhere, and no page of others may show these in a frame.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # A form of a page without a referrer would have the origin null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers by which browsers protect pages and their data, as OWASP's cheat sheet advises."""


class ProtectiveHeaders(RequestMiddleware):
    """Middleware that adds the headers to all responses but those of MCP, errors included."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == MCP_PATH:
            await self._app(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, protected)


class HostCheck(RequestMiddleware):
    """Middleware that rejects requests for other hosts (421) and from other web pages (403)."""

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings) -> None:
        super().__init__(app)
        self._security = TransportSecurityMiddleware(settings)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Host names are case-insensitive, but the SDK, which checks them again, compares case.
        headers = [(k, v.lower() if k == b"host" else v) for k, v in scope["headers"]]
        scope = {**scope, "headers": headers}
        refusal = _malformed(Headers(scope=scope))
        if refusal is None:
            refusal = await self._security.validate_request(Request(scope))
        if refusal is None and _is_of_another_site(scope):
            refusal = as_page(Request(scope), foreign(), is_foreign=True)
        await (refusal or self._app)(scope, receive, send)


def _malformed(headers: Headers) -> Response | None:
    """Return an error response if `Host` or `Origin` is malformed or repeated, else None.

    The SDK accepts anything after an allowed name and a colon as a port.
    """
    if not re.fullmatch(_HOST, headers.get("host", "")):
        return Response("Invalid Host header", HTTPStatus.MISDIRECTED_REQUEST)
    origins = headers.getlist("origin")
    if len(origins) > 1 or not all(re.fullmatch(_ORIGIN, origin) for origin in origins):
        return Response("Invalid Origin header", HTTPStatus.FORBIDDEN)
    return None


def _is_of_another_site(scope: Scope) -> bool:
    """Check whether a page of another site made a browser send a request, other than for the start.

    The page sees no answer, but how long it takes; and an answer may cost something. Of a request
    with an origin the origin has been checked.
    """
    headers = Headers(scope=scope)
    is_start = (scope["path"], scope["query_string"]) == ("/", b"") or scope["path"] == SIGN_IN_PATH
    is_foreign = headers.get("sec-fetch-site") == "cross-site" and "origin" not in headers
    return is_foreign and not is_start


def foreign() -> Response:
    return ProblemResponse(
        HTTPStatus.FORBIDDEN, "this request does not come from a page of this server"
    )


def is_from_own_page(headers: Headers, own_origin: str) -> bool:
    """Check whether a request comes from a page of the server that it is sent to.

    A proxy may change the host, so browsers may see another origin than the server.
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    return origin == own_origin or urlsplit(origin).netloc == headers.get("host")


MAX_AGE_SECONDS: Final = 12 * 3_600  # maximum duration of a session: a working day
MAX_SESSIONS: Final = 1_000  # sessions; then the oldest ends of the holder that has the most

_SECRET_BYTES: Final = 32

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110, section 9.2.1


class WebSessions:
    """The sessions of people who are signed in, by the tokens that their cookies become.

    The secret in a cookie is no token: what it becomes never leaves this process.
    """

    def __init__(self, port: int, public_url: str) -> None:
        public = urlsplit(public_url.lower())
        self.secure = public.scheme == "https"
        # Of the pages as browsers see them (RFC 6454).
        self.origin = f"{public.scheme}://{_host(public)}"
        # Browsers share cookies between ports.
        self.cookie = f"{'__Host-' if self.secure else ''}mcp-lucene-{port}"
        self._key = secrets.token_bytes()
        self._sessions: dict[str, tuple[AccessToken, float]] = {}

    def open(self, token: AccessToken) -> str:
        """Begin a session with the rights of a token, and return its secret."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        self._sessions[self.token_of(secret)] = token, time.time() + self.seconds_left(token)
        if len(self._sessions) > MAX_SESSIONS:
            holders = {key: holder_of(each) for key, (each, _) in self._sessions.items()}
            ((most, _),) = Counter(holders.values()).most_common(1)
            del self._sessions[next(key for key, holder in holders.items() if holder == most)]
        return secret

    def token_of(self, secret: str) -> str:
        """Return the token in the place of the cookie of a session."""
        return hmac.digest(self._key, secret.encode(errors="replace"), "sha256").hex()

    def seconds_left(self, token: AccessToken) -> int:
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
        self._sessions.pop(self.token_of(secret), None)

    def secret_of(self, headers: Headers) -> str | None:
        return cookie_parser(headers.get("cookie", "")).get(self.cookie)


class CookieAuthorization(RequestMiddleware):
    """Middleware that turns the cookie of a session into the header ``Authorization``.

    Pages of other programs on this machine count as the same site, whatever the cookie says of
    sites, so a request that may change something must come from a page of this server.
    """

    def __init__(self, app: ASGIApp, sessions: WebSessions) -> None:
        super().__init__(app)
        self._sessions = sessions

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != MCP_PATH:
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


REQUIRED_SCOPES: Final = ["read"]  # of a token that opens anything


def may_read(token: AccessToken) -> bool:
    return {*REQUIRED_SCOPES} <= {*token.scopes}


@dataclass(frozen=True)
class Authentication:
    """What the SDK announces and requires, and the verifier of tokens for it."""

    settings: AuthSettings
    sessions: WebSessions
    own: Sequence[Token]
    issued: JwtVerifier | None

    async def verify_token(self, token: str) -> AccessToken | None:
        """Try the server's own tokens first, then sessions, then the issuer's."""
        known = find(self.own, token)
        if known is not None:
            return AccessToken(token="", client_id=known.name, scopes=known.granted)
        if (of_session := self.sessions.find(token)) is not None:
            return of_session
        return await self.issued.verify_token(token) if self.issued else None


def authentication(
    settings: HttpSettings, own_tokens: Sequence[Token], urls: tuple[str, str]
) -> Authentication | None:
    """Return the authentication, or None if no token is required.

    The URLs of MCP are that of the address listened on, and the one that clients see.
    """
    own_url, public_url = urls
    issuer = settings.oauth_issuer
    if not own_tokens and issuer is None:
        return None
    # Validated from strings, since a parsed URL gets a trailing slash that the owner may not write.
    announced = AuthSettings.model_validate(
        {
            # The SDK requires an issuer; without an authorization server it is not published.
            "issuer_url": issuer or public_url,
            # With an authorization server, clients discover it from the metadata (RFC 9728).
            "resource_server_url": public_url if issuer else None,
            "required_scopes": REQUIRED_SCOPES,
            # The audience is checked by `JwtVerifier`, since it need not be a URL.
            "validate_token_resource": False,
        }
    )
    issued = None
    if issuer is not None:
        keys = KeySet(issuer, settings.oauth_jwks_url)
        issued = JwtVerifier(issuer, settings.oauth_audience or public_url, keys)
    sessions = WebSessions(urlsplit(own_url).port or 0, public_url)
    return Authentication(announced, sessions, own_tokens, issued)


class TokenRequired(RequestMiddleware):
    """Middleware that rejects requests without a token before admission and before their body.

    The SDK checks the token only after all middleware, and only for MCP.
    """

    def __init__(self, app: ASGIApp, settings: AuthSettings) -> None:
        super().__init__(app)
        server = settings.resource_server_url
        self._guarded = RequireAuthMiddleware(
            app, REQUIRED_SCOPES, build_resource_metadata_url(server) if server else None
        )

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if rules(scope["path"]).is_public:
            await self._app(scope, receive, send)
        elif scope["path"] == MCP_PATH:
            await self._guarded(scope, receive, send)
        else:
            request = Request(scope)
            refusal = _refusal(request)
            answer = as_page(request, refusal) if refusal else self._app
            await answer(scope, receive, send)


def _refusal(request: Request) -> Response | None:
    """Return the response to a request without a token or scope, or None if it has both."""
    token = get_access_token()
    if token is None:
        # As it was sent: the id of a document in it is percent-encoded.
        path = request.scope["raw_path"].decode("ascii", "replace")
        if request.method == "GET" and rules(path).is_page:
            target = path + (f"?{request.url.query}" if request.url.query else "")
            query = urlencode({"to": target})
            return RedirectResponse(f"{root(path)}{SIGN_IN_PATH[1:]}?{query}", 303)
        return ProblemResponse(
            HTTPStatus.UNAUTHORIZED,
            str(TokenMissingError()),
            {"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )
    if not may_read(token):
        return ProblemResponse(
            HTTPStatus.FORBIDDEN,
            "this needs the scope 'read', which the token of this request does not have",
            {"WWW-Authenticate": 'Bearer error="insufficient_scope"'},
        )
    return None
