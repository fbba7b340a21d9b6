"""The routes of the JSON API, its description, and its documentation for people."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from server.api import documents, established, files, operations, search
from server.api.problems import PROBLEMS, Problem

OPENAPI_PATH: Final = "/api/openapi.json"

_ROUTERS: Final = (
    established.router,
    operations.router,
    search.router,
    documents.router,
    files.router,
)


def add_api(app: FastAPI) -> None:
    """Add the API to an application."""
    for router in _ROUTERS:
        app.include_router(router, responses=PROBLEMS)
    # Also for programs that know one address for all of the API.
    app.include_router(established.router, prefix="/api", responses=PROBLEMS)

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _description(app)
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign] # as FastAPI's documentation says


def _description(app: FastAPI) -> dict[str, Any]:
    """Return the description of the API (OpenAPI 3.1), with problems in place of FastAPI's errors.

    Args:
        app: the application.
    """
    described = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    schemas = described["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = Problem.model_json_schema()
    return described
