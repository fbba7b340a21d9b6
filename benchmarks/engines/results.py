"""What was measured, as JSON and in Python."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from benchmarks.engines.worker import Writing


@dataclass(frozen=True)
class Times:
    """The times of one kind of queries.

    Attributes:
        p50: the seconds that half of them stay under.
        p95: the same of 95 in a hundred.
        p99: the same of 99 in a hundred.
        asked: the number of queries.
        hits: the mean number of hits that came back, of ten at most.
    """

    p50: float
    p95: float
    p99: float
    asked: int
    hits: float


@dataclass(frozen=True)
class Searching:
    """What searching took.

    Attributes:
        times: by the kind of query.
        peak_bytes: the most memory that the process had resident.
    """

    times: dict[str, Times]
    peak_bytes: int


@dataclass(frozen=True)
class Figures:
    """The figures of one engine.

    Attributes:
        name: its name for people.
        one_core: what writing took on one core.
        all_cores: what it took on all; None where it is no faster.
        index_bytes: the size of the index.
        searching: None if it is not searched.
        left_out: why nothing was measured.
        written: the day on which the index was written, ISO 8601; None if that is not known.
    """

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
    """All engines on the same chunks.

    Attributes:
        chunks: their number.
        text_bytes: the size of the texts in UTF-8.
        date: when it ended, ISO 8601.
        machine: what it ran on.
        versions: of what was measured, and of what it runs on.
        engines: by their keys.
    """

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
