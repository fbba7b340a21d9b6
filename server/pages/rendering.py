"""Rendering of the templates, with links that hold under any path of a proxy."""

from functools import cache
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.responses import HTMLResponse, Response

from server.api.endpoint import ProblemResponse, scopes
from server.pages import texts
from server.state import ServerState
from shared.version import software_version

_NOT_CACHED: Final = {"Cache-Control": "no-store"}
"""Headers of a page: it shows parts of documents, which stay in no cache."""


def page(
    request: Request,
    template: str,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
    **values: Any,
) -> Response:
    """Return a page as a response, of a template and the values of its variables."""
    text = (
        _environment()
        .get_template(f"{template}.html")
        .render(
            root=root(request.scope["path"]),
            is_signed_in=is_signed_in(request),
            is_administrator=is_administrator(request),
            version=software_version(),
            **values,
        )
    )
    return HTMLResponse(text, status, _NOT_CACHED | (headers or {}))


def root(path: str) -> str:
    """Return the way from a path to the root of the server, such as ``../``.

    Links are relative, since a proxy may serve the root under any path.
    """
    return "../" * (path.count("/") - 1) or "./"


def is_signed_in(request: Request) -> bool:
    """Check whether a token is required, and the request has one."""
    return isinstance(request.scope.get("user"), AuthenticatedUser)


def is_administrator(request: Request) -> bool:
    """Check whether the server writes, and the request may have it do so."""
    # Middleware refuses requests before they reach the application that has the state.
    state: ServerState | None = getattr(request.app.state, "server", None)
    return state is not None and state.administration is not None and "admin" in scopes(request)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "answer_text": texts.answer_text,
        "confidence": texts.confidence_word,
        "day": texts.day,
        "file_size": texts.file_size,
        "file_type": texts.file_type_name,
        "language": texts.language_name,
        "marked": texts.marked,
        "part": texts.encoded,
        "place": texts.place,
        "quantity": texts.quantity,
        "title": texts.document_title,
    }
    # The address of a file changes with the version, which browsers keep.
    environment.globals["asset"] = lambda name: f"static/{name}?v={software_version()}"
    return environment


_FOR_PROGRAMS: Final = ("/api/", "/search", "/index/", "/static/")
"""Beginnings of the paths that programs ask; their errors are problems (RFC 9457)."""

_TITLES: Final = {
    HTTPStatus.BAD_REQUEST: "This cannot be searched",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "Nothing is here",
    HTTPStatus.SERVICE_UNAVAILABLE: "The index cannot be searched now",
    HTTPStatus.UNPROCESSABLE_ENTITY: "This address is not understood",
}


def as_page(request: Request, answer: Response, *, is_foreign: bool = False) -> Response:
    """Return a problem as a page if the request asks for a page, else as it is.

    For people whom a page of another site has sent there the page has a link to the same address.
    """
    path = request.scope["path"]
    is_for_people = "text/html" in request.headers.get("accept", "")
    if not (
        isinstance(answer, ProblemResponse) and is_for_people and not path.startswith(_FOR_PROGRAMS)
    ):
        return answer
    status = HTTPStatus(answer.status_code)
    kept = {
        name: value
        for name, value in answer.headers.items()
        if name in {"allow", "retry-after", "www-authenticate"}
    }
    title = _TITLES.get(status, status.phrase)
    return page(
        request, "error", status, kept, title=title, detail=answer.detail, is_foreign=is_foreign
    )
