"""What the server has done, in the format of Prometheus."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

from shared.model.index_results import IndexStatistics
from shared.version import software_version

PREFIX: Final = "mcp_lucene"

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of the histogram: a search takes milliseconds, one with hundreds of patterns seconds."""


@dataclass(frozen=True)
class Load:
    """What is going on at a moment.

    Attributes:
        calls: requests that run.
        streams: streams that are open.
        sessions: sessions of clients.
        abandoned_calls: calls that go on although nobody waits for them.
        dropped_messages: messages to stderr that were dropped, since nobody read them.
    """

    calls: int
    streams: int
    sessions: int
    abandoned_calls: int
    dropped_messages: int


@dataclass(frozen=True)
class IndexState:
    """The index at a moment.

    Attributes:
        statistics: None if there is no index that can be read.
        refreshes: how often it was opened, or opened again for a newer commit.
    """

    statistics: IndexStatistics | None
    refreshes: int


class Metrics:
    """Counts what happens, for as long as the process runs.

    Args:
        load: tells what is going on.
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
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._requests = Counter(
            f"{PREFIX}_http_requests",
            "Requests by path and status; other paths count as other.",
            ["path", "status"],
            registry=self._registry,
        )

    def count_call(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call of a tool that has ended."""
        self._calls.labels(tool, outcome).inc()
        self._seconds.labels(tool).observe(seconds)

    def count_request(self, path: str, status: int) -> None:
        """Count a request that was answered."""
        self._requests.labels(path, str(status)).inc()

    def exposition(self, index: IndexState) -> bytes:
        """Everything as text, with the state of the index as it is now."""
        self._index = index
        return prometheus_client.generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """What is looked up rather than counted; the registry asks for it."""
        yield InfoMetricFamily(PREFIX, "The server.", {"version": software_version()})
        load = self._load()
        yield _gauge("running_requests", "Requests that run.", load.calls)
        yield _gauge("open_streams", "Streams that are open for news.", load.streams)
        yield _gauge("sessions", "Sessions of clients before 2026-07-28.", load.sessions)
        yield _gauge(
            "abandoned_calls",
            "Calls that go on although nobody waits for them.",
            load.abandoned_calls,
        )
        yield CounterMetricFamily(
            f"{PREFIX}_dropped_log_messages",
            "Messages to stderr that were dropped, since nobody read them.",
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
