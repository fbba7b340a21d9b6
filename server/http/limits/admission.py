"""Admission control: limits on running calls and open streams, and refusal during shutdown.

Calls, which end with their response, and streams, which stay open for notifications, have separate
limits. If there are several tokens, one token may use at most half of each limit.
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
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.problems import problem
from server.http.address import MCP_PATH
from server.http.paths import is_limited
from server.resources.shares import Holder, holder_of

_RETRY_AFTER_SECONDS: Final = 1
"""Value of the header `Retry-After` in a refusal, in seconds."""

ADMISSION_TIMEOUT_SECONDS: Final = 0.5
"""Time that a call waits for admission, in seconds. Older clients receive their response a little
before the call has ended and send the next request at once, which would be refused without it."""


class Admission:
    """Counter of running calls and open streams, which also stops them at shutdown.

    Args:
        max_calls: maximum number of concurrent calls.
        max_streams: maximum number of open streams.
        is_shared: whether there are several tokens, each of which may use at most half.
    """

    def __init__(self, max_calls: int, max_streams: int, *, is_shared: bool = False) -> None:
        self._room = anyio.CapacityLimiter(max_calls)
        self._ended = anyio.Event()
        self._max_streams = max_streams
        self._is_shared = is_shared
        # An entry lives as long as a call of its holder runs or waits.
        self._shares: WeakValueDictionary[Holder, anyio.CapacityLimiter] = WeakValueDictionary()
        self._streams: dict[anyio.CancelScope, Holder] = {}
        self.stopping = False

    def share(self, room: int) -> int:
        """Return how much of a limit one token may use."""
        return max(1, room // 2) if self._is_shared else room

    @property
    def calls(self) -> int:
        """Number of running calls."""
        return int(self._room.borrowed_tokens)

    @property
    def streams(self) -> int:
        """Number of open streams."""
        return len(self._streams)

    async def stop(self) -> None:
        """Refuse new requests from now on, end all streams, and wait for the running calls."""
        self.stopping = True
        for stream in self._streams:
            stream.cancel()
        while self.calls:
            self._ended = anyio.Event()
            await self._ended.wait()

    async def call(
        self, answer: Callable[[], Awaitable[None]], holder: Holder = None
    ) -> HTTPStatus | None:
        """Run a call if it is admitted.

        Args:
            answer: runs the call.
            holder: the holder of the request's token.

        Returns:
            The status of the refusal, or None if the call was run.
        """
        call, is_let_in = object(), False
        share = self._share_of(holder)
        with anyio.move_on_after(ADMISSION_TIMEOUT_SECONDS):
            # The holder's limit comes first, so that one token's calls cannot fill the queue
            # either.
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
            # Shutdown may have begun while the call waited.
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
        """Return the status of the refusal if the holder may not open a stream now, else None."""
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
            Whether `stop` ended it.
        """
        with anyio.CancelScope() as stream:
            self._streams[stream] = holder
            try:
                await answer
            finally:
                del self._streams[stream]
        return stream.cancelled_caught


class AdmissionControl:
    """Middleware that responds with 429 when a limit is reached, and with 503 during shutdown.

    Args:
        app: the next ASGI application.
        admission: the limits.
    """

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http" or not is_limited(scope["path"]):
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
    """Check whether a request opens a stream: by GET, or since 2026-07-28 by an MCP method."""
    if scope["path"] != MCP_PATH:
        return False
    headers = Headers(scope=scope)
    return scope["method"] == "GET" or (
        # Only these protocol versions require the header to match the request.
        headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_PROTOCOL_VERSIONS
        and headers.get(MCP_METHOD_HEADER) == "subscriptions/listen"
    )


def holder_of_token(scope: Scope) -> Holder:
    """Return the holder of a request's token, or None if no token is required."""
    user = scope.get("user")
    return holder_of(authorization_context(user)) if isinstance(user, AuthenticatedUser) else None


def refused(status: HTTPStatus) -> Response:
    """Return the response to a request that is not admitted."""
    why = "too many requests run" if status == HTTPStatus.TOO_MANY_REQUESTS else "the server stops"
    return problem(status, f"{why}; try again later", {"Retry-After": f"{_RETRY_AFTER_SECONDS}"})
