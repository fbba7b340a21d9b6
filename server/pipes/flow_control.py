"""Flow control over stdio: requests are read no faster than the client reads the responses.

The SDK starts a task for each request, and each task waits for room on stdout. Without a limit, a
client that sends and never reads would fill the memory. Therefore further requests wait in the
pipe; if the client closes stdin meanwhile, the session ends without them.
"""

import time
from collections import Counter
from typing import Final

import anyio
from anyio.abc import ObjectSendStream
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

from server.pipes.message_stream import MessageStream, Received
from server.settings import DEFAULT_MAX_REQUESTS
from shared.system import has_hung_up

MAX_OPEN_REQUESTS: Final = DEFAULT_MAX_REQUESTS
"""Maximum number of requests without a response, and of messages waiting for room on stdout."""

SECONDS_WITHOUT_READER: Final = 2.0
"""Maximum time that a client may read nothing after it has closed stdin, in seconds."""

_HANGUP_CHECK_SECONDS: Final = 0.25

_LISTEN: Final = "subscriptions/listen"
"""A method whose response is sent when its stream ends; streams have a limit of their own."""


class FlowControl:
    """The open requests and unsent messages of one client.

    Args:
        stdin: file descriptor of the pipe that carries the requests.
    """

    def __init__(self, stdin: int) -> None:
        self._stdin = stdin
        self._open: Counter[RequestId] = Counter()
        self._waiting = 0
        self._changed = anyio.Event()
        self._last_read = time.monotonic()
        self._reading = anyio.CancelScope()

    async def room_for(self, message: JSONRPCMessage) -> None:
        """Wait until there is room to process a message."""
        match message:
            case JSONRPCRequest(id=request) if message.method != _LISTEN:
                while max(self._open.total(), self._waiting) >= MAX_OPEN_REQUESTS:
                    await self._changed.wait()
                self._open[coerce_request_id(request)] += 1
            case JSONRPCRequest():
                while self._waiting >= MAX_OPEN_REQUESTS:
                    await self._changed.wait()
            case JSONRPCNotification(method="notifications/cancelled"):
                # The SDK sends no response to a cancelled request.
                self._close(as_request_id((message.params or {}).get("requestId")))

    def begin_sending(self) -> None:
        """Count a message that waits for room on stdout."""
        if not self._waiting:
            self._last_read = time.monotonic()
        self._waiting += 1
        self._change()

    def end_sending(self) -> None:
        """Stop counting a message that waits for room."""
        self._waiting -= 1
        self._change()

    def sent(self, message: JSONRPCMessage) -> None:
        """Record that a message was sent."""
        self._last_read = time.monotonic()
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    async def watch(self) -> None:
        """Cancel `reading` if the client has closed stdin and reads nothing."""
        while True:
            while not self._waiting:
                await self._changed.wait()
            await anyio.sleep(_HANGUP_CHECK_SECONDS)
            idle = time.monotonic() - self._last_read
            if self._waiting and idle > SECONDS_WITHOUT_READER and has_hung_up(self._stdin):
                self._reading.cancel()
                return

    @property
    def reading(self) -> anyio.CancelScope:
        """The cancel scope for reading the next message; it stays cancelled after a disconnect."""
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


class ThrottledReadStream(MessageStream):
    """A stream of a client's messages that waits while the client does not read.

    Args:
        received: the messages from the client.
        flow: the flow control of the client.
    """

    def __init__(self, received: ReadStream[Received], flow: FlowControl) -> None:
        super().__init__(received)
        self._flow = flow
        self._is_left = False

    async def receive(self) -> Received:
        """Receive the next message."""
        with self._flow.reading:
            item = await self._received.receive()
            if isinstance(item, SessionMessage):
                await self._flow.room_for(item.message)
            return item
        self._is_left = True
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        """Close the transport's stream."""
        # Closing would make the transport fail for a message that it holds during shutdown.
        if not self._is_left:
            await super().aclose()


class CountedWriteStream(ObjectSendStream[SessionMessage]):
    """A stream of messages to a client, counted while they wait for room.

    Args:
        sent: the transport's stream.
        flow: the flow control of the client.
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
        """Close the transport's stream."""
        await self._sent.aclose()
