"""Authentication by the server's own tokens and those of an authorization server."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.api.problems import problem
from server.http.access import tokens
from server.http.access.key_set import KeySet
from server.http.access.oauth import JwtVerifier
from server.http.access.web_sessions import WebSessions
from server.http.address import MCP_PATH
from server.http.paths import SIGN_IN_PATH, is_for_people, is_public
from server.pages.errors import as_page
from server.pages.rendering import root
from server.settings import HttpSettings


@dataclass(frozen=True)
class Authentication:
    """Authentication settings for the SDK.

    Attributes:
        settings: announced metadata, and the scope that every request requires.
        verifier: verifies tokens, and secrets of sessions, and returns their scopes.
        sessions: the sessions of people who are signed in.
    """

    settings: AuthSettings
    verifier: TokenVerifier
    sessions: WebSessions


def authentication(
    settings: HttpSettings, own_tokens: Sequence[tokens.Token], urls: tuple[str, str]
) -> Authentication | None:
    """Return the authentication settings, or None if no token is required.

    Args:
        settings: the settings chosen by the operator.
        own_tokens: the server's own tokens.
        urls: the URL of `MCP_PATH` on the address listened on, and the one that clients see.
    """
    own_url, public_url = urls
    if not own_tokens and settings.oauth_issuer is None:
        return None
    issuer = settings.oauth_issuer
    # Validated from strings, since a parsed URL gets a trailing slash that the owner may not write.
    announced = AuthSettings.model_validate(
        {
            # The SDK requires an issuer; without an authorization server it is not published.
            "issuer_url": issuer or public_url,
            # With an authorization server, clients discover it from the metadata (RFC 9728).
            "resource_server_url": public_url if issuer else None,
            "required_scopes": ["read"],
            # The audience is checked by `JwtVerifier`, since it need not be a URL.
            "validate_token_resource": False,
        }
    )
    sessions = WebSessions(urlsplit(own_url).port or 0, public_url)
    verifier = _Verifier(own_tokens, _jwt_verifier(settings, public_url), sessions)
    return Authentication(announced, verifier, sessions)


def _jwt_verifier(settings: HttpSettings, public_url: str) -> JwtVerifier | None:
    issuer = settings.oauth_issuer
    if issuer is None:
        return None
    keys = KeySet(issuer, settings.oauth_jwks_url)
    return JwtVerifier(issuer, settings.oauth_audience or public_url, keys)


class TokenRequired:
    """Middleware that rejects requests without a token before admission and before their body.

    The SDK checks the token only after all middleware, and only for MCP.

    Args:
        app: the application that answers all other requests.
        settings: the required scopes, and the server that the tokens are for.
    """

    def __init__(self, app: ASGIApp, settings: AuthSettings) -> None:
        server = settings.resource_server_url
        self._app = app
        self._scopes = frozenset(settings.required_scopes or [])
        self._guarded = RequireAuthMiddleware(
            app,
            settings.required_scopes or [],
            build_resource_metadata_url(server) if server else None,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http" or is_public(scope["path"]):
            await self._app(scope, receive, send)
        elif scope["path"] == MCP_PATH:
            await self._guarded(scope, receive, send)
        else:
            request = Request(scope)
            refusal = self._refusal(request)
            answer = as_page(request, refusal) if refusal else self._app
            await answer(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """Return the response to a request without a token or scope, or None if it has both."""
        user = request.scope.get("user")
        if not isinstance(user, AuthenticatedUser):
            # As it was sent: the id of a document in it is percent-encoded.
            path = request.scope["raw_path"].decode("ascii", "replace")
            if request.method == "GET" and is_for_people(path):
                target = path + (f"?{request.url.query}" if request.url.query else "")
                query = urlencode({"to": target})
                return RedirectResponse(f"{root(path)}{SIGN_IN_PATH[1:]}?{query}", 303)
            return problem(
                HTTPStatus.UNAUTHORIZED,
                "this needs a token; send it as Authorization: Bearer TOKEN",
                {"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        if not self._scopes <= set(user.scopes):
            return problem(
                HTTPStatus.FORBIDDEN,
                f"this needs the scope {' and '.join(map(repr, sorted(self._scopes)))}, which the "
                "token of this request does not have",
                {"WWW-Authenticate": 'Bearer error="insufficient_scope"'},
            )
        return None


class _Verifier:
    """A verifier that tries the server's own tokens first, then sessions, then the issuer's."""

    def __init__(
        self, own: Sequence[tokens.Token], issued: JwtVerifier | None, sessions: WebSessions
    ) -> None:
        self._own = own
        self._issued = issued
        self._sessions = sessions

    async def verify_token(self, token: str) -> AccessToken | None:
        known = tokens.find(self._own, token)
        if known is not None:
            return AccessToken(token="", client_id=known.name, scopes=known.granted)
        if (of_session := self._sessions.find(token)) is not None:
            return of_session
        return await self._issued.verify_token(token) if self._issued else None
