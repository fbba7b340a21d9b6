"""Checks of the headers `Host` and `Origin` against DNS rebinding.

A web page can make its own host name resolve to this machine (DNS rebinding) and then send requests
through the user's browser. The header `Host` contains that name, and `Origin` identifies the page.
"""

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.access.web_sessions import foreign
from server.http.paths import SIGN_IN_PATH
from server.pages.errors import as_page
from server.settings import HttpSettings, ServerOptionError

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""Loopback names, which resolve to this machine without DNS."""

_PORT: Final = r"6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4}"
_HOST: Final = rf"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:({_PORT}))?"
_ORIGIN: Final = rf"[a-z][a-z0-9+.-]*://{_HOST}"


def allowed(settings: HttpSettings, own_url: str, public_url: str) -> TransportSecuritySettings:
    """Return the allowed values of `Host` and `Origin`, in the form that the SDK checks.

    Args:
        settings: the settings chosen by the operator.
        own_url: the server's URL on the address that it listens on.
        public_url: the server's URL as clients see it.

    Raises:
        ServerOptionError: an allowed host or origin is malformed.
    """
    public = urlsplit(public_url.lower())
    names = {
        *_LOOPBACK,
        _host(urlsplit(own_url.lower())),
        _host(public),
        *(
            _checked("--allowed-host", host, _HOST, "a name such as example.org")
            for host in settings.allowed_hosts
        ),
    }
    origins = {
        *(f"{scheme}://{name}" for scheme in ("http", "https") for name in _LOOPBACK),
        f"{public.scheme}://{_host(public)}",
        *allowed_origins(settings),
    }
    return TransportSecuritySettings(
        allowed_hosts=_with_any_port(names), allowed_origins=_with_any_port(origins)
    )


def allowed_origins(settings: HttpSettings) -> list[str]:
    """Return the web origins whose pages may read responses.

    Raises:
        ServerOptionError: an origin is malformed.
    """
    return [
        _checked("--allowed-origin", origin, _ORIGIN, "an origin such as https://app.example.org")
        for origin in settings.allowed_origins
    ]


class HostCheck:
    """Middleware that rejects requests for other hosts (421) and from other web pages (403).

    Args:
        app: the next ASGI application.
        settings: the allowed hosts and origins.
    """

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] == "http":
            # Host names are case-insensitive, but the SDK, which checks them again, compares case.
            headers = [(k, v.lower() if k == b"host" else v) for k, v in scope["headers"]]
            scope = {**scope, "headers": headers}
            refusal = _malformed(Headers(scope=scope))
            if refusal is None:
                refusal = await self._security.validate_request(Request(scope))
            if refusal is None and _is_of_another_site(scope):
                refusal = as_page(Request(scope), foreign(), is_foreign=True)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _malformed(headers: Headers) -> Response | None:
    """Return an error response if `Host` or `Origin` is malformed or repeated, else None.

    The SDK accepts anything after an allowed name and a colon as a port.
    """
    if not re.fullmatch(_HOST, headers.get("host", "")):
        return Response("Invalid Host header", HTTPStatus.MISDIRECTED_REQUEST)
    origins = headers.getlist("origin")
    if len(origins) > 1 or not all(re.fullmatch(_ORIGIN, origin) for origin in origins):
        return Response("Invalid Origin header", HTTPStatus.FORBIDDEN)
    return None


def _is_of_another_site(scope: Scope) -> bool:
    """Check whether a page of another site made a browser send a request, other than for the start.

    The page sees no answer, but how long it takes; and an answer may cost something. Of a request
    with an origin the origin has been checked.
    """
    headers = Headers(scope=scope)
    is_start = (scope["path"], scope["query_string"]) == ("/", b"") or scope["path"] == SIGN_IN_PATH
    is_foreign = headers.get("sec-fetch-site") == "cross-site" and "origin" not in headers
    return is_foreign and not is_start


def _host(url: SplitResult) -> str:
    """Return the header `Host` of requests for a URL, without the scheme's default port."""
    return url.netloc.removesuffix({"http": ":80", "https": ":443"}.get(url.scheme, ""))


def _checked(option: str, given: str, pattern: str, meant: str) -> str:
    value = given.lower().rstrip("/")
    if not re.fullmatch(pattern, value):
        raise ServerOptionError(f"{option}: {given[:200]!r} is not {meant}")
    return value


def _with_any_port(names: set[str]) -> list[str]:
    """Return the names, plus an SDK pattern that allows any port for each name without one."""
    return sorted(names | {f"{name}:*" for name in names if not re.search(r":[0-9]+$", name)})
