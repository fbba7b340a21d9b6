"""Access tokens of an authorization server: JWTs, checked here without asking it."""

from typing import Any, Final

import jwt
from mcp.server.auth.provider import AccessToken

from server.http.access.key_set import KeySet
from server.http.telemetry.logs import LOG

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Signatures with a key pair only: ``none`` and those with a shared secret prove nothing here."""

_LEEWAY_SECONDS: Final = 30
"""How far the clocks of the two servers may differ."""

_CLAIMS: Final = ["exp", "iss", "aud"]
"""What a token must say (RFC 9068); ``nbf``, which many leave out, is checked where it is there."""


class JwtVerifier:
    """Checks the access tokens of one issuer; what `mcp.server.auth.provider.TokenVerifier` asks.

    Args:
        issuer: its URL, to the letter.
        audience: what the tokens must be meant for.
        keys: the keys that it signs with.
    """

    def __init__(self, issuer: str, audience: str, keys: KeySet) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._jwt = jwt.PyJWT({"enforce_minimum_key_length": True, "require": _CLAIMS})

    async def verify_token(self, token: str) -> AccessToken | None:
        """What a token allows; None if it is not to be believed, and the log says why."""
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
            # The token itself is needed no more, and what is not kept cannot leak.
            token="",
            client_id=_text(claims, "client_id", "azp", "sub"),
            subject=_text(claims, "sub"),
            scopes=self._scopes(claims),
            expires_at=int(claims["exp"]) + _LEEWAY_SECONDS,
            claims={"iss": self._issuer},
        )

    def _scopes(self, claims: dict[str, Any]) -> list[str]:
        """What a token allows here.

        Which audience a scope was asked for is not said: of a token for several servers, the scope
        to change something may be meant for another one (RFC 9068, section 5).
        """
        granted = _granted(claims)
        if "admin" in granted and claims["aud"] not in (self._audience, [self._audience]):
            LOG.info("scope_left_out", extra={"reason": "several audiences"})
            return [scope for scope in granted if scope != "admin"]
        return granted


def _text(claims: dict[str, Any], *names: str) -> str:
    """The first of some claims that is there; empty if none is."""
    return next((str(claims[name]) for name in names if claims.get(name)), "")


def _granted(claims: dict[str, Any]) -> list[str]:
    """The scopes of a token: a list, or a text with blanks between them."""
    granted = claims.get("scope", claims.get("scp", ""))
    if isinstance(granted, str):
        return granted.split()
    return (
        [scope for scope in granted if isinstance(scope, str)] if isinstance(granted, list) else []
    )
