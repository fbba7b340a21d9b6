"""Three endpoints in a shape that other search services have, at the root of the server.

An answer of a language model may come as server-sent events.
"""

import math
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from server.administration.results import OperationStatus
from server.answers.errors import ChildError, client_message
from server.api.endpoint import Administrator, State, as_json, problem_of
from server.state import ServerState
from shared.answers.answer import answer, answer_events
from shared.answers.model import ServedAnswerModel
from shared.answers.prompt import MAX_TOP_K
from shared.errors import ExtraMissingError, IndexFolderError, LanguageModelError, McpLuceneError
from shared.messages import utc_time
from shared.model.answers import Answer, AnswerEvent, AnswerPart, CheckedCitation
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.search_results import Hit, SearchAnswer, plain

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

EVENT_STREAM: Final = "text/event-stream"  # HTML standard, section 9.2


def usable_model(state: ServerState, name: str | None = None) -> ServedAnswerModel:
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


def event_stream(results: dict[str, Any], events: AsyncGenerator[AnswerEvent]) -> Response:
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


CATEGORY: Final = "category"  # metadata key that `category_filter` compares

MAX_QUERY_CHARACTERS: Final = 100_000

router = APIRouter(tags=["established"])


def _whole(value: object) -> object:
    """Return a whole number such as 10.0, which is an integer in JSON, as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class SearchBody(BaseModel):
    """A search."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)]
    top_k: Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)] = 10
    category_filter: Annotated[
        str | None,
        Field(max_length=10_000, description="Only chunks whose key category has this value."),
    ] = None
    min_relevance_score: Annotated[
        float, Field(ge=0, le=1, description="Least confidence of a result.")
    ] = 0.0
    include_answer: bool = False
    answer_model: Annotated[
        str | None,
        Field(min_length=1, max_length=200, description="The configured one, by default."),
    ] = None

    def request(self) -> SearchRequest:
        wanted = self.category_filter
        return SearchRequest(
            self.query,
            limit=self.top_k,
            filters=[] if wanted is None else [Filter(CATEGORY, "eq", wanted)],
            min_confidence=self.min_relevance_score,
        )


class SearchResponse(BaseModel):
    """The results of a search."""

    query: str
    results: list[Hit]
    total_results: int = Field(
        description="All chunks that match; 0 if the best is below min_relevance_score."
    )
    answer: str | None = None
    answer_confidence: float | None = None
    citations: list[CheckedCitation] = []
    retrieval_time_ms: float
    answer_time_ms: float = 0.0


class IndexStatus(BaseModel):
    """The state of the index."""

    doc_count: int
    total_items: int = Field(description="Documents, and files that could not be read.")
    is_loaded: bool
    index_coverage: float = Field(description="Share of the items in the index; 0 without items.")


class RebuildResponse(BaseModel):
    """A rebuild that has ended."""

    status: str
    num_documents: int
    build_time_seconds: float
    timestamp: str


@router.post(
    "/search",
    response_model=SearchResponse,
    responses={HTTPStatus.OK: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}}},
)
async def search(request: Request, state: State, body: SearchBody) -> Response:
    """Search, and have a language model answer the query from the results if that is requested.

    With the header Accept: text/event-stream an answer is sent as events: results, a response
    without answer; delta, a part of the text, unchecked; and at last answer, the whole, with each
    citation and statement checked, or problem.
    """
    model = usable_model(state, body.answer_model) if body.include_answer else None
    asked = body.request()
    rewriting = await state.rewriting(body.query, asked.syntax)
    began = time.perf_counter()
    found = await state.ask(
        lambda searcher: _found(searcher, replace(asked, rewritten=rewriting.rewritten)),
        partial=True,
    )
    response = {
        "query": body.query,
        "results": plain(found)["results"],
        "total_results": found.totalHits,
        "answer": None,
        "answer_confidence": None,
        "citations": [],
        "retrieval_time_ms": _milliseconds(time.perf_counter() - began),
        "answer_time_ms": 0.0,
    }
    if model is None:
        return as_json(response)

    async def searched(passages: SearchRequest) -> SearchAnswer:
        wanted = replace(passages, min_confidence=asked.min_confidence)
        return await state.ask(lambda searcher: _found(searcher, wanted), partial=True)

    top_k = min(body.top_k, MAX_TOP_K)
    if EVENT_STREAM in request.headers.get("accept", ""):
        events = answer_events(body.query, searched, model, top_k=top_k, filters=asked.filters)
        return event_stream(response, events)
    given = await answer(body.query, searched, model, top_k=top_k, filters=asked.filters)
    return as_json(
        response
        | {
            "answer": given.text,
            "answer_confidence": given.confidence,
            "citations": plain(given)["citations"],
            "answer_time_ms": _milliseconds(given.search_seconds + given.model_seconds),
        }
    )


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1_000, 3)


def _found(searcher: "Searcher", request: SearchRequest) -> SearchAnswer:
    """Search; a category that no document has is empty, and so is a tail without a head.

    Other filters on unknown fields are errors, but which categories there are is no concern of
    clients that were written for other services.
    """
    if request.filters and CATEGORY not in searcher.catalog.field_names():
        return SearchAnswer(request.query, 0, low_confidence=True, results=[])
    answer = searcher.search(request)
    return answer if answer.results else replace(answer, totalHits=0)


@router.get("/index/status", response_model=IndexStatus)
async def index_status(state: State) -> Response:
    """Tell whether the index can be searched, and how many of the files are in it."""

    def figures(searcher: "Searcher") -> tuple[int, int]:
        return searcher.statistics().documents, searcher.failures(limit=1).total

    is_loaded = True
    try:
        documents, failures = await state.ask(figures)
    except IndexFolderError:
        documents, failures, is_loaded = 0, 0, False
    items = documents + failures
    return as_json(
        IndexStatus(
            doc_count=documents,
            total_items=items,
            is_loaded=is_loaded,
            index_coverage=documents / items if items else 0.0,
        )
    )


@router.post(
    "/index/rebuild",
    response_model=RebuildResponse,
    responses={HTTPStatus.ACCEPTED: {"model": OperationStatus}},
)
async def rebuild(administration: Administrator, *, wait: bool = True) -> Response:
    """Rebuild the index from its stored text.

    The server needs the option --admin, and the request a token with the scope admin. With
    wait=false the answer is the operation, whose end GET /api/operations/{operation_id} tells.
    """
    command = administration.command("rebuild")
    operation = administration.operations.start("rebuild", command)
    if not wait:
        return as_json(operation.status(), status=HTTPStatus.ACCEPTED)
    await administration.operations.wait(operation, math.inf)
    ended = operation.status()
    if operation.error is not None or ended.result is None:
        raise ChildError(operation.error or f"the rebuild was {ended.state}")
    return as_json(
        RebuildResponse(
            status="success",
            num_documents=int(ended.result["documents"]),
            build_time_seconds=ended.seconds,
            timestamp=ended.ended or utc_time(),
        )
    )
