"""Which requests are let in: as many as there is room for, and none once the server stops.

Calls, which end with their answer, and streams, which stay open for news, have room of their own.
Where there are several tokens, none of them takes more than half of it.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final
from weakref import WeakValueDictionary

import anyio
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    authorization_context,
)
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.address import MCP_PATH
from server.resources.shares import Holder, holder_of

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
        is_shared: whether there are several tokens, none of which may take more than half.
    """

    def __init__(self, max_calls: int, max_streams: int, *, is_shared: bool = False) -> None:
        self._room = anyio.CapacityLimiter(max_calls)
        self._ended = anyio.Event()
        self._max_streams = max_streams
        self._is_shared = is_shared
        # Each lives as long as a call of its holder runs or waits.
        self._shares: WeakValueDictionary[Holder, anyio.CapacityLimiter] = WeakValueDictionary()
        self._streams: dict[anyio.CancelScope, Holder] = {}
        self.stopping = False

    def share(self, room: int) -> int:
        """How much of a room one token may take."""
        return max(1, room // 2) if self._is_shared else room

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

    async def call(
        self, answer: Callable[[], Awaitable[None]], holder: Holder = None
    ) -> HTTPStatus | None:
        """Have a call answered, and count it meanwhile.

        Args:
            answer: answers it.
            holder: whose token came with it.

        Returns:
            Why it was not let in; None if it was answered.
        """
        call, is_let_in = object(), False
        share = self._share_of(holder)
        with anyio.move_on_after(PATIENCE_SECONDS):
            # First its share, so that not even the queue for the room is full of one token's calls.
            await share.acquire_on_behalf_of(call)
            try:
                await self._room.acquire_on_behalf_of(call)
                is_let_in = True
            finally:
                if not is_let_in:
                    share.release_on_behalf_of(call)
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
            share.release_on_behalf_of(call)
            self._ended.set()

    def _share_of(self, holder: Holder) -> anyio.CapacityLimiter:
        share = self._shares.get(holder)
        if share is None:
            share = anyio.CapacityLimiter(self.share(int(self._room.total_tokens)))
            self._shares[holder] = share
        return share

    def refusal_of_stream(self, holder: Holder = None) -> HTTPStatus | None:
        """Why a stream cannot be opened now with a token; None if it can."""
        held = sum(each == holder for each in self._streams.values())
        return self._refusal(
            is_full=self.streams >= self._max_streams or held >= self.share(self._max_streams)
        )

    def _refusal(self, *, is_full: bool) -> HTTPStatus | None:
        if self.stopping:
            return HTTPStatus.SERVICE_UNAVAILABLE
        return HTTPStatus.TOO_MANY_REQUESTS if is_full else None

    async def stream(self, answer: Awaitable[None], holder: Holder = None) -> bool:
        """Serve a stream until it ends by itself or the server stops.

        Returns:
            Whether it was ended by `stop`.
        """
        with anyio.CancelScope() as stream:
            self._streams[stream] = holder
            try:
                await answer
            finally:
                del self._streams[stream]
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
        holder = holder_of_token(scope)
        if not _is_stream(scope):
            refusal = await self._admission.call(lambda: self._app(scope, receive, send), holder)
        elif (refusal := self._admission.refusal_of_stream(holder)) is None:
            await self._serve_stream(scope, receive, send)
        if refusal is not None:
            await refused(refusal)(scope, receive, send)

    async def _serve_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        if await self._admission.stream(self._app(scope, receive, watched), holder_of_token(scope)):
            if started:
                await send({"type": "http.response.body"})
            else:
                await refused(HTTPStatus.SERVICE_UNAVAILABLE)(scope, receive, send)


def _is_stream(scope: Scope) -> bool:
    """Whether a request opens a stream: by GET, or from 2026-07-28 on by a method of MCP."""
    headers = Headers(scope=scope)
    return scope["method"] == "GET" or (
        # Only these versions hold a request to what this header says.
        headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_PROTOCOL_VERSIONS
        and headers.get(MCP_METHOD_HEADER) == "subscriptions/listen"
    )


def holder_of_token(scope: Scope) -> Holder:
    """Whose token came with a request; None if no token is asked for."""
    user = scope.get("user")
    return holder_of(authorization_context(user)) if isinstance(user, AuthenticatedUser) else None


def refused(status: HTTPStatus) -> PlainTextResponse:
    """The answer to a request that is not let in."""
    why = "Too many requests" if status == HTTPStatus.TOO_MANY_REQUESTS else "The server stops"
    return PlainTextResponse(
        f"{why}; try again later\n", status, {"Retry-After": f"{_RETRY_SECONDS}"}
    )
