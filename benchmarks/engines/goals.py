"""What this project wants to reach beside other engines, and whether it does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.engines.catalogue import JAVA, JAVA_FIELDS, PLAIN, TANTIVY, THIS_PROJECT
from benchmarks.engines.queries import KINDS
from benchmarks.engines.results import Run

LARGE: Final = 1_000_000
"""Chunks that the goals of searching and of memory are for."""

LEAST_RATE: Final = 0.95
"""Of the rate at which Java writes the same fields."""

LEAST_LEAD: Final = 3.0
"""How many times as fast as tantivy plain Lucene is to be, called from Python."""

MOST_MEMORY: Final = 1.2e9
"""Bytes that a process may have resident."""


@dataclass(frozen=True)
class Goal:
    """A goal, and how far it is reached.

    Attributes:
        text: what is wanted.
        chunks: of the run that the figure is from.
        figure: what was measured.
        met: whether it is reached; None if it was not measured at the size that it is for.
    """

    text: str
    chunks: int
    figure: str
    met: bool | None


def goals(runs: Sequence[Run]) -> Iterator[Goal]:
    """All goals, by the largest of some runs that has them; the runs are sorted by size."""
    run = runs[-1]
    yield from _writing(runs)
    yield from _searching(run, THIS_PROJECT, 1.0, "the whole search no slower than tantivy")
    yield from _searching(run, PLAIN, LEAST_LEAD, "plain Lucene three times as fast as tantivy")
    yield from _memory(run)


def _writing(runs: Sequence[Run]) -> Iterator[Goal]:
    pairs = ((THIS_PROJECT, JAVA_FIELDS, "all fields"), (PLAIN, JAVA, "the content alone"))
    for key, limit, fields in pairs:
        for all_cores, where in ((False, "one core"), (True, "all cores")):
            text = f"{fields} at {LEAST_RATE} of the rate of Java at least, {where}"
            for run in reversed(runs):
                ours, java = (run.rate(each, all_cores=all_cores) for each in (key, limit))
                if ours is not None and java is not None:
                    figure = f"{ours:,.0f} of {java:,.0f} chunks/s: {ours / java:.2f}"
                    yield Goal(text, run.chunks, figure, ours / java >= LEAST_RATE)
                    break


def _searching(run: Run, key: str, lead: float, text: str) -> Iterator[Goal]:
    for kind in KINDS:
        ours, theirs = run.times(key, kind), run.times(TANTIVY, kind)
        if ours is None or theirs is None:
            yield Goal(f"{text}, {kind}", run.chunks, "", None)
            continue
        pairs = {"p50": (ours.p50, theirs.p50), "p99": (ours.p99, theirs.p99)}
        figure = "; ".join(
            f"{name} {1e3 * our:.2f} to {1e3 * their:.2f} ms"
            for name, (our, their) in pairs.items()
        )
        met = all(lead * our <= their for our, their in pairs.values())
        yield Goal(f"{text}, {kind}", run.chunks, figure, met if run.chunks >= LARGE else None)


def _memory(run: Run) -> Iterator[Goal]:
    figures = run.engines[THIS_PROJECT]
    peaks = {
        "indexed": figures.writing.peak_bytes if figures.writing else None,
        "searched": figures.searching.peak_bytes if figures.searching else None,
    }
    for done, peak in peaks.items():
        text = f"a million chunks {done} with less than {MOST_MEMORY / 1e9} GB resident"
        figure = "" if peak is None else f"{peak / 1e9:.2f} GB"
        is_measured = peak is not None and run.chunks >= LARGE
        yield Goal(text, run.chunks, figure, peak < MOST_MEMORY if peak and is_measured else None)
