"""Connections of clients that take their time: each may take only so much.

uvicorn closes a connection that is idle between two requests, but waits for the first one, for the
rest of headers and of a body, and for a client that does not read, as long as the client likes.
Nor does it leave any open file to the index, if clients open connections enough.
"""

import asyncio
import resource
from typing import ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_HEADER_BYTES: Final = 16 * 1_024
"""Bytes of a request before its body."""


class StrictParser(h11.Connection):
    """Refuses long headers however they come, and bodies whose end is ambiguous.

    h11 itself looks at the length only while headers are incomplete, so it takes longer ones that
    come in one packet. Of Content-Length and Transfer-Encoding it ignores the first, which a proxy
    may have gone by: what it took for a body would be read as further requests (RFC 9112, 6.1).
    """

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """What was received next.

        Raises:
            h11.RemoteProtocolError: it is not HTTP, too long, or ambiguous.
        """
        if self.their_state is not h11.IDLE:
            return super().next_event()
        before = len(self.trailing_data[0])
        event = super().next_event()
        if before - len(self.trailing_data[0]) > MAX_HEADER_BYTES:
            raise h11.RemoteProtocolError("the headers are too long", error_status_hint=431)
        if isinstance(event, h11.Request) and _is_ambiguous(event):
            raise h11.RemoteProtocolError("the end of the body is ambiguous")
        return event


def _is_ambiguous(request: h11.Request) -> bool:
    names = {name for name, _ in request.headers}
    return b"transfer-encoding" in names and (
        b"content-length" in names or request.http_version < b"1.1"
    )


class TimedConnection(H11Protocol):
    """Ends a connection whose client sends a request, or takes an answer, too slowly.

    Attributes:
        seconds: how long a request may take from its first byte, or from the beginning of the
            connection, to its last; and how long an answer may wait for its client.
        most: connections there may be at once; others are closed.
    """

    seconds: ClassVar[float]
    most: ClassVar[int]

    _sending: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.conn = StrictParser(h11.SERVER, MAX_HEADER_BYTES)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._expect_request()
        else:
            self._request_is_complete()

    def pause_writing(self) -> None:
        """Begin to wait for the client to take what was sent."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on sending."""
        self._answer_is_taken()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._request_is_complete()
        self._answer_is_taken()
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        if self._sending is None:
            self._sending = self.loop.call_later(self.seconds, self._end_slow_request)

    def _request_is_complete(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _answer_is_taken(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _end_slow_request(self) -> None:
        # Where an answer has begun there is no place for another one.
        if self.conn.our_state is h11.IDLE:
            headers = [(b"connection", b"close"), (b"content-length", b"0")]
            response = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
            self.transport.write(self.conn.send(response) or b"")
            self.transport.write(self.conn.send(h11.EndOfMessage()) or b"")
            self.transport.close()
        else:
            self.transport.abort()


def timed_connections(limit: float) -> type[TimedConnection]:
    """The class of connections whose clients may take so many seconds.

    There may be half as many of them as the process may have open files: that is the hard limit,
    to which Java raises the soft one as it starts, sooner or later than this is asked.
    """
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)

    class Connection(TimedConnection):
        seconds = limit
        most = files // 2

    return Connection
