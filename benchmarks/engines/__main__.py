"""A guard against regressions: this project beside plain Lucene, small, with bounds.

Each figure is a ratio to Lucene in the same run, so that it holds on any machine. The time of a
process on the processor is compared where other programs would make the clock's time longer.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.engines.measuring import Run, measured

CHUNKS: Final = 3_000
QUERIES: Final = 60  # of each kind
WARM_UP: Final = 150
ATTEMPTS: Final = 3
"""A bound is broken if it is in each of so many runs: one may have been disturbed."""


@dataclass(frozen=True)
class Bound:
    """How many times as much as Lucene this project may need."""

    name: str
    most: float
    ratio: Callable[[Run], float]


def _median(run: Run, kind: str) -> float:
    return run.ours.times[kind].p50 / run.plain.times[kind].p50


BOUNDS: Final = (
    # The rest, 0.8 times as much, cuts texts, finds languages and makes fields and fingerprints.
    Bound(
        "processor time to index, to Lucene's part of it",
        2.3,
        lambda run: run.ours.writing.processor_seconds / run.lucene_seconds,
    ),
    # Nearly all of it is the work of Lucene's own filters for six fields.
    Bound(
        "processor time to index, to plain Lucene",
        9.0,
        lambda run: run.ours.writing.processor_seconds / run.plain.writing.processor_seconds,
    ),
    Bound(
        "memory to index, to plain Lucene",
        1.8,
        lambda run: run.ours.writing.peak_bytes / run.plain.writing.peak_bytes,
    ),
    Bound("index, to plain Lucene", 1.6, lambda run: run.ours.index_bytes / run.plain.index_bytes),
    Bound("p50 of two words, to plain Lucene", 6.0, lambda run: _median(run, "two words")),
    Bound("p50 of six words, to plain Lucene", 13.0, lambda run: _median(run, "six words")),
    Bound("p50 of a phrase, to plain Lucene", 6.0, lambda run: _median(run, "a phrase")),
    Bound("p50 of a prefix, to plain Lucene", 5.5, lambda run: _median(run, "a prefix")),
)


def main() -> None:
    """Measure, and exit with the bounds that are broken."""
    sys.exit("\n".join(broken()) or None)


def broken() -> Iterator[str]:
    """Measure until all bounds hold, or there were enough attempts."""
    least = [float("inf")] * len(BOUNDS)
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            run = measured(Path(folder), CHUNKS, QUERIES, WARM_UP)
        ratios = [bound.ratio(run) for bound in BOUNDS]
        least = list(map(min, least, ratios))
        for bound, ratio in zip(BOUNDS, ratios, strict=True):
            print(f"{ratio:6.2f} of {bound.most:5.2f}  {bound.name}")
        if all(ratio <= bound.most for bound, ratio in zip(BOUNDS, least, strict=True)):
            return
    for bound, ratio in zip(BOUNDS, least, strict=True):
        if ratio > bound.most:
            yield f"{bound.name}: {ratio:.2f} times, at most {bound.most:.2f} are allowed"


if __name__ == "__main__":
    main()
