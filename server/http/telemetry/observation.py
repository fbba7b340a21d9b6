"""Log records and metrics of HTTP requests and tool calls.

Only paths and tools known to this program are recorded by name: any other may be arbitrary data
from a client.
"""

import logging
import time
from http import HTTPStatus
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import CallToolResult
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.paths import path_label
from server.http.telemetry.logs import LOG
from server.http.telemetry.metrics import Metrics
from server.runtime.state import ServerState
from server.tools.table import TOOLS

_OTHER_PATH: Final = "other"
"""Label for unknown paths and tools."""


class RequestObserver:
    """Middleware that records the method, path and status of each request.

    Args:
        app: the next ASGI application.
        metrics: the metrics that count requests.
        paths: the paths that are recorded by name.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: frozenset[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._record(scope, message["status"])
            await send(message)

        await self._app(scope, receive, watched)

    def _record(self, scope: Scope, status: int) -> None:
        path = path_label(scope["path"], self._paths) or _OTHER_PATH
        self._metrics.count_request(path, status)
        level = logging.DEBUG if status < HTTPStatus.BAD_REQUEST else logging.WARNING
        peer = scope["client"][0] if scope["client"] else None
        fields = {"method": scope["method"], "path": path, "status": status, "peer": peer}
        LOG.log(level, "request", extra=fields)


class CallObserver:
    """MCP middleware that records the duration and outcome of each tool call.

    Args:
        metrics: the metrics that count calls.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def __call__(
        self, ctx: ServerRequestContext[ServerState, Any], call_next: CallNext
    ) -> HandlerResult:
        """Pass a message on and record its outcome."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        name = (ctx.params or {}).get("name")
        tool = name if isinstance(name, str) and name in TOOLS else _OTHER_PATH
        outcome = "cancelled"
        began = time.perf_counter()
        try:
            result = await call_next(ctx)
            outcome = _outcome(result)
        except Exception:
            outcome = "error"
            raise
        else:
            return result
        finally:
            seconds = time.perf_counter() - began
            self._metrics.count_call(tool, outcome, seconds)
            client = ctx.session.client_params
            fields = {
                "tool": tool,
                "outcome": outcome,
                "seconds": round(seconds, 4),
                "client": client.client_info.name if client else None,
            } | _caller(get_access_token())
            LOG.info("call", extra=fields)


def _caller(token: AccessToken | None) -> dict[str, str]:
    """Return the caller; the server's own tokens and access tokens have different fields.

    A client of the issuer may have the same name as one of the server's tokens.
    """
    if token is None:
        return {}
    return {"access_token" if token.claims else "token": token.client_id}


def _outcome(result: HandlerResult) -> str:
    """Return the outcome of a call, whose result may already be serialized."""
    match result:
        case CallToolResult(is_error=True) | {"isError": True}:
            return "error"
        case _:
            return "ok"
