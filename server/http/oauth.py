"""Access tokens of an authorization server: JWTs, verified locally by its public keys."""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

import anyio
import httpx2
import jwt
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls
from mcp.server.auth.provider import AccessToken

from server.log import LOG
from server.settings import ServerOptionError, checked_url, limit_of

_FRESH_SECONDS: Final = 300.0  # time after which keys are fetched again
_USABLE_SECONDS: Final = 3_600.0  # of keys that cannot be fetched again: revoked ones must expire
_MIN_FETCH_INTERVAL_SECONDS: Final = 10.0  # any token with an unknown key causes a fetch
_FETCH_SECONDS: Final = 5.0  # for a fetch
_MAX_KEY_SET_BYTES: Final = 1_000_000  # of a document from the authorization server
_MAX_KEYS: Final = 100  # keys used from a key set


class KeySet:
    """The key set of an authorization server, fetched when a token needs it."""

    def __init__(self, issuer: str, url: str | None) -> None:
        self._issuer = issuer
        self._url = url
        self._keys: list[dict[str, Any]] = []
        self._fetched = self._tried = -_USABLE_SECONDS
        self._fetching = anyio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key that signed a token, or None if no key matches."""
        key = self._match(key_id, algorithm)
        if key is None or self._age() > _FRESH_SECONDS:
            async with self._fetching:
                # It does nothing if another request has fetched the keys meanwhile.
                await self._refresh()
            key = self._match(key_id, algorithm)
        return key if self._age() <= _USABLE_SECONDS else None

    def _age(self) -> float:
        return time.monotonic() - self._fetched

    def _match(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        fitting = [
            key
            for key in self._keys
            if (key_id is None or key.get("kid") == key_id)
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
        ]
        if len(fitting) != 1:
            return None
        try:
            return jwt.PyJWK(fitting[0], algorithm)
        except jwt.PyJWTError:
            # The key type does not match the algorithm.
            return None

    async def _refresh(self) -> None:
        """Fetch the keys unless that was tried just now; if it fails, keep the current ones."""
        if time.monotonic() - self._tried < _MIN_FETCH_INTERVAL_SECONDS:
            return
        self._tried = time.monotonic()
        try:
            with anyio.fail_after(_FETCH_SECONDS):
                async with httpx2.AsyncClient(follow_redirects=False) as client:
                    url = self._url or await _discovered(client, self._issuer)
                    keys = _listed(await _fetched(client, url))
        except (httpx2.HTTPError, httpx2.InvalidURL, ServerOptionError, ValueError, OSError) as e:
            LOG.error("keys_unavailable", extra={"error": type(e).__name__, "issuer": self._issuer})
            return
        self._keys = [key for key in keys[:_MAX_KEYS] if isinstance(key, dict)]
        self._fetched = time.monotonic()


def _listed(document: Mapping[str, Any]) -> list[Any]:
    """Return the keys of a set, which may be empty (RFC 7517, section 5)."""
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise ValueError("no keys")  # noqa: TRY004 - as for every invalid document
    return keys


async def _discovered(client: httpx2.AsyncClient, issuer: str) -> str:
    """Return the URL of an issuer's key set, from its metadata."""
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
        try:
            metadata = await _fetched(client, url)
        except (httpx2.HTTPStatusError, ValueError):
            # An issuer publishes only one of these documents.
            continue
        # RFC 8414, section 3.3: metadata of another issuer must not be used.
        if metadata.get("issuer") == issuer and isinstance(metadata.get("jwks_uri"), str):
            return checked_url(metadata["jwks_uri"], "jwks_uri", trusted=True)
    raise ValueError("no metadata")


async def _fetched(client: httpx2.AsyncClient, url: str) -> Mapping[str, Any]:
    body = bytearray()
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as response:
        response.raise_for_status()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MAX_KEY_SET_BYTES:
                raise ValueError("too long")
    try:
        document = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("no object")  # noqa: TRY004 - as for every invalid document
    return document


ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Accepted signature algorithms: asymmetric only, since ``none`` and those with a shared secret
prove nothing here."""

_LEEWAY_SECONDS: Final = 30  # allowed clock difference between the two servers

_CLAIMS: Final = ["exp", "iss", "aud"]
"""Required claims (RFC 9068); ``nbf``, which many issuers leave out, is checked if present."""


class JwtVerifier:
    """A verifier of one issuer's access tokens, see `mcp.server.auth.provider.TokenVerifier`."""

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
