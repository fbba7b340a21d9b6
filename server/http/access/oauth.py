"""Access tokens of an authorization server: JWTs, verified locally."""

from typing import Any, Final

import jwt
from mcp.server.auth.provider import AccessToken

from server.http.access.key_set import KeySet
from server.http.telemetry.logs import LOG
from server.runtime.limit import limit_of

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Accepted signature algorithms: asymmetric only, since ``none`` and those with a shared secret
prove nothing here."""

_LEEWAY_SECONDS: Final = 30
"""Allowed clock difference between the two servers, in seconds."""

_CLAIMS: Final = ["exp", "iss", "aud"]
"""Required claims (RFC 9068); ``nbf``, which many issuers leave out, is checked if present."""


class JwtVerifier:
    """A verifier of one issuer's access tokens, see `mcp.server.auth.provider.TokenVerifier`.

    Args:
        issuer: the issuer's URL, compared literally.
        audience: the required audience of the tokens.
        keys: the issuer's public keys.
    """

    def __init__(self, issuer: str, audience: str, keys: KeySet) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._jwt = jwt.PyJWT({"enforce_minimum_key_length": True, "require": _CLAIMS})

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the scopes and claims of a token, or None, with a log record, if it is invalid."""
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError
            key = await self._keys.find(header.get("kid"), algorithm)
            if key is None:
                raise jwt.InvalidKeyError
            claims = self._jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
            )
        except (jwt.PyJWTError, RecursionError) as error:
            LOG.warning("token_refused", extra={"reason": type(error).__name__})
            return None
        return AccessToken(
            # The token itself is no longer needed, and what is not stored cannot leak.
            token="",
            client_id=_text(claims, "client_id", "azp", "sub"),
            subject=_text(claims, "sub"),
            scopes=self._scopes(claims),
            expires_at=int(claims["exp"]) + _LEEWAY_SECONDS,
            claims={"iss": self._issuer},
        )

    def _scopes(self, claims: dict[str, Any]) -> list[str]:
        """Return the scopes that a token grants on this server.

        A token does not say for which audience a scope was granted: in a token for several servers,
        ``admin`` may be meant for another one, so it is dropped (RFC 9068, section 5). It is also
        dropped from a token that is limited to collections.
        """
        granted = _granted(claims)
        reason = None
        if claims["aud"] not in (self._audience, [self._audience]):
            reason = "several audiences"
        elif limit_of(granted):
            reason = "limited to collections"
        if "admin" in granted and reason:
            LOG.info("scope_left_out", extra={"reason": reason})
            return [scope for scope in granted if scope != "admin"]
        return granted


def _text(claims: dict[str, Any], *names: str) -> str:
    """Return the first of the named claims that is present, or an empty string."""
    return next((str(claims[name]) for name in names if claims.get(name)), "")


def _granted(claims: dict[str, Any]) -> list[str]:
    """Return the scopes of a token, given as a list or as a string separated by spaces."""
    granted = claims.get("scope", claims.get("scp", ""))
    if isinstance(granted, str):
        return granted.split()
    return (
        [scope for scope in granted if isinstance(scope, str)] if isinstance(granted, list) else []
    )
