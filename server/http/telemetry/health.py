"""Operational endpoints: liveness, readiness and metrics."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from server.api.problems import problem
from server.http.limits.admission import Admission
from server.http.telemetry.metrics import IndexState, Metrics
from server.runtime.lucene_pool import LucenePool
from server.runtime.state import ServerState
from shared.errors import JavaStartError, McpLuceneError

if TYPE_CHECKING:
    from shared.reading.searcher import Searcher

Endpoint = Callable[[Request], Awaitable[Response]]


async def healthz(_request: Request) -> Response:
    """Respond that the process is alive."""
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


def metrics_endpoint(state: ServerState, metrics: Metrics) -> Endpoint:
    """Return the endpoint that Prometheus scrapes."""

    async def answer(_request: Request) -> Response:
        if state.limit() is not None:
            return problem(
                HTTPStatus.FORBIDDEN,
                "metrics are of the whole index, and the token of this request is limited to "
                "collections",
            )
        index = await _index_state(state.pool)
        return Response(metrics.exposition(index), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return answer


async def _index_state(pool: LucenePool) -> IndexState:
    # Without Java there is no searcher to query.
    with suppress(JavaStartError):
        return await pool.run(_check_index, within=None)
    return IndexState(None, 0)


def _check_index(searcher: "Searcher") -> IndexState:
    try:
        statistics = searcher.statistics()
    except McpLuceneError:
        statistics = None
    return IndexState(statistics, searcher.refreshes)
