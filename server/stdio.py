"""Error responses to lines on stdin that are not messages.

The SDK skips such a line. If it was meant as a request, its client would wait forever: half of a
surrogate pair is enough, which JavaScript and Java leave when they cut a string in the middle of a
character. Over HTTP the SDK itself responds.
"""

import json
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

Received = SessionMessage | Exception
"""The result of the SDK's transport for a line: a message, or the error of parsing it."""

_NO_MESSAGE: Final = (
    "what was sent is not a message of JSON-RPC 2.0: a request has jsonrpc, id, method and params"
)


class AnsweredReadStream:
    """A stream of messages that responds to invalid lines with a JSON-RPC error.

    Args:
        received: the transport's stream of parsed lines.
        sent: the stream for the error responses.
    """

    def __init__(self, received: ReadStream[Received], sent: WriteStream[SessionMessage]) -> None:
        self._received = received
        self._sent = sent

    @property
    def last_context(self) -> Any:
        """Context variables of the last message's sender; the SDK reads this attribute."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> Received:
        """Receive the next message."""
        while True:
            item = await self._received.receive()
            if not isinstance(item, ValidationError):
                return item
            if (error := answer(item)) is not None:
                await self._sent.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the transport's stream."""
        await self._received.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Received:
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


def answer(error: ValidationError) -> JSONRPCError | None:
    """Return the error response to a line that is not a message.

    Args:
        error: the error of parsing the line.

    Returns:
        An error with the request's id if the line contains one (JSON-RPC 2.0, section 5); None for
            a blank line, and for a possible response, which must not be answered.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        line = str(first["input"])
        if not line.strip():
            return None
        code, message = PARSE_ERROR, _lenient(line)
        text = f"what was sent cannot be read: {first['msg']}"
    else:
        message = _whole(error)
        code, text = INVALID_REQUEST, _NO_MESSAGE
    if isinstance(message, dict) and message.keys() & {"result", "error"}:
        return None
    return JSONRPCError(
        jsonrpc="2.0", id=_request_id(message), error=ErrorData(code=code, message=text)
    )


def _whole(error: ValidationError) -> Any:
    """Return the rejected message, or None if it is not a JSON object."""
    for detail in error.errors(include_url=False):
        match detail:
            # The error lists what the message lacks for each of the four kinds of messages.
            case {"type": "missing", "loc": (_, _), "input": message}:
                return message
    return None


def _lenient(line: str) -> Any:
    """Parse JSON with Python's parser, which accepts half of a surrogate pair."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _request_id(message: Any) -> RequestId | None:
    match message:
        case {"id": bool()}:
            return None
        case {"id": int() as number}:
            return number
        case {"id": str() as name} if _is_unicode(name):
            return name
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
