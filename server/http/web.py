"""The application for programs and people: the JSON API and the pages."""

from typing import Final

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.problems import answer_errors_as_problems
from server.api.routes import OPENAPI_PATH, add_api
from server.runtime.state import ServerState
from shared.version import software_version

_HEADERS: Final = {
    # Nothing is loaded from elsewhere, and no page of others may show these in a frame.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # A form of a page without a referrer would have the origin null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of all responses, as OWASP's cheat sheet on HTTP headers advises."""


def web_application(state: ServerState) -> FastAPI:
    """Create the application that answers all paths but those of MCP and of operation.

    Args:
        state: the state shared by the handlers.
    """
    app = FastAPI(
        title="mcp-lucene",
        summary="Search your own documents: private, offline, on Apache Lucene",
        version=software_version(),
        openapi_url=OPENAPI_PATH,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.server = state
    answer_errors_as_problems(app)
    add_api(app)
    app.add_middleware(ProtectiveHeaders)
    return app


class ProtectiveHeaders:
    """Middleware that adds headers by which browsers protect the pages and their data.

    Args:
        app: the next ASGI application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, protected)
