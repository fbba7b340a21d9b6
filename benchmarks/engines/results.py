"""What was measured, as JSON and in Python."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from benchmarks.engines.worker import Writing


@dataclass(frozen=True)
class Times:
    """The times of one kind of queries."""

    p50: float
    p95: float
    p99: float
    asked: int
    hits: float


@dataclass(frozen=True)
class Searching:
    """What searching took."""

    times: dict[str, Times]
    peak_bytes: int


@dataclass(frozen=True)
class Figures:
    """The figures of one engine; `all_cores` is None where it is no faster."""

    name: str
    one_core: Writing | None = None
    all_cores: Writing | None = None
    index_bytes: int = 0
    searching: Searching | None = None
    left_out: str | None = None
    written: str | None = None

    @property
    def writing(self) -> Writing | None:
        """What writing took on as many cores as it uses."""
        return self.all_cores or self.one_core


@dataclass(frozen=True)
class Run:
    """All engines on the same chunks."""

    chunks: int
    text_bytes: int
    date: str
    machine: str
    versions: dict[str, str]
    engines: dict[str, Figures] = field(default_factory=dict)

    def rate(self, engine: str, *, all_cores: bool) -> float | None:
        """The chunks that an engine writes in a second."""
        figures = self.engines[engine]
        writing = figures.writing if all_cores else figures.one_core
        return self.chunks / writing.seconds if writing else None

    def times(self, engine: str, kind: str) -> Times | None:
        """The times of a kind of queries."""
        searching = self.engines[engine].searching
        return searching.times.get(kind) if searching else None


RUN: Final = TypeAdapter(Run)
