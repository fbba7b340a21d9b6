"""Paths, and limits on requests: their form, length and time, and how many run at once.

uvicorn and the SDK limit what one connection and one session may do. Calls, which end with their
response, and streams, which stay open for notifications, have separate limits. If there are several
tokens, the calls of one may take half of the room.
"""

import math
import re
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from http import HTTPStatus
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

import anyio
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.endpoint import RETRY, ProblemResponse
from server.state import Holder, holder_of

MCP_PATH: Final = "/mcp"  # URL path of the MCP endpoint

SIGN_IN_PATH: Final = "/sign-in"

SIGN_OUT_PATH: Final = "/sign-out"


class Rules(NamedTuple):
    label: str | None  # by which it is logged and counted; None for one that does not exist
    is_public: bool = False  # answered without a token
    is_limited: bool = True  # counts among the requests that run at once
    is_page: bool = False  # which a browser shows


_METADATA_PATH: Final = f"/.well-known/oauth-protected-resource{MCP_PATH}"  # RFC 9728, by the SDK

_PATHS: Final = {
    MCP_PATH: Rules(MCP_PATH),
    _METADATA_PATH: Rules(_METADATA_PATH, is_public=True, is_limited=False),
    # These are answered however many requests run; `readyz` limits itself.
    "/healthz": Rules("/healthz", is_public=True, is_limited=False),
    "/readyz": Rules("/readyz", is_public=True, is_limited=False),
    "/metrics": Rules("/metrics", is_limited=False),
    SIGN_IN_PATH: Rules(SIGN_IN_PATH, is_public=True, is_limited=False),
    SIGN_OUT_PATH: Rules(SIGN_OUT_PATH),
    "/": Rules("/", is_page=True),
    "/status": Rules("/status", is_page=True),
    "/search": Rules("/search"),
    "/index/status": Rules("/index/status"),
    "/index/rebuild": Rules("/index/rebuild"),
}

_BELOW: Final = {
    "/api/": Rules("/api"),
    # Ids of documents are not recorded.
    "/documents/": Rules("/documents", is_page=True),
    "/status/": Rules("/status"),
    # What clients need before they have a token: styles of the sign-in page, metadata.
    "/static/": Rules("/static", is_public=True, is_limited=False),
    "/.well-known/": Rules(None, is_public=True, is_limited=False),
}
"""Rules of paths by what they begin with."""


def rules(path: str) -> Rules:
    """Return what holds for a path, also for one that does not exist."""
    if path in _PATHS:
        return _PATHS[path]
    return next((rules for start, rules in _BELOW.items() if path.startswith(start)), Rules(None))


class RequestMiddleware:
    """Middleware of requests; what else a server sends, when it starts and stops, passes by."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


MAX_HEADER_BYTES: Final = 16 * 1_024  # of a request's headers
MAX_PUBLIC_BYTES: Final = 16_384  # of a body that anyone may send without a token

ADMISSION_TIMEOUT_SECONDS: Final = 0.5
"""Time that a call waits for admission, in seconds. Older clients receive their response a little
before the call has ended and send the next request at once, which would be refused without it."""

_CONTROL_CHARACTER: Final = re.compile(rb"%(?:[01][0-9a-f]|7f)", re.IGNORECASE)

_CLOSE: Final = {"Connection": "close"}


class WellFormed(RequestMiddleware):
    """Middleware that refuses long headers, odd paths, and bodies whose end is ambiguous.

    uvicorn checks the length only while headers are incomplete, so it accepts longer ones that
    arrive in one packet. If a request has both Content-Length and Transfer-Encoding, it ignores the
    former, which a proxy may have used: the body would then be read as further requests (RFC 9112,
    section 6.1), so the connection is closed.

    A router takes ``/mcp%0A`` for ``/mcp``, since ``$`` in its patterns also matches before a line
    break, while checks that compare the path do not.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if reason := _malformed(scope):
            await ProblemResponse(HTTPStatus.BAD_REQUEST, reason, _CLOSE)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _malformed(scope: Scope) -> str | None:
    line = len(scope["method"]) + len(scope["raw_path"]) + len(scope["query_string"])
    if (
        line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])
        > MAX_HEADER_BYTES
    ):
        return (
            f"the headers are longer than {MAX_HEADER_BYTES:,} bytes; send a long query with "
            "POST /search"
        )
    names = {name for name, _ in scope["headers"]}
    if b"transfer-encoding" in names and (
        b"content-length" in names or scope["http_version"] == "1.0"
    ):
        return "the end of the body is ambiguous"
    if _CONTROL_CHARACTER.search(scope["raw_path"]):
        return "the path has a control character"
    return None


