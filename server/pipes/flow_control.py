"""Flow control over stdio: requests are taken no faster than their answers are read.

The SDK starts a task for each request, and each waits for room on stdout. Without a limit a client
that sends and never reads would fill the memory. So further requests wait in the pipe; and if the
client ends stdin while they do, the session ends without them.
"""

import select
import time
from collections import Counter
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp.shared.message import SessionMessage
from mcp.types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from server.settings import DEFAULT_MAX_REQUESTS

MAX_OPEN_REQUESTS: Final = DEFAULT_MAX_REQUESTS
"""Requests that are not answered yet, and messages that wait for room on stdout."""

SECONDS_WITHOUT_READER: Final = 2.0
"""How long a client that has ended stdin may read nothing."""

_SECONDS_BETWEEN_LOOKS: Final = 0.25

_HANGUP: Final = select.POLLHUP | getattr(select, "POLLRDHUP", 0)

_LISTEN: Final = "subscriptions/listen"
"""A request that is answered when its stream ends; streams have a limit of their own."""


class FlowControl:
    """What one client has asked and not yet taken the answers of.

    Args:
        stdin: a descriptor of the pipe that requests come from.
    """

    def __init__(self, stdin: int) -> None:
        self._stdin = stdin
        self._open: Counter[RequestId] = Counter()
        self._waiting = 0
        self._changed = anyio.Event()
        self._last_read = time.monotonic()
        self._reading = anyio.CancelScope()

    async def room_for(self, message: JSONRPCMessage) -> None:
        """Wait until a message can be worked on."""
        match message:
            case JSONRPCRequest(id=request) if message.method != _LISTEN:
                while max(self._open.total(), self._waiting) >= MAX_OPEN_REQUESTS:
                    await self._changed.wait()
                self._open[coerce_request_id(request)] += 1
            case JSONRPCRequest():
                while self._waiting >= MAX_OPEN_REQUESTS:
                    await self._changed.wait()
            case JSONRPCNotification(method="notifications/cancelled"):
                # It is never answered.
                self._close(as_request_id((message.params or {}).get("requestId")))

    def begin_sending(self) -> None:
        """Count a message that waits for room on stdout."""
        if not self._waiting:
            self._last_read = time.monotonic()
        self._waiting += 1
        self._change()

    def end_sending(self) -> None:
        """Count it no longer."""
        self._waiting -= 1
        self._change()

    def sent(self, message: JSONRPCMessage) -> None:
        """Take note that there was room for a message."""
        self._last_read = time.monotonic()
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    async def watch(self) -> None:
        """End what is read in `reading` if the client has ended stdin and reads nothing."""
        while True:
            while not self._waiting:
                await self._changed.wait()
            await anyio.sleep(_SECONDS_BETWEEN_LOOKS)
            idle = time.monotonic() - self._last_read
            if self._waiting and idle > SECONDS_WITHOUT_READER and self._has_hung_up():
                self._reading.cancel()
                return

    @property
    def reading(self) -> anyio.CancelScope:
        """The scope of reading the next message; left for good once the client is gone."""
        if not self._reading.cancel_called:
            self._reading = anyio.CancelScope()
        return self._reading

    def _close(self, request: RequestId | None) -> None:
        if request is None:
            return
        key = coerce_request_id(request)
        if self._open[key] > 1:
            self._open[key] -= 1
        else:
            del self._open[key]
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _has_hung_up(self) -> bool:
        """Whether stdin has ended, however much of it is still to be read."""
        poll = select.poll()
        poll.register(self._stdin, _HANGUP)
        return bool(poll.poll(0))


class ThrottledReadStream:
    """The messages of a client, while it reads the answers.

    Args:
        received: what the client sends.
        flow: what it has not taken yet.
    """

    def __init__(self, received: ReadStream[SessionMessage | Exception], flow: FlowControl) -> None:
        self._received = received
        self._flow = flow
        self._is_left = False

    @property
    def last_context(self) -> Any:
        """The context variables of whoever sent the last message, as the SDK asks for them."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        with self._flow.reading:
            item = await self._received.receive()
            if isinstance(item, SessionMessage):
                await self._flow.room_for(item.message)
            return item
        self._is_left = True
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        """Close the stream of the transport."""
        # The transport would fail for a message that it holds, while everything else ends.
        if not self._is_left:
            await self._received.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class CountedWriteStream:
    """The messages to a client, counted while they wait for room.

    Args:
        sent: where they are sent.
        flow: what the client has not taken yet.
    """

    def __init__(self, sent: WriteStream[SessionMessage], flow: FlowControl) -> None:
        self._sent = sent
        self._flow = flow

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message once there is room."""
        self._flow.begin_sending()
        try:
            await self._sent.send(item)
        finally:
            self._flow.end_sending()
        self._flow.sent(item.message)

    async def aclose(self) -> None:
        """Close the stream of the transport."""
        await self._sent.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()
