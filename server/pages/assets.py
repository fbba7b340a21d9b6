"""The files that pages load: styles, scripts and their licences, all of this package."""

import hashlib
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from mimetypes import guess_type
from typing import Final

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

_NAMES: Final = frozenset(
    {"answer.js", "htmx.LICENSE.txt", "htmx.min.js", "icon.svg", "pages.css", "pages.js"}
)

_CACHED: Final = {"Cache-Control": "public, max-age=31536000, immutable"}
"""Headers of a file: its address changes with its content."""

router = APIRouter(include_in_schema=False)


def asset_path(name: str) -> str:
    """Return the path of a file, relative to the root of the server, with its version."""
    return f"static/{name}?v={_content(name)[1]}"


@router.get("/static/{name}")
async def asset(name: str) -> Response:
    """Return a file.

    Raises:
        HTTPException: there is none of this name.
    """
    if name not in _NAMES:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(_content(name)[0], headers=_CACHED, media_type=guess_type(name)[0])


@cache
def _content(name: str) -> tuple[bytes, str]:
    content = files("server.pages").joinpath("static", name).read_bytes()
    return content, hashlib.sha256(content).hexdigest()[:12]
