"""The routes of the JSON API, its description, and its documentation for people."""

from typing import Final

from fastapi import FastAPI

from server.api import documents, established, search
from server.api.problems import PROBLEMS

OPENAPI_PATH: Final = "/api/openapi.json"

_ROUTERS: Final = (established.router, search.router, documents.router)


def add_api(app: FastAPI) -> None:
    """Add the API to an application."""
    for router in _ROUTERS:
        app.include_router(router, responses=PROBLEMS)
