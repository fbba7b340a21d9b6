"""Clients over stdin and stdout, also one that sends lines that are not messages.

The SDK skips such a line. If it was meant as a request, its client would wait forever: half of a
surrogate pair is enough, which JavaScript and Java leave when they cut a string in the middle of a
character. Over HTTP the SDK itself responds.
"""

import json
import os
import threading
import traceback
from typing import Any, Final

import anyio
from anyio.abc import ObjectSendStream
from mcp.server import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

from server.log import drain_stderr

_LAST_MESSAGE_SECONDS: Final = 1.0
"""Time for a client that has closed stdin to read the last message, in seconds."""

_NO_MESSAGE: Final = (
    "the line is not a JSON-RPC 2.0 message: a request has jsonrpc, id, method and params"
)


async def serve(server: Server[Any]) -> None:
    """Serve over stdin and stdout until stdin ends."""
    async with stdio_server() as (lines, sent):
        error = None
        try:
            async with server.lifespan(server) as state:
                await serve_streams(server, state, lines, sent)
        except Exception as raised:
            error = raised
            raise
        finally:
            # Running writes get a moment to finish. A full pipe would otherwise block the exit
            # forever, and so would the thread that reads stdin.
            end = threading.Timer(_LAST_MESSAGE_SECONDS, _end_process, [error])
            end.daemon = True
            end.start()
    end.cancel()


async def serve_streams(server: Server[Any], state: Any, lines: Any, sent: Any) -> None:
    """Serve one client by streams of the SDK, until what it sends ends."""
    # The SDK iterates over the messages that are left.
    passed_on, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
    options = server.create_initialization_options()
    async with received, anyio.create_task_group() as tasks:
        tasks.start_soon(_answer_invalid_lines, lines, passed_on, sent)
        await serve_dual_era_loop(
            server, received, sent, lifespan_state=state, init_options=options
        )
        tasks.cancel_scope.cancel()


def _end_process(error: Exception | None) -> None:
    if error is not None:
        traceback.print_exception(error)
    drain_stderr()
    os._exit(0 if error is None else 1)


async def _answer_invalid_lines(
    lines: Any, passed_on: ObjectSendStream[SessionMessage | Exception], sent: Any
) -> None:
    async with lines, passed_on:
        async for item in lines:
            if not isinstance(item, ValidationError):
                await passed_on.send(item)
            elif (error := _answer(item)) is not None:
                await sent.send(SessionMessage(error))


def _answer(error: ValidationError) -> JSONRPCError | None:
    """Return the error response to a line that is not a message, from the error of parsing it.

    It has the id of the request if the line contains one (JSON-RPC 2.0, section 5). None for a
    blank line, and for a possible response, which must not be answered.
    """
    details = error.errors(include_url=False)
    first = details[0]
    if first["type"] == "json_invalid":
        line = str(first["input"])
        if not line.strip():
            return None
        code, message = PARSE_ERROR, _lenient(line)
        text = f"the line cannot be read: {first['msg']}"
    else:
        # The error lists what the message lacks for each of the four kinds of messages.
        whole = (d["input"] for d in details if d["type"] == "missing" and len(d["loc"]) == 2)  # noqa: PLR2004
        code, text, message = INVALID_REQUEST, _NO_MESSAGE, next(whole, None)
    if isinstance(message, dict) and message.keys() & {"result", "error"}:
        return None
    return JSONRPCError(
        jsonrpc="2.0", id=_request_id(message), error=ErrorData(code=code, message=text)
    )


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
        case {"id": str() as name}:
            # Half of a surrogate pair is no text.
            return name if name == name.encode(errors="replace").decode() else None
    return None
