"""The public keys that an authorization server signs its tokens with."""

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
"""How long keys are used before they are fetched again."""

_USABLE_SECONDS: Final = 3_600.0
"""How long they are used while they cannot be fetched: a key that was withdrawn must end."""

_PAUSE_SECONDS: Final = 10.0
"""The least time between two fetches: tokens of unknown keys, which anyone can send, cause them."""

_FETCH_SECONDS: Final = 5.0
"""How long fetching may take."""

_MAX_BYTES: Final = 1_000_000
"""The longest document that is taken from the authorization server."""

_MAX_KEYS: Final = 100
"""The keys of a set that are looked at."""


class KeySet:
    """The keys of an authorization server, fetched when a token needs them.

    Args:
        issuer: the URL of the authorization server.
        url: where its keys are (RFC 7517); None to ask its metadata (RFC 8414, OpenID Connect).
    """

    def __init__(self, issuer: str, url: str | None) -> None:
        self._issuer = issuer
        self._url = url
        self._keys: list[dict[str, Any]] = []
        self._fetched = self._tried = -_USABLE_SECONDS
        self._fetching = anyio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key of a token; None if there is none that may sign so.

        Args:
            key_id: as the token names it; without a name it is the only key.
            algorithm: the one that the token names, which the caller has checked.
        """
        key = self._match(key_id, algorithm)
        if key is None or self._age() > _FRESH_SECONDS:
            async with self._fetching:
                # Another request may have waited for the same keys.
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
            # A key of another type than the algorithm needs.
            return None

    async def _refresh(self) -> None:
        """Fetch the keys, unless that was tried just now; those that are there stay if it fails."""
        if time.monotonic() - self._tried < _PAUSE_SECONDS:
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
    """The keys of a set, which may be none (RFC 7517, section 5).

    Raises:
        ValueError: the document is no set of keys.
    """
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise ValueError("no keys")  # noqa: TRY004 - as for every other document of no use
    return keys


async def _discovered(client: httpx2.AsyncClient, issuer: str) -> str:
    """Where an issuer's keys are, as its metadata says.

    Raises:
        ValueError: it has no metadata, or they are those of another.
    """
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
        try:
            metadata = await _fetched(client, url)
        except (httpx2.HTTPStatusError, ValueError):
            # The next one: an issuer publishes one of them.
            continue
        # RFC 8414, section 3.3: others must not be believed.
        if metadata.get("issuer") == issuer and isinstance(metadata.get("jwks_uri"), str):
            return checked_url(metadata["jwks_uri"], "jwks_uri", trusted=True)
    raise ValueError("no metadata")


async def _fetched(client: httpx2.AsyncClient, url: str) -> Mapping[str, Any]:
    """A JSON object from the authorization server.

    Raises:
        httpx2.HTTPError: it cannot be had.
        ValueError: it is no JSON object, or too long.
    """
    body = bytearray()
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as response:
        response.raise_for_status()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MAX_BYTES:
                raise ValueError("too long")
    try:
        document = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("no object")  # noqa: TRY004 - as for every other document of no use
    return document
