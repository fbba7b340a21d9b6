"""HTTP transport for an untrusted server: little is sent, and little is read.

A broken or hostile server may answer with gigabytes, compressed to look small, or redirect the
client. The caller limits the time.
"""

import ssl
from typing import Final

import httpx2

from shared.errors import LanguageModelError

MAX_BODY_BYTES: Final = 100_000
"""Maximum size of an answer in bytes; a query with its envelope takes a hundredth of that."""

_SENT_HEADERS: Final = ("host", "content-type", "content-length", "accept", "user-agent")
"""Headers that are sent; the client library would also reveal the operating system and its own
environment variables."""

_CERTIFICATES: Final = ssl.create_default_context()
"""Certificates that the system trusts; loading them takes longer than a request."""


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Transport that reads answers completely, up to a limit, and raises an error for all else.

    It follows neither redirects nor the environment's proxies.

    Args:
        api_key: the key that is sent to the server; None for no key.
    """

    def __init__(self, api_key: str | None) -> None:
        self._transport = httpx2.AsyncHTTPTransport(verify=_CERTIFICATES, trust_env=False)
        self._api_key = api_key

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read the answer.

        Raises:
            LanguageModelError: the answer is an error, a redirect, compressed or too long.
        """
        headers = {name: request.headers[name] for name in _SENT_HEADERS if name in request.headers}
        # A compressed answer may expand a thousandfold.
        headers["accept-encoding"] = "identity"
        if self._api_key:
            headers["authorization"] = f"Bearer {self._api_key}"
        request.headers = httpx2.Headers(headers)
        response = await self._transport.handle_async_request(request)
        try:
            body = await _body(response)
        finally:
            await response.aclose()
        return httpx2.Response(
            response.status_code,
            headers={"content-type": "application/json"},
            content=body,
            request=request,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


async def _body(response: httpx2.Response) -> bytes:
    if response.status_code != httpx2.codes.OK:
        raise LanguageModelError(
            f"the language model's server answered with HTTP status {response.status_code}"
        )
    if response.headers.get("content-encoding", "identity") != "identity":
        raise LanguageModelError("the language model's server compressed its answer")
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise LanguageModelError(
                f"the language model's server answered with more than {MAX_BODY_BYTES:,} bytes"
            )
    return bytes(body)
