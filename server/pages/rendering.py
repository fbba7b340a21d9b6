"""Rendering of the templates, with links that hold under any path of a proxy."""

from functools import cache
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.responses import HTMLResponse, Response

from server.api.access import scopes
from server.pages import texts
from server.pages.assets import asset_path
from server.runtime.state import ServerState
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
    """Return a page as a response.

    Args:
        request: the request that the page answers.
        template: the name of the template, without its suffix.
        status: the status of the response.
        headers: further headers.
        values: the values of the template's variables.
    """
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
    environment.globals["asset"] = asset_path
    return environment
