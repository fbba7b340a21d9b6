"""Error responses to lines on stdin that are not messages.

The SDK skips such a line. If it was meant as a request, its client would wait forever: half of a
surrogate pair is enough, which JavaScript and Java leave when they cut a string in the middle of a
character. Over HTTP the SDK itself responds.
"""

import json
from typing import Any, Final

from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

from server.pipes.message_stream import MessageStream, Received

_NO_MESSAGE: Final = (
    "the line is not a JSON-RPC 2.0 message: a request has jsonrpc, id, method and params"
)


class AnsweredReadStream(MessageStream):
    """A stream of messages that responds to invalid lines with a JSON-RPC error.

    Args:
        received: the transport's stream of parsed lines.
        sent: the stream for the error responses.
    """

    def __init__(self, received: ReadStream[Received], sent: WriteStream[SessionMessage]) -> None:
        super().__init__(received)
        self._sent = sent

    async def receive(self) -> Received:
        """Receive the next message."""
        while True:
            item = await self._received.receive()
            if not isinstance(item, ValidationError):
                return item
            if (error := answer(item)) is not None:
                await self._sent.send(SessionMessage(error))


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
        text = f"the line cannot be read: {first['msg']}"
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
