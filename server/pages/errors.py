"""Errors as pages: what happened, and what to do, for people with a browser."""

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, cast

from fastapi import FastAPI, Request
from starlette.responses import Response

from server.api.problems import MEDIA_TYPE
from server.pages.rendering import page

Handler = Callable[[Request, Exception], Awaitable[Response]]

_FOR_PROGRAMS: Final = ("/api/", "/search", "/index/", "/static/")
"""Beginnings of the paths that programs ask; their errors are problems (RFC 9457)."""

_TITLES: Final = {
    HTTPStatus.BAD_REQUEST: "This cannot be searched",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "Nothing is here",
    HTTPStatus.SERVICE_UNAVAILABLE: "The index cannot be searched now",
    HTTPStatus.UNPROCESSABLE_ENTITY: "This address is not understood",
}


def answer_errors_as_pages(app: FastAPI) -> None:
    """Make an application show its errors as pages where a browser asks for one.

    Args:
        app: the application, which answers all its errors as problems.
    """
    for kind, handler in [*app.exception_handlers.items()]:
        app.add_exception_handler(kind, _shown(cast("Handler", handler)))


def _shown(handler: Handler) -> Handler:
    async def shown(request: Request, error: Exception) -> Response:
        return as_page(request, await handler(request, error))

    return shown


def as_page(request: Request, problem: Response, *, is_foreign: bool = False) -> Response:
    """Return a problem as a page if the request asks for a page, else as it is.

    Args:
        request: the request.
        problem: the problem.
        is_foreign: whether the page has a link to the same address, for people whom a page of
            another site has sent there.
    """
    is_problem = problem.media_type == MEDIA_TYPE
    if not is_problem or not _asks_for_page(request):
        return problem
    told = json.loads(bytes(problem.body))
    status = HTTPStatus(problem.status_code)
    kept = {
        name: value
        for name, value in problem.headers.items()
        if name in {"allow", "retry-after", "www-authenticate"}
    }
    title = _TITLES.get(status, told["title"])
    detail = told["detail"]
    return page(request, "error", status, kept, title=title, detail=detail, is_foreign=is_foreign)


def _asks_for_page(request: Request) -> bool:
    path = request.scope["path"]
    return "text/html" in request.headers.get("accept", "") and not path.startswith(_FOR_PROGRAMS)
