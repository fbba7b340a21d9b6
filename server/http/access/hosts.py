"""Which names the server answers to, and which web pages may ask.

A web page can have its own name lead to this machine (DNS rebinding), and then ask the server with
the browser of whoever looks at it. The header `Host` tells that name, and `Origin` tells the page.
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

from server.settings import HttpSettings, ServerOptionError

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""No name server is asked for these, so that they lead nowhere else."""

_PORT: Final = r"6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4}"
_HOST: Final = rf"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:({_PORT}))?"
_ORIGIN: Final = rf"[a-z][a-z0-9+.-]*://{_HOST}"


def allowed(settings: HttpSettings, own_url: str, public_url: str) -> TransportSecuritySettings:
    """What `Host` and `Origin` may be, as the SDK checks it.

    Args:
        settings: the choices of whoever started the server.
        own_url: its URL on the address that it listens on.
        public_url: its URL as clients know it.

    Raises:
        ServerOptionError: an allowed host or origin is not written as one.
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
    """The web origins whose pages may read the answers.

    Raises:
        ServerOptionError: one is not written as an origin.
    """
    return [
        _checked("--allowed-origin", origin, _ORIGIN, "an origin such as https://app.example.org")
        for origin in settings.allowed_origins
    ]


class HostCheck:
    """Refuses requests for other hosts (421) and from other web pages (403), on every path.

    Args:
        app: what answers the others.
        settings: what is allowed.
    """

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        if scope["type"] == "http":
            # Capitals make no other name, but to the SDK, which looks at it once more.
            headers = [(k, v.lower() if k == b"host" else v) for k, v in scope["headers"]]
            scope = {**scope, "headers": headers}
            refusal = _malformed(Headers(scope=scope))
            if refusal is None:
                refusal = await self._security.validate_request(Request(scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _malformed(headers: Headers) -> Response | None:
    """The answer to headers that are not written as one host and at most one origin.

    The SDK takes whatever follows an allowed name and a colon for a port.
    """
    if not re.fullmatch(_HOST, headers.get("host", "")):
        return Response("Invalid Host header", HTTPStatus.MISDIRECTED_REQUEST)
    origins = headers.getlist("origin")
    if len(origins) > 1 or not all(re.fullmatch(_ORIGIN, origin) for origin in origins):
        return Response("Invalid Origin header", HTTPStatus.FORBIDDEN)
    return None


def _host(url: SplitResult) -> str:
    """The header `Host` of requests for a URL, which leaves out the scheme's own port."""
    return url.netloc.removesuffix({"http": ":80", "https": ":443"}.get(url.scheme, ""))


def _checked(option: str, given: str, pattern: str, meant: str) -> str:
    value = given.lower().rstrip("/")
    if not re.fullmatch(pattern, value):
        raise ServerOptionError(f"{option}: {given[:200]!r} is not {meant}")
    return value


def _with_any_port(names: set[str]) -> list[str]:
    """Names, and a pattern of the SDK for each that leaves the port open."""
    return sorted(names | {f"{name}:*" for name in names if not re.search(r":[0-9]+$", name)})
