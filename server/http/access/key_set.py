"""The public keys that verify an authorization server's signatures."""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

import anyio
import httpx2
import jwt
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls

from server.http.address import checked_url
from server.http.telemetry.logs import LOG
from server.settings import ServerOptionError

_FRESH_SECONDS: Final = 300.0
"""Time after which keys are fetched again, in seconds."""

_USABLE_SECONDS: Final = 3_600.0
"""Maximum age of keys while they cannot be fetched, in seconds, since revoked keys must expire."""

_MIN_FETCH_INTERVAL_SECONDS: Final = 10.0
"""Minimum time between two fetches, in seconds, since any token with an unknown key causes one."""

_FETCH_SECONDS: Final = 5.0
"""Timeout of a fetch, in seconds."""

_MAX_KEY_SET_BYTES: Final = 1_000_000
"""Maximum size of a document from the authorization server, in bytes."""

_MAX_KEYS: Final = 100
"""Maximum number of keys used from a key set."""


class KeySet:
    """The key set of an authorization server, fetched when a token needs it.

    Args:
        issuer: the URL of the authorization server.
        url: the URL of the key set (RFC 7517); None to discover it from the issuer's metadata (RFC
            8414, OpenID Connect).
    """

    def __init__(self, issuer: str, url: str | None) -> None:
        self._issuer = issuer
        self._url = url
        self._keys: list[dict[str, Any]] = []
        self._fetched = self._tried = -_USABLE_SECONDS
        self._fetching = anyio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key that signed a token, or None if no key matches.

        Args:
            key_id: the key ID in the token's header; without one, the key set must have a single
                key that matches.
            algorithm: the algorithm in the token's header, which the caller has checked.
        """
        key = self._match(key_id, algorithm)
        if key is None or self._age() > _FRESH_SECONDS:
            async with self._fetching:
                # Another request may have fetched the same keys meanwhile.
                key = self._match(key_id, algorithm)
                if key is None or self._age() > _FRESH_SECONDS:
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
    """Return the keys of a set, which may be empty (RFC 7517, section 5).

    Raises:
        ValueError: the document is not a key set.
    """
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise ValueError("no keys")  # noqa: TRY004 - as for every invalid document
    return keys


async def _discovered(client: httpx2.AsyncClient, issuer: str) -> str:
    """Return the URL of an issuer's key set, from its metadata.

    Raises:
        ValueError: the issuer publishes no metadata, or metadata of another issuer.
    """
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
    """Fetch a JSON object from the authorization server.

    Raises:
        httpx2.HTTPError: the request failed.
        ValueError: the response is not a JSON object, or is too long.
    """
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
