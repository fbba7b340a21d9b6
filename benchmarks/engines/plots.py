"""The pictures of docs/measured/engines.md: what things cost against the number of chunks."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.engines.catalogue import (
    BM25S,
    FTS5,
    JAVA,
    JAVA_FIELDS,
    PLAIN,
    TANTIVY,
    THIS_PROJECT,
)
from benchmarks.engines.queries import KINDS
from benchmarks.engines.results import Figures, Run
from benchmarks.engines.worker import Writing
from benchmarks.picture import INK, picture

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = {
    THIS_PROJECT: "#4477aa",
    JAVA_FIELDS: "#66ccee",
    JAVA: "#228833",
    PLAIN: "#ccbb44",
    TANTIVY: "#ee6677",
    FTS5: "#aa3377",
    BM25S: "#888888",
}
"""Of the lines: Paul Tol's bright scheme, which colour-blind people can tell apart."""

HEIGHT: Final = 2.5
"""Inches of height for a panel."""


def _seconds(writing: Writing | None) -> float | None:
    return writing.seconds if writing else None


def _gigabytes(size: int | None) -> float | None:
    return size / 1e9 if size else None


COSTS: Final[dict[str, Callable[[Figures], float | None]]] = {
    "seconds to index, one core": lambda figures: _seconds(figures.one_core),
    "seconds to index, as many cores as it uses": lambda figures: _seconds(figures.writing),
    "GB of index": lambda figures: _gigabytes(figures.index_bytes),
    "GB of memory to index": lambda figures: _gigabytes(
        figures.writing.peak_bytes if figures.writing else None
    ),
}
"""What writing costs."""


def draw_writing(file: Path, runs: Sequence[Run]) -> None:
    """Draw what writing costs in time, in space and in memory, a panel each."""
    with picture(file, 2 * HEIGHT + 0.6) as figure:
        for axes, (name, cost) in zip(_panels(figure), COSTS.items(), strict=True):
            for key, colour in COLOURS.items():
                points = [(run.chunks, cost(run.engines[key])) for run in runs]
                _line(axes, points, colour, runs[-1].engines[key].name)
            axes.set_title(name, fontsize=9)
        _finish(figure)


def draw_searching(file: Path, runs: Sequence[Run]) -> None:
    """Draw the times of searches, a panel for each kind of queries."""
    with picture(file, 2 * HEIGHT + 0.6) as figure:
        for axes, kind in zip(_panels(figure), KINDS, strict=True):
            for key, colour in COLOURS.items():
                found = [(run.chunks, run.times(key, kind)) for run in runs]
                name = runs[-1].engines[key].name
                p50 = [(chunks, 1e3 * times.p50) for chunks, times in found if times]
                p99 = [(chunks, 1e3 * times.p99) for chunks, times in found if times]
                _line(axes, p50, colour, name)
                _line(axes, p99, colour, None, style="--")
            axes.set_title(f"{kind}: ms, p50 (line) and p99 (dashes)", fontsize=9)
        _finish(figure)


def _panels(figure: "Figure") -> Iterator["Axes"]:
    for row in figure.subplots(2, 2, sharex=True):
        yield from row


def _line(
    axes: "Axes",
    points: Sequence[tuple[int, float | None]],
    colour: str,
    name: str | None,
    style: str = "-",
) -> None:
    measured = [(chunks, cost) for chunks, cost in points if cost is not None]
    if measured:
        chunks, costs = zip(*measured, strict=True)
        axes.loglog(chunks, costs, style, marker="o", markersize=3, color=colour, label=name)


def _finish(figure: "Figure") -> None:
    names: dict[str, Artist] = {}
    for axes in figure.axes:
        axes.set_facecolor("none")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color=INK, alpha=0.12, linewidth=0.5)
        handles, labels = axes.get_legend_handles_labels()
        names |= dict(zip(labels, handles, strict=True))
    for axes in figure.axes[-2:]:
        axes.set_xlabel("chunks")
    figure.legend(
        list(names.values()), list(names), loc="outside lower center", ncols=3, frameon=False
    )
