"""HTTP connections with limits on time, header length and number.

uvicorn closes a connection that is idle between two requests, but waits without a limit for the
first request, for the rest of headers or of a body, and for a client that does not read. Nor does
it limit the number of connections, so clients could use up the open files that the index needs.
"""

import asyncio
import re
from contextlib import suppress
from http import HTTPStatus
from typing import ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.api.problems import problem
from shared.system import max_open_files

MAX_HEADER_BYTES: Final = 16 * 1_024
"""Maximum length of a request's headers, in bytes."""


_CONTROL_CHARACTER: Final = re.compile(rb"^[^?]*%(?:[01][0-9a-f]|7f)", re.IGNORECASE)
"""A control character in a path, which percent-encoding allows."""


class StrictParser(h11.Connection):
    """A parser that rejects long headers, odd paths, and bodies whose end is ambiguous.

    h11 checks the length only while headers are incomplete, so it accepts longer ones that arrive
    in one packet. If a request has both Content-Length and Transfer-Encoding, h11 ignores the
    former, which a proxy may have used: the body would then be read as further requests (RFC 9112,
    section 6.1).

    A router takes ``/mcp%0A`` for ``/mcp``, since ``$`` in its patterns also matches before a line
    break, while checks that compare the path do not.
    """

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event of the connection.

        Raises:
            h11.RemoteProtocolError: the data is not HTTP, too long, or ambiguous.
        """
        if self.their_state is not h11.IDLE:
            return super().next_event()
        before = len(self.trailing_data[0])
        event = super().next_event()
        if before - len(self.trailing_data[0]) > MAX_HEADER_BYTES:
            raise h11.RemoteProtocolError("the headers are too long", error_status_hint=431)
        if isinstance(event, h11.Request) and _is_ambiguous(event):
            raise h11.RemoteProtocolError("the end of the body is ambiguous")
        if isinstance(event, h11.Request) and _CONTROL_CHARACTER.search(event.target):
            raise h11.RemoteProtocolError("the path has a control character")
        return event


def _is_ambiguous(request: h11.Request) -> bool:
    names = {name for name, _ in request.headers}
    return b"transfer-encoding" in names and (
        b"content-length" in names or request.http_version < b"1.1"
    )


class TimedConnection(H11Protocol):
    """A connection with timeouts for receiving a request and for sending a response.

    Attributes:
        seconds: maximum time to receive a request, from its first byte or from the beginning of the
            connection to its last byte; and maximum time that a response may wait for the client.
        most: maximum number of connections; further ones are closed.
    """

    seconds: ClassVar[float]
    most: ClassVar[int]

    _sending: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self.conn = StrictParser(h11.SERVER, MAX_HEADER_BYTES)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        super().data_received(data)
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._expect_request()
        else:
            self._request_is_complete()

    def pause_writing(self) -> None:
        """Start the timeout for the client to read the response."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume sending."""
        self._answer_is_taken()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeouts."""
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
        # Once a response has begun, no error response can be sent.
        if self.conn.our_state is h11.IDLE:
            self._refuse(
                HTTPStatus.REQUEST_TIMEOUT,
                f"the request had not arrived after {self.seconds:g} seconds",
            )
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it says nothing more
        """Send the response to what is not a request."""
        self._refuse(
            HTTPStatus.BAD_REQUEST,
            "this is not a valid HTTP request, or its headers are longer than "
            f"{MAX_HEADER_BYTES:,} bytes; send a long query with POST /search",
        )

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Send a problem and close the connection."""
        response = problem(status, detail, {"Connection": "close"})
        head = h11.Response(
            status_code=status, headers=response.raw_headers, reason=status.phrase.encode()
        )
        self.transport.write(self.conn.send(head) or b"")
        # The answer to a HEAD request has no body, which h11 refuses to send.
        with suppress(h11.LocalProtocolError):
            for part in (h11.Data(data=bytes(response.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(part) or b"")
        self.transport.close()


def timed_connections(limit: float) -> type[TimedConnection]:
    """Return a connection class with a timeout in seconds.

    The number of connections is limited to half of the process's open files.
    """
    files = max_open_files()

    class Connection(TimedConnection):
        seconds = limit
        most = files // 2

    return Connection
