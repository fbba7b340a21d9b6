"""Metrics in the Prometheus format, log records and traces of requests and tool calls, and health.

Only paths and tools known to this program are recorded by name: any other may be arbitrary data
from a client.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sized
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import prometheus_client
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import CallToolResult
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.endpoint import ProblemResponse
from server.http.limits import Admission, RequestMiddleware, rules
from server.log import LOG, dropped_messages
from server.lucene_pool import LucenePool
from server.state import ServerState
from server.tools.table import TOOLS
from shared.errors import ExtraMissingError, JavaStartError, McpLuceneError
from shared.installation import software_version

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

_PREFIX: Final = "mcp_lucene"

_DURATION_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets of the histogram, in seconds: a search takes milliseconds, one with hundreds of patterns
seconds."""

_OTHER: Final = "other"  # label for unknown paths and tools

_READ: Final[dict[str, tuple[type[Counter | Gauge], str]]] = {
    "running_requests": (Gauge, "Requests that run."),
    "open_streams": (Gauge, "Open streams of notifications."),
    "sessions": (Gauge, "Sessions of clients before 2026-07-28."),
    "abandoned_calls": (Gauge, "Calls that continue although nobody waits for them."),
    "dropped_log_messages": (
        Counter,
        "Messages to stderr that were dropped because nobody read them.",
    ),
    "index_refreshes": (
        Counter,
        "How often the index was opened, or opened again for a newer commit.",
    ),
    "index_readable": (Gauge, "Whether there is an index."),
    "index_size_bytes": (Gauge, "Size of the index."),
    "index_documents": (Gauge, "Documents of the index."),
    "index_chunks": (Gauge, "Chunks of the index."),
}
"""Metrics that are read when they are asked for, by name."""

Endpoint = Callable[[Request], Awaitable[Response]]


class Metrics:
    def __init__(self) -> None:
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call] # has no hints
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        Info(_PREFIX, "The server.", registry=self.registry).info({"version": software_version()})
        self.calls = Counter(
            f"{_PREFIX}_tool_calls",
            "Calls of tools; outcome is ok, error (what the tool answered) or cancelled.",
            ["tool", "outcome"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            f"{_PREFIX}_tool_call_seconds",
            "Time from a call of a tool to its answer.",
            ["tool"],
            buckets=_DURATION_BUCKETS,
            registry=self.registry,
        )
        self.requests = Counter(
            f"{_PREFIX}_http_requests",
            "Requests by path and status; other paths count as other.",
            ["path", "status"],
            registry=self.registry,
        )

    def exposition(self, read: Mapping[str, float]) -> bytes:
        """Return all metrics as text, with those that were read now."""
        now = CollectorRegistry()
        for name, value in read.items():
            kind, description = _READ[name]
            kind(f"{_PREFIX}_{name}", description, registry=now).inc(value)
        return b"".join(map(prometheus_client.generate_latest, (self.registry, now)))

    async def observe_call(
        self, ctx: ServerRequestContext[ServerState, Any], call_next: CallNext
    ) -> HandlerResult:
        """Record the duration and outcome of each tool call (middleware of MCP)."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        name = (ctx.params or {}).get("name")
        tool = name if isinstance(name, str) and name in TOOLS else _OTHER
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
            self.calls.labels(tool, outcome).inc()
            self.seconds.labels(tool).observe(seconds)
            client = ctx.session.client_params
            fields = {
                "tool": tool,
                "outcome": outcome,
                "seconds": round(seconds, 4),
                "client": client.client_info.name if client else None,
            } | _caller(get_access_token())
            LOG.info("call", extra=fields)


class RequestObserver(RequestMiddleware):
    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._record(scope, message["status"])
            await send(message)

        await self._app(scope, receive, watched)

    def _record(self, scope: Scope, status: int) -> None:
        path = rules(scope["path"]).label or _OTHER
        self._metrics.requests.labels(path, str(status)).inc()
        level = logging.DEBUG if status < HTTPStatus.BAD_REQUEST else logging.WARNING
        peer = scope["client"][0] if scope["client"] else None
        fields = {"method": scope["method"], "path": path, "status": status, "peer": peer}
        LOG.log(level, "request", extra=fields)


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


async def healthz(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


def readyz(pool: LucenePool, admission: Admission) -> Endpoint:
    """Return the endpoint that reports whether the server can answer a search now."""
    looking = asyncio.Lock()

    async def answer(_request: Request) -> Response:
        if admission.stopping:
            return PlainTextResponse("the server stops\n", 503)
        # This endpoint requires no token, so only one thread of the pool is used, however many
        # requests arrive, and only for cheap work.
        async with looking:
            try:
                await pool.run(lambda searcher: searcher.folders(), within=None)
            except McpLuceneError as error:
                # The error's text is left out, since it contains the path of the index.
                return PlainTextResponse(f"{type(error).__name__}\n", 503)
        return PlainTextResponse("ready\n")

    return answer


def metrics_endpoint(
    state: ServerState, metrics: Metrics, admission: Admission, sessions: Sized
) -> Endpoint:
    async def answer(_request: Request) -> Response:
        if state.limit() is not None:
            return ProblemResponse(
                HTTPStatus.FORBIDDEN,
                "metrics are of the whole index, and the token of this request is limited to "
                "collections",
            )
        load = {
            "running_requests": admission.calls,
            "open_streams": admission.streams,
            "sessions": len(sessions),
            "abandoned_calls": state.pool.abandoned_calls,
            "dropped_log_messages": dropped_messages(),
        }
        index: dict[str, float] = {"index_refreshes": 0, "index_readable": 0}
        # Without Java there is no searcher to query.
        with suppress(JavaStartError):
            index = await state.pool.run(_figures, within=None)
        return Response(
            metrics.exposition(load | index),
            media_type=prometheus_client.CONTENT_TYPE_PLAIN_0_0_4,
        )

    return answer


def _figures(searcher: "Searcher") -> dict[str, float]:
    try:
        statistics = searcher.statistics()
    except McpLuceneError:
        return {"index_refreshes": searcher.refreshes, "index_readable": 0}
    return {
        "index_refreshes": searcher.refreshes,
        "index_readable": 1,
        "index_size_bytes": statistics.size_bytes,
        "index_documents": statistics.documents,
        "index_chunks": statistics.chunks,
    }


_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

_FLUSH_TIMEOUT_SECONDS: Final = 3.0  # to export the last spans


def start_tracing() -> Callable[[], None]:
    """Export the spans that the SDK creates by OTLP over HTTP, if a variable names an endpoint.

    Other variables of OpenTelemetry, such as ``OTEL_SERVICE_NAME``, apply as far as its SDK reads
    them by itself. Without the extra ``telemetry`` a warning is logged and no spans are exported.
    Return a function that exports the remaining spans and stops the exporter.
    """
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return lambda: None
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        missing = ExtraMissingError("sending spans", "telemetry", error.name or "opentelemetry")
        LOG.warning("no_telemetry", extra={"reason": str(missing)})
        return lambda: None
    service = {SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME") or "mcp-lucene"}
    resource = Resource.create({**service, SERVICE_VERSION: software_version()})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)

    def end() -> None:
        # If the endpoint does not respond, the exporter retries for longer than shutdown may take.
        ending = threading.Thread(target=provider.shutdown, daemon=True)
        ending.start()
        ending.join(_FLUSH_TIMEOUT_SECONDS)

    return end
