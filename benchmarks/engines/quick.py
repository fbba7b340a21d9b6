"""A guard against regressions: this project beside plain Lucene, small, with bounds.

Each figure is a ratio to Lucene in the same run, so that it holds on any machine. The time of a
process on the processor is compared where other programs would make the clock's time longer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.engines.catalogue import JAVA_FIELDS, PLAIN, THIS_PROJECT, Engine
from benchmarks.engines.data import KINDS, Queries
from benchmarks.engines.measuring import Run, measured
from benchmarks.engines.worker import Writing

CHUNKS: Final = 3_000
QUERIES: Final = Queries(KINDS, measured=60, warm_up=150)
ATTEMPTS: Final = 3
"""A bound is broken if it is in each of so many runs: one may have been disturbed."""


@dataclass(frozen=True)
class Bound:
    """How many times as much as Lucene this project may need."""

    name: str
    most: float
    ratio: Callable[[Run], float]


def _writing(run: Run, key: str) -> Writing:
    writing = run.engines[key].one_core
    if writing is None:
        raise ValueError(f"{key} was not written on one core")
    return writing


def _processor(other: str) -> Callable[[Run], float]:
    def ratio(run: Run) -> float:
        ours, theirs = _writing(run, THIS_PROJECT), _writing(run, other)
        return ours.processor_seconds / theirs.processor_seconds

    return ratio


def _memory(run: Run) -> float:
    return _writing(run, THIS_PROJECT).peak_bytes / _writing(run, JAVA_FIELDS).peak_bytes


def _size(run: Run) -> float:
    return run.engines[THIS_PROJECT].index_bytes / run.engines[PLAIN].index_bytes


def _median(kind: str) -> Callable[[Run], float]:
    def ratio(run: Run) -> float:
        ours, theirs = run.times(THIS_PROJECT, kind), run.times(PLAIN, kind)
        if ours is None or theirs is None:
            raise ValueError(f"{kind} was not asked")
        return ours.p50 / theirs.p50

    return ratio


BOUNDS: Final = (
    # Java gets the stems, which this project makes first.
    Bound("processor time to index, to Java with the same fields", 2.5, _processor(JAVA_FIELDS)),
    Bound("processor time to index, to plain Lucene", 6.0, _processor(PLAIN)),
    Bound("memory to index, to Java with the same fields", 1.8, _memory),
    Bound("index, to plain Lucene", 1.6, _size),
    Bound("p50 of two words, to plain Lucene", 7.0, _median("two words")),
    Bound("p50 of six words, to plain Lucene", 18.0, _median("six words")),
    Bound("p50 of a phrase, to plain Lucene", 8.0, _median("a phrase")),
    Bound("p50 of a prefix, to plain Lucene", 7.0, _median("a prefix")),
)


def broken(folder: Path, engines: tuple[Engine, ...]) -> Iterator[str]:
    """Measure until all bounds hold, or there were enough attempts."""
    needed = [
        replace(engine, uses_all_cores=False)
        for engine in engines
        if engine.key in (JAVA_FIELDS, PLAIN, THIS_PROJECT)
    ]
    least = [float("inf")] * len(BOUNDS)
    for _ in range(ATTEMPTS):
        run = measured(folder, CHUNKS, needed, QUERIES)
        # The next attempt has the same data, and writes it anew.
        for kept in folder.glob("*.json"):
            kept.unlink()
        ratios = [bound.ratio(run) for bound in BOUNDS]
        least = list(map(min, least, ratios))
        for bound, ratio in zip(BOUNDS, ratios, strict=True):
            print(f"{ratio:6.2f} of {bound.most:5.2f}  {bound.name}")
        if all(ratio <= bound.most for bound, ratio in zip(BOUNDS, least, strict=True)):
            return
    for bound, ratio in zip(BOUNDS, least, strict=True):
        if ratio > bound.most:
            yield f"{bound.name}: {ratio:.2f} times, at most {bound.most:.2f} are allowed"
