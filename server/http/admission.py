"""Which requests are let in: as many as there is room for, and none once the server stops.

Calls, which end with their answer, and streams, which stay open for news, have room of their own.
"""

from collections.abc import Awaitable, Callable
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

PATIENCE_SECONDS: Final = 0.5
"""How long a call waits for room. Older clients have their answer a little before its call has
ended, and ask again at once: as many as there is room for would be refused without it."""


class Admission:
    """Counts what runs, and ends it in order.

    Args:
        max_calls: calls that may run at once.
        max_streams: streams that may be open at once.
    """

    def __init__(self, max_calls: int, max_streams: int) -> None:
        self._room = anyio.CapacityLimiter(max_calls)
        self._ended = anyio.Event()
        self._max_streams = max_streams
        self._streams: set[anyio.CancelScope] = set()
        self.stopping = False

    @property
    def calls(self) -> int:
        """Calls that run."""
        return int(self._room.borrowed_tokens)

    @property
    def streams(self) -> int:
        """Streams that are open."""
        return len(self._streams)

    async def stop(self) -> None:
        """Let nothing in from now on, end all streams, and wait for the calls that run."""
        self.stopping = True
        for stream in self._streams:
            stream.cancel()
        while self.calls:
            self._ended = anyio.Event()
            await self._ended.wait()

    async def call(self, answer: Callable[[], Awaitable[None]]) -> HTTPStatus | None:
        """Have a call answered, and count it meanwhile.

        Args:
            answer: answers it.

        Returns:
            Why it was not let in; None if it was answered.
        """
        call, is_let_in = object(), False
        with anyio.move_on_after(PATIENCE_SECONDS):
            await self._room.acquire_on_behalf_of(call)
            is_let_in = True
        if not is_let_in:
            return self._refusal(is_full=True)
        try:
            # It may have begun to stop while the call waited.
            refusal = self._refusal(is_full=False)
            if refusal is None:
                await answer()
            return refusal
        finally:
            self._room.release_on_behalf_of(call)
            self._ended.set()

    def refusal_of_stream(self) -> HTTPStatus | None:
        """Why a stream cannot be opened now; None if it can."""
        return self._refusal(is_full=self.streams >= self._max_streams)

    def _refusal(self, *, is_full: bool) -> HTTPStatus | None:
        if self.stopping:
            return HTTPStatus.SERVICE_UNAVAILABLE
        return HTTPStatus.TOO_MANY_REQUESTS if is_full else None

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
        if not _is_stream(scope):
            refusal = await self._admission.call(lambda: self._app(scope, receive, send))
        elif (refusal := self._admission.refusal_of_stream()) is None:
            await self._serve_stream(scope, receive, send)
        if refusal is not None:
            await _refused(refusal)(scope, receive, send)

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
