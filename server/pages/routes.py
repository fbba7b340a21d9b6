"""The routes of the pages."""

from typing import Final

from fastapi import FastAPI

from server.pages import assets, document, documentation, search, status
from server.pages.errors import answer_errors_as_pages

_ROUTERS: Final = (search.router, document.router, status.router, documentation.router)


def add_pages(app: FastAPI) -> None:
    """Add the pages to an application that has the API."""
    for router in (*_ROUTERS, assets.router):
        app.include_router(router)
    answer_errors_as_pages(app)
