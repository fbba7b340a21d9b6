"""The tables and pictures of docs/measured/engines.md."""

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.engines import plots
from benchmarks.engines.catalogue import FIELDS_MADE, JAVA_FIELDS, THIS_PROJECT
from benchmarks.engines.goals import LARGE, Goal, goals
from benchmarks.engines.queries import KINDS
from benchmarks.engines.results import Run, Times
from benchmarks.page import MEASURED, write_figures

RESULTS: Final = MEASURED / "engines.json"
WRITING: Final = MEASURED / "engines-indexing.svg"
SEARCHING: Final = MEASURED / "engines-searching.svg"
MET: Final = {True: "met", False: "not met", None: f"for {LARGE:,} chunks, not measured"}


def write(runs: Sequence[Run]) -> None:
    """Write the tables and the pictures of some runs, which are sorted by size."""
    plots.draw_writing(WRITING, runs)
    plots.draw_searching(SEARCHING, runs)
    write_figures("engines.md", lines(runs))


def lines(runs: Sequence[Run]) -> Iterator[str]:
    """All that is below the explanation."""
    yield from ("## Goals", "", "| goal | chunks | measured | |", "|---|---:|---|---|")
    yield from map(_goal, goals(runs))
    yield from ("", "## Cost against size", "")
    yield f"![What indexing costs, against the number of chunks]({WRITING.name})"
    yield ""
    yield f"![How long searches take, against the number of chunks]({SEARCHING.name})"
    for run in runs:
        yield from ("", f"## {run.chunks:,} chunks", "", *_writing(run), "", *_shares(run))
        yield from (*_searching(run), "")
        versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
        yield from _written_before(run)
        yield f"{run.date}, {run.text_bytes / 1e6:,.0f} MB of text. {run.machine}. {versions}."


def _written_before(run: Run) -> Iterator[str]:
    """The indexes that were kept from an earlier day."""
    days: dict[str, list[str]] = {}
    for figures in run.engines.values():
        if figures.written not in (None, run.date):
            days.setdefault(figures.written, []).append(figures.name)
    if days:
        told = "; ".join(f"{', '.join(names)} on {day}" for day, names in sorted(days.items()))
        yield f"Indexed before: {told}."
        yield ""


def _goal(goal: Goal) -> str:
    return f"| {goal.text} | {goal.chunks:,} | {goal.figure} | {MET[goal.met]} |"


def _writing(run: Run) -> Iterator[str]:
    yield "| indexing | chunks/s, one core | chunks/s, all cores | index / text | memory |"
    yield "|---|---:|---:|---:|---:|"
    for key, figures in run.engines.items():
        if figures.left_out:
            yield f"| {figures.name} | {figures.left_out} | | | |"
            continue
        rates = (
            run.rate(key, all_cores=False),
            figures.all_cores and run.rate(key, all_cores=True),
        )
        cells = [f"{rate:,.0f}" if rate else "—" for rate in rates]
        cells.append(f"{figures.index_bytes / run.text_bytes:.2f}" if figures.index_bytes else "—")
        cells.append(_memory(figures.writing.peak_bytes if figures.writing else None))
        yield f"| {figures.name} | {' | '.join(cells)} |"


def _shares(run: Run) -> Iterator[str]:
    """What the time that this project takes to index consists of."""
    keys = (THIS_PROJECT, FIELDS_MADE, JAVA_FIELDS)
    spent = [writing.processor_seconds for key in keys if (writing := run.engines[key].one_core)]
    if len(spent) == len(keys):
        whole, made, lucene = spent
        yield (
            f"Of the processor time that this project takes on one core, making fields is "
            f"{made / whole:.0%}; Java takes {lucene / whole:.0%} of it to write the same fields."
        )
        yield ""


def _searching(run: Run) -> Iterator[str]:
    yield f"| ms: p50 / p95 / p99 | {' | '.join(KINDS)} | memory |"
    yield f"|---|{'---:|' * len(KINDS)}---:|"
    searched = [(each.name, each.searching) for each in run.engines.values() if each.searching]
    # An engine that was not asked all of them has the same number, or nearly, of each kind.
    asked = (each.asked for _, found in searched for each in found.times.values())
    all_queries = max(asked, default=0)
    for name, found in searched:
        cells = [_times(found.times.get(kind), all_queries) for kind in KINDS]
        yield f"| {name} | {' | '.join(cells)} | {_memory(found.peak_bytes)} |"


def _times(times: Times | None, all_queries: int) -> str:
    if times is None:
        return "—"
    note = f" ({times.asked} queries)" if times.asked < all_queries else ""
    return f"{_milliseconds(times)}{note}"


def _milliseconds(times: Times) -> str:
    return " / ".join(f"{1e3 * each:.2f}" for each in (times.p50, times.p95, times.p99))


def _memory(peak: int | None) -> str:
    return f"{peak / 1e6:,.0f} MB" if peak else "—"
