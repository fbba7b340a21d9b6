"""Which requests are let in: as many as there is room for, and none once the server stops.

Calls, which end with their answer, and streams, which stay open for news, have room of their own.
"""

from collections.abc import Awaitable
from http import HTTPStatus
from typing import Final

import anyio
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.address import MCP_PATH

_RETRY_SECONDS: Final = 1
"""When a client that was refused may try again."""


class Admission:
    """Counts what runs, and ends it in order.

    Args:
        max_calls: calls that may run at once.
        max_streams: streams that may be open at once.
    """

    def __init__(self, max_calls: int, max_streams: int) -> None:
        self._max_calls = max_calls
        self._max_streams = max_streams
        self._streams: set[anyio.CancelScope] = set()
        self._calls = 0
        self._idle = anyio.Event()
        self.stopping = False

    @property
    def calls(self) -> int:
        """Calls that run."""
        return self._calls

    @property
    def streams(self) -> int:
        """Streams that are open."""
        return len(self._streams)

    async def stop(self) -> None:
        """Let nothing in from now on, end all streams, and wait for the calls that run."""
        self.stopping = True
        for stream in self._streams:
            stream.cancel()
        while self._calls:
            self._idle = anyio.Event()
            await self._idle.wait()

    def refusal(self, *, stream: bool) -> HTTPStatus | None:
        """Why a request cannot be let in now; None if it can."""
        if self.stopping:
            return HTTPStatus.SERVICE_UNAVAILABLE
        full = self.streams >= self._max_streams if stream else self.calls >= self._max_calls
        return HTTPStatus.TOO_MANY_REQUESTS if full else None

    async def call(self, answer: Awaitable[None]) -> None:
        """Count a call while it is answered."""
        self._calls += 1
        try:
            await answer
        finally:
            self._calls -= 1
            self._idle.set()

    async def stream(self, answer: Awaitable[None]) -> bool:
        """Serve a stream until it ends by itself or the server stops.

        Returns:
            Whether it was ended by `stop`.
        """
        with anyio.CancelScope() as stream:
            self._streams.add(stream)
            try:
                await answer
            finally:
                self._streams.discard(stream)
        return stream.cancelled_caught


class AdmissionControl:
    """Answers 429 to a request there is no room for, and 503 once the server stops.

    Args:
        app: what answers the others.
        admission: what is let in.
    """

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        if scope["type"] != "http" or scope["path"] != MCP_PATH:
            await self._app(scope, receive, send)
            return
        is_stream = _is_stream(scope)
        refusal = self._admission.refusal(stream=is_stream)
        if refusal is not None:
            await _refused(refusal)(scope, receive, send)
        elif is_stream:
            await self._serve_stream(scope, receive, send)
        else:
            await self._admission.call(self._app(scope, receive, send))

    async def _serve_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        if await self._admission.stream(self._app(scope, receive, watched)):
            if started:
                await send({"type": "http.response.body"})
            else:
                await _refused(HTTPStatus.SERVICE_UNAVAILABLE)(scope, receive, send)


def _is_stream(scope: Scope) -> bool:
    """Whether a request opens a stream: by GET, or from 2026-07-28 on by a method of MCP."""
    headers = Headers(scope=scope)
    return scope["method"] == "GET" or (
        # Only these versions hold a request to what this header says.
        headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_PROTOCOL_VERSIONS
        and headers.get(MCP_METHOD_HEADER) == "subscriptions/listen"
    )


def _refused(status: HTTPStatus) -> PlainTextResponse:
    why = "Too many requests" if status == HTTPStatus.TOO_MANY_REQUESTS else "The server stops"
    return PlainTextResponse(
        f"{why}; try again later\n", status, {"Retry-After": f"{_RETRY_SECONDS}"}
    )