class LimitedBodies(RequestMiddleware):
    """Middleware that limits the size of bodies, and the time to send one and to take an answer."""

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float) -> None:
        super().__init__(app)
        self._seconds = seconds
        self._bodies = RequestBodyLimitMiddleware(self._complete, max_bytes)
        self._public = RequestBodyLimitMiddleware(self._complete, MAX_PUBLIC_BYTES)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        deadline = anyio.current_time() + self._seconds
        is_whole, is_late, is_begun = False, False, False

        async def received() -> Message:
            nonlocal is_late, is_whole
            with anyio.CancelScope(deadline=math.inf if is_whole else deadline):
                message = await receive()
                is_whole = is_whole or not message.get("more_body")
                return message
            is_late = True
            answering.cancel()
            await anyio.sleep_forever()
            raise AssertionError("the answer is cancelled")

        async def sent(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            with anyio.move_on_after(self._seconds) as taking:
                await send(message)
            if taking.cancelled_caught:
                answering.cancel()

        known = rules(scope["path"])
        # What does not exist is refused whatever it would have sent.
        limited = self._public if known.is_public else self._bodies if known.label else self._app
        with anyio.CancelScope() as answering:
            await limited(scope, received, sent)
        if is_late and not is_begun:
            detail = f"the request had not arrived after {self._seconds:g} seconds"
            await ProblemResponse(HTTPStatus.REQUEST_TIMEOUT, detail, _CLOSE)(scope, receive, send)

    async def _complete(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Drop a request whose client has left before its end, or it would be the server's error.

        The SDK's limit passes on a whole body at once.
        """
        first = await receive()
        waiting = [first]

        async def next_part() -> Message:
            return waiting.pop() if waiting else await receive()

        if first["type"] == "http.request" and not first["more_body"]:
            await self._app(scope, next_part, send)


class Admission:
    """Counter of running calls and open streams, which also stops them at shutdown."""

    def __init__(self, max_calls: int, max_streams: int, *, is_shared: bool = False) -> None:
        self._room = anyio.CapacityLimiter(max_calls)
        self._share = max(1, max_calls // 2) if is_shared else max_calls
        # An entry lives as long as a call of its holder runs or waits.
        self._shares: WeakValueDictionary[Holder, anyio.CapacityLimiter] = WeakValueDictionary()
        self._max_streams = max_streams
        self._streams: set[anyio.CancelScope] = set()
        self._ended = anyio.Event()
        self.stopping = False

    @property
    def calls(self) -> int:
        return int(self._room.borrowed_tokens)

    @property
    def streams(self) -> int:
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
        """Run a call, or return the status of its refusal."""
        share = self._shares.setdefault(holder, anyio.CapacityLimiter(self._share))
        with ExitStack() as held:
            held.callback(self._tell_of_end)
            # The share comes first, so that calls of one token cannot fill the queue either.
            for limiter in (share, self._room):
                if not await _enters(limiter):
                    return HTTPStatus.TOO_MANY_REQUESTS
                held.callback(limiter.release)
            if self.stopping:
                return HTTPStatus.SERVICE_UNAVAILABLE
            await answer()
        return None

    def _tell_of_end(self) -> None:
        self._ended.set()

    async def stream(
        self, answer: Callable[[Send], Awaitable[None]], send: Send
    ) -> HTTPStatus | None:
        """Serve a stream until it ends or the server stops, or return the status of its refusal."""
        if self.stopping:
            return HTTPStatus.SERVICE_UNAVAILABLE
        if self.streams >= self._max_streams:
            return HTTPStatus.TOO_MANY_REQUESTS
        is_begun = False

        async def sent(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            await send(message)

        with anyio.CancelScope() as stream:
            self._streams.add(stream)
            try:
                await answer(sent)
            finally:
                self._streams.remove(stream)
        if stream.cancelled_caught and is_begun:
            await send({"type": "http.response.body"})
        return HTTPStatus.SERVICE_UNAVAILABLE if stream.cancelled_caught and not is_begun else None


async def _enters(limiter: anyio.CapacityLimiter) -> bool:
    """Take a place, at once if there is one: a loop that stood still is no reason to refuse."""
    with suppress(anyio.WouldBlock):
        limiter.acquire_nowait()
        return True
    with anyio.move_on_after(ADMISSION_TIMEOUT_SECONDS) as waiting:
        await limiter.acquire()
    return not waiting.cancelled_caught


class AdmissionControl(RequestMiddleware):
    """Middleware that responds with 429 when a limit is reached, and with 503 during shutdown."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        super().__init__(app)
        self._admission = admission

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not rules(scope["path"]).is_limited:
            await self._app(scope, receive, send)
            return
        if _is_stream(scope):
            refusal = await self._admission.stream(
                lambda sent: self._app(scope, receive, sent), send
            )
        else:
            refusal = await self._admission.call(
                lambda: self._app(scope, receive, send), holder_of(get_access_token())
            )
        if refusal is not None:
            is_full = refusal == HTTPStatus.TOO_MANY_REQUESTS
            why = "too many requests run" if is_full else "the server stops"
            answer = ProblemResponse(refusal, f"{why}; try again later", RETRY)
            await answer(scope, receive, send)


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
