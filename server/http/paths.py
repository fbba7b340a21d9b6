"""Which paths of the server need a token, and which take part in the limit on requests."""

from collections.abc import Set as AbstractSet
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

SIGN_IN_PATH: Final = "/sign-in"

SIGN_OUT_PATH: Final = "/sign-out"

STATIC_PATH: Final = "/static"

_UNLIMITED: Final = frozenset({"/healthz", "/readyz", "/metrics", SIGN_IN_PATH})
"""Paths that are answered however many requests run; `readyz` limits itself."""

_PUBLIC: Final = _UNLIMITED - {"/metrics"}

_PUBLIC_PREFIXES: Final = ("/.well-known/", f"{STATIC_PATH}/")
"""What clients need before they have a token: metadata (RFC 9728), styles of the sign-in page."""


def is_public(path: str) -> bool:
    """Check whether a path is answered without a token."""
    return path in _PUBLIC or path.startswith(_PUBLIC_PREFIXES)


def is_limited(path: str) -> bool:
    """Check whether requests of a path count among those that run at once."""
    return path not in _UNLIMITED and not path.startswith(_PUBLIC_PREFIXES)


_PAGES: Final = frozenset({"/", "/status", "/api/docs"})


def is_for_people(path: str) -> bool:
    """Check whether a path is that of a page, which a browser shows."""
    return path in _PAGES or path.startswith("/documents/")


_PREFIXES: Final = ("/api", "/documents", STATIC_PATH, "/status")
_NAMED: Final = frozenset(
    {"/", "/search", "/index/status", "/index/rebuild", "/status", SIGN_IN_PATH, SIGN_OUT_PATH}
)


def path_label(path: str, known: AbstractSet[str]) -> str | None:
    """Return the name by which a path is logged and counted; None for one that does not exist.

    Args:
        path: the path, which may hold ids of documents, which are not recorded.
        known: further paths that are recorded whole.
    """
    if path in known or path in _NAMED:
        return path
    return next((prefix for prefix in _PREFIXES if path.startswith(f"{prefix}/")), None)


class EncodedPaths:
    """An application that is routed by the path as it was sent, with its percent-encoding.

    An id may contain slashes, which are percent-encoded in a path (RFC 3986, section 2.2); in the
    decoded path they could not be told from those between its parts.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] == "http":
            scope = {**scope, "path": scope["raw_path"].decode("ascii", "replace")}
        await self._app(scope, receive, send)
