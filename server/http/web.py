"""The application for programs and people: the JSON API and the pages."""

from fastapi import FastAPI

from server.api.problems import answer_errors_as_problems
from server.api.routes import OPENAPI_PATH, add_api
from server.http.access.authentication import Authentication
from server.http.access.sign_in import sign_in_routes
from server.pages.routes import add_pages
from server.runtime.state import ServerState
from shared.version import software_version


def web_application(state: ServerState, authentication: Authentication | None) -> FastAPI:
    """Create the application that answers all paths but those of MCP and of operation.

    Args:
        state: the state shared by the handlers.
        authentication: the authentication settings; None if no token is required.
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
    add_pages(app)
    if authentication is not None:
        app.include_router(sign_in_routes(authentication))
    return app
