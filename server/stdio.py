"""Answers to lines on stdin that are no messages.

The SDK passes over such a line. Where it was meant as a request, its client would wait for ever:
half of a surrogate pair is enough, which is what JavaScript and Java leave of a character when they
cut a string in the middle of it. By HTTP the SDK answers by itself.
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
"""What the SDK's transport makes of a line: a message, or why it is none."""

_NO_MESSAGE: Final = (
    "what was sent is not a message of JSON-RPC 2.0: a request has jsonrpc, id, method and params"
)


class AnsweredReadStream:
    """The messages of a transport; what is none is answered with an error of JSON-RPC.

    Args:
        received: what the transport has received.
        sent: where the errors are sent.
    """

    def __init__(self, received: ReadStream[Received], sent: WriteStream[SessionMessage]) -> None:
        self._received = received
        self._sent = sent

    @property
    def last_context(self) -> Any:
        """The context variables of whoever sent the last message, as the SDK asks for them."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> Received:
        """The next message."""
        while True:
            item = await self._received.receive()
            if not isinstance(item, ValidationError):
                return item
            if (error := answer(item)) is not None:
                await self._sent.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the stream of the transport."""
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
    """The answer to a line that is no message.

    Args:
        error: why it is none.

    Returns:
        An error with the id of the request if the line has one (JSON-RPC 2.0, section 5); None for
        a blank line, and for what may be an answer itself, which must not be answered.
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
    """The message that has been refused; None if it is no object of JSON."""
    for detail in error.errors(include_url=False):
        match detail:
            # A message is of one of four kinds, and lacks what makes it one of the others.
            case {"type": "missing", "loc": (_, _), "input": message}:
                return message
    return None


def _lenient(line: str) -> Any:
    """What Python reads, which takes half of a surrogate pair for a character."""
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
