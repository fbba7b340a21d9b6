"""Metrics in the Prometheus format."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

from shared.model.index_results import IndexStatistics
from shared.version import software_version

PREFIX: Final = "mcp_lucene"

_DURATION_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets of the histogram, in seconds: a search takes milliseconds, one with hundreds of patterns
seconds."""


@dataclass(frozen=True)
class Load:
    """The current load of the server.

    Attributes:
        calls: number of running calls.
        streams: number of open streams.
        sessions: number of client sessions.
        abandoned_calls: number of calls that still run although their request was cancelled.
        dropped_messages: number of messages to stderr that were dropped, since nobody read them.
    """

    calls: int
    streams: int
    sessions: int
    abandoned_calls: int
    dropped_messages: int


@dataclass(frozen=True)
class IndexState:
    """The current state of the index.

    Attributes:
        statistics: statistics of the index; None if no index can be read.
        refreshes: number of times that the index was opened, or reopened for a newer commit.
    """

    statistics: IndexStatistics | None
    refreshes: int


class Metrics:
    """The metrics of the process.

    Args:
        load: returns the current load.
    """

    def __init__(self, load: Callable[[], Load]) -> None:
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call] # has no hints
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._load = load
        self._index = IndexState(None, 0)
        self._registry.register(self)
        self._calls = Counter(
            f"{PREFIX}_tool_calls",
            "Calls of tools; outcome is ok, error (what the tool answered) or cancelled.",
            ["tool", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            f"{PREFIX}_tool_call_seconds",
            "Time from a call of a tool to its answer.",
            ["tool"],
            buckets=_DURATION_BUCKETS,
            registry=self._registry,
        )
        self._requests = Counter(
            f"{PREFIX}_http_requests",
            "Requests by path and status; other paths count as other.",
            ["path", "status"],
            registry=self._registry,
        )

    def count_call(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a finished tool call."""
        self._calls.labels(tool, outcome).inc()
        self._seconds.labels(tool).observe(seconds)

    def count_request(self, path: str, status: int) -> None:
        """Count a request that was answered."""
        self._requests.labels(path, str(status)).inc()

    def exposition(self, index: IndexState) -> bytes:
        """Return all metrics as text, with the current state of the index."""
        self._index = index
        return prometheus_client.generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that are read rather than counted; called by the registry."""
        yield InfoMetricFamily(PREFIX, "The server.", {"version": software_version()})
        load = self._load()
        yield _gauge("running_requests", "Requests that run.", load.calls)
        yield _gauge("open_streams", "Open streams of notifications.", load.streams)
        yield _gauge("sessions", "Sessions of clients before 2026-07-28.", load.sessions)
        yield _gauge(
            "abandoned_calls",
            "Calls that continue although nobody waits for them.",
            load.abandoned_calls,
        )
        yield CounterMetricFamily(
            f"{PREFIX}_dropped_log_messages",
            "Messages to stderr that were dropped because nobody read them.",
            load.dropped_messages,
        )
        index, statistics = self._index, self._index.statistics
        yield CounterMetricFamily(
            f"{PREFIX}_index_refreshes",
            "How often the index was opened, or opened again for a newer commit.",
            index.refreshes,
        )
        yield _gauge("index_readable", "Whether there is an index.", int(statistics is not None))
        if statistics is not None:
            yield _gauge("index_size_bytes", "Size of the index.", statistics.size_bytes)
            yield _gauge("index_documents", "Documents of the index.", statistics.documents)
            yield _gauge("index_chunks", "Chunks of the index.", statistics.chunks)


def _gauge(name: str, description: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{PREFIX}_{name}", description, value)
