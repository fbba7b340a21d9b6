"""Answers of a language model: the model of a request, and answers as server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

from fastapi import HTTPException, Request
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from server.answers.errors import client_message
from server.api.problems import problem_of
from server.state import ServerState
from shared.answers.model import AnswerModel
from shared.errors import ExtraMissingError, LanguageModelError, McpLuceneError
from shared.model.answers import Answer, AnswerEvent, AnswerPart
from shared.model.search_results import plain

EVENT_STREAM: Final = "text/event-stream"
"""Media type of server-sent events (HTML standard, section 9.2)."""


def usable_model(state: ServerState, name: str | None = None) -> AnswerModel:
    """Return the language model that answers questions."""
    model = state.answer_model
    assert model is not None  # noqa: S101 - every server over HTTP has one, see server.http.serving
    try:
        model.check()
    except (ExtraMissingError, LanguageModelError) as error:
        raise HTTPException(HTTPStatus.CONFLICT, client_message(error)) from error
    if name not in {None, model.name}:
        detail = f"this server answers by {model.name!r} only; leave out answer_model"
        raise HTTPException(HTTPStatus.FORBIDDEN, detail)
    return model


def wants_events(request: Request) -> bool:
    """Check whether a client accepts server-sent events."""
    return EVENT_STREAM in request.headers.get("accept", "")


async def last_answer(events: AsyncGenerator[AnswerEvent]) -> Answer:
    """Return the answer of its events, which are not shown."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise AssertionError("the last event is the answer")


def event_stream(results: dict[str, Any], events: AsyncGenerator[AnswerEvent]) -> Response:
    """Return an answer as server-sent events."""

    async def stream() -> AsyncIterator[bytes]:
        yield _event("results", results)
        try:
            async with aclosing(events):
                async for event in events:
                    match event:
                        case AnswerPart(text):
                            yield _event("delta", {"text": text})
                        case Answer():
                            yield _event("answer", plain(event))
        except McpLuceneError as error:
            yield _event("problem", bytes(problem_of(error).body))

    # A proxy that buffers would send everything at the end (the header is nginx's).
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream(), headers=headers, media_type=EVENT_STREAM)


def _event(name: str, data: Any) -> bytes:
    # JSON has no line breaks, which would end the data.
    encoded = data if isinstance(data, bytes) else to_json(data)
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encoded)
