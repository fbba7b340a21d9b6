"""What was measured, as JSON and in Python."""

from dataclasses import dataclass, field
from pathlib import Path
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


_RUNS: Final = TypeAdapter(list[Run])


def read(file: Path) -> list[Run]:
    """The runs of a file, none if there is no file."""
    return _RUNS.validate_json(file.read_bytes()) if file.exists() else []


def write(file: Path, runs: list[Run]) -> None:
    """Write runs into a file."""
    file.write_bytes(_RUNS.dump_json(runs, indent=1) + b"\n")


def merged(old: list[Run], new: list[Run]) -> list[Run]:
    """The runs by their sizes; new ones take the place of old ones of the same size."""
    by_size = {run.chunks: run for run in (*old, *new)}
    return [by_size[size] for size in sorted(by_size)]
