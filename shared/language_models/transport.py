"""HTTP client for an untrusted server: little is sent, and little is read.

A broken or hostile server may answer with gigabytes, compressed to look small, or redirect the
client. The caller limits the time.
"""

import ssl
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2

from shared.errors import LanguageModelBusyError, LanguageModelError

MAX_BODY_BYTES: Final = 100_000
"""Maximum size of an answer in bytes; a query with its envelope takes a hundredth of that."""

_SENT_HEADERS: Final = ("host", "content-type", "content-length", "accept", "user-agent")
"""Headers that are sent; the client libraries would also reveal the operating system and their own
environment variables."""

_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of a server that may answer a later request."""

_MAX_DIGITS: Final = 7
"""Number of digits of a time to wait from which on it is not one."""

_SERVER: Final = "the language model's server"

_EVENTS: Final = "text/event-stream"
"""Media type of an answer that arrives in parts."""

_REMEDIES: Final = {
    401: "check its key",
    403: "check its key",
    404: "check the address, and the name of the model",
    429: "try again later",
}
"""Next steps after a status that has one."""

_CERTIFICATES: Final = ssl.create_default_context()
"""Certificates that the system trusts; loading them takes longer than a request."""


def bounded_client(
    api_key: str | None,
    *,
    max_bytes: int = MAX_BODY_BYTES,
    in_parts: bool = False,
    server: str = _SERVER,
) -> httpx2.AsyncClient:
    """Return a client that reads answers up to a limit, and raises an error for all else.

    Neither redirects nor the environment's proxies are followed.
    """

    async def strip(request: httpx2.Request) -> None:
        headers = {name: request.headers[name] for name in _SENT_HEADERS if name in request.headers}
        # A compressed answer may expand a thousandfold.
        headers["accept-encoding"] = "identity"
        if api_key:
            headers["authorization"] = f"Bearer {api_key}"
        request.headers = httpx2.Headers(headers)

    async def check(response: httpx2.Response) -> None:
        _check_head(response, server, in_parts=in_parts)
        response.stream = _BoundedStream(response.stream, max_bytes, server)

    return httpx2.AsyncClient(
        verify=_CERTIFICATES,
        trust_env=False,
        follow_redirects=False,
        timeout=None,
        event_hooks={"request": [strip], "response": [check]},
    )


class _BoundedStream(httpx2.AsyncByteStream):
    """The body of an answer, up to a limit."""

    def __init__(self, stream: Any, max_bytes: int, server: str) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._server = server

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > self._max_bytes:
                raise LanguageModelError(
                    f"{self._server} answered with more than {self._max_bytes:,} bytes"
                )
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _check_head(response: httpx2.Response, server: str, *, in_parts: bool) -> None:
    status = response.status_code
    if status != httpx2.codes.OK:
        problem, remedy = f"{server} answered with HTTP status {status}", _REMEDIES.get(status, "")
        if status in _BUSY:
            raise LanguageModelBusyError(problem, remedy, _retry_after(response))
        raise LanguageModelError(problem, remedy)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise LanguageModelError(f"{server} compressed its answer")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if in_parts and media_type != _EVENTS:
        raise LanguageModelError(
            f"{server} did not send its answer in parts, as "
            f"{_EVENTS}, but as {media_type[:80] or 'nothing in particular'}"
        )


def _retry_after(response: httpx2.Response) -> float:
    """Return the time after which a server wants the next request, in seconds; 0 if unknown."""
    # The other form of the header, a date, needs two clocks that agree.
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdecimal() and len(text) < _MAX_DIGITS else 0.0
