"""Authentication by the server's own tokens and those of an authorization server."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.access import tokens
from server.http.access.key_set import KeySet
from server.http.access.oauth import JwtVerifier
from server.http.address import MCP_PATH
from server.settings import HttpSettings


@dataclass(frozen=True)
class Authentication:
    """Authentication settings for the SDK.

    Attributes:
        settings: announced metadata, and the scope that every request requires.
        verifier: verifies tokens and returns their scopes.
    """

    settings: AuthSettings
    verifier: TokenVerifier


def authentication(
    settings: HttpSettings, own_tokens: Sequence[tokens.Token], public_url: str
) -> Authentication | None:
    """Return the authentication settings, or None if no token is required.

    Args:
        settings: the settings chosen by the operator.
        own_tokens: the server's own tokens.
        public_url: the server's URL as clients see it.
    """
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
    return Authentication(announced, _Verifier(own_tokens, _jwt_verifier(settings, public_url)))


def _jwt_verifier(settings: HttpSettings, public_url: str) -> JwtVerifier | None:
    issuer = settings.oauth_issuer
    if issuer is None:
        return None
    keys = KeySet(issuer, settings.oauth_jwks_url)
    return JwtVerifier(issuer, settings.oauth_audience or public_url, keys)


class TokenRequired:
    """Middleware that rejects MCP requests without a token before admission and before their body.

    The SDK checks the token only after all middleware.

    Args:
        app: the application that answers the other requests.
        settings: the required scopes, and the server that the tokens are for.
    """

    def __init__(self, app: ASGIApp, settings: AuthSettings) -> None:
        server = settings.resource_server_url
        self._app = app
        self._guarded = RequireAuthMiddleware(
            app,
            settings.required_scopes or [],
            build_resource_metadata_url(server) if server else None,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        is_guarded = scope["type"] == "http" and scope["path"] == MCP_PATH
        await (self._guarded if is_guarded else self._app)(scope, receive, send)


class _Verifier:
    """A verifier that tries the server's own tokens first, then those signed by the issuer."""

    def __init__(self, own: Sequence[tokens.Token], issued: JwtVerifier | None) -> None:
        self._own = own
        self._issued = issued

    async def verify_token(self, token: str) -> AccessToken | None:
        known = tokens.find(self._own, token)
        if known is not None:
            return AccessToken(token="", client_id=known.name, scopes=sorted(known.scopes))
        return await self._issued.verify_token(token) if self._issued else None
