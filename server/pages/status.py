"""The page on the state of the index, with forms for those who may change it."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Form, HTTPException, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from server.administration.operations import Administration
from server.answers.errors import client_message
from server.api.endpoint import Administrator, State
from server.pages.rendering import is_administrator, page
from server.state import ServerState
from shared.errors import McpLuceneError
from shared.model.index_results import FailureList, IndexStatistics
from shared.settings.defaults import MAX_COUNT

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

router = APIRouter(include_in_schema=False)

FAILURES_PER_PAGE: Final = 50

_SHOWN_OPERATIONS: Final = 5  # maximum number of ended operations on the page


@router.get("/status")
async def status(
    request: Request, state: State, offset: Annotated[int, Query(ge=0, le=MAX_COUNT)] = 0
) -> Response:
    """Show the figures of the index, the files that are not in it, and what changes it."""
    return await _status(request, state, offset)


@router.post("/status/{action}")
async def change(
    request: Request,
    state: State,
    administration: Administrator,
    action: Annotated[str, Path(max_length=40)],
    operation: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    try:
        match action:
            case "sync":
                await administration.start_crawl()
            case "pause":
                await administration.request_crawl(operation, "paused")
            case "resume":
                await administration.resume_crawl(operation)
            case "stop":
                await administration.request_crawl(operation, "stopped")
            case "optimize":
                administration.operations.start("optimize", administration.command("optimize"))
            case _:
                raise HTTPException(HTTPStatus.NOT_FOUND)
    except McpLuceneError as error:
        # Without another operation in between, the page itself would not tell why.
        return await _status(request, state, error=client_message(error))
    # The browser gets the page by another request, so that reloading it repeats nothing.
    return RedirectResponse("../status", HTTPStatus.SEE_OTHER)


async def _status(
    request: Request, state: ServerState, offset: int = 0, error: str | None = None
) -> Response:
    def read(searcher: "Searcher") -> tuple[IndexStatistics, FailureList]:
        failures = searcher.failures(offset=offset, limit=FAILURES_PER_PAGE)
        return searcher.statistics(), failures

    statistics, failures = await state.ask(read)
    administration = state.administration if is_administrator(request) else None
    following = offset + FAILURES_PER_PAGE
    return page(
        request,
        "status",
        HTTPStatus.CONFLICT if error else HTTPStatus.OK,
        error=error,
        index=statistics,
        failures=failures,
        previous=max(0, offset - FAILURES_PER_PAGE) if offset else None,
        following=following if following < failures.total else None,
        **_operations(administration),
    )


def _operations(administration: Administration | None) -> dict[str, Any]:
    if administration is None:
        return {"current": None, "past": []}
    current = administration.operations.current
    past = administration.operations.past[:_SHOWN_OPERATIONS]
    return {
        "current": current.status() if current else None,
        "past": [operation.status(brief=True) for operation in past],
    }
