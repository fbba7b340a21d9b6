"""The picture of docs/measured/semantic.md: what search by meaning brings, and what it costs."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from benchmarks.page import MEASURED
from benchmarks.picture import BAR, SECOND, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW: Final = re.compile(r"^\| (nDCG@10|words|both) \| (.*) \|$", re.MULTILINE)
"""Rows of the table that `benchmarks.semantic` writes."""

_WIDTH: Final = 0.38
"""Width of a bar, of two beside each other."""

Bars = Sequence[tuple[str, float, float]]
"""Names with a value by words and by both."""


def draw(costs: Bars) -> None:
    """Draw the gain that the page has, and the cost, as docs/measured/semantic.svg.

    Args:
        costs: the median processor time of a search in milliseconds, by the size of the index.
    """
    found = {name: cells.split(" | ") for name, cells in _ROW.findall(_page())}
    gains = [
        (name, float(words), float(both))
        for name, words, both in zip(
            found["nDCG@10"][:4], found["words"][:4], found["both"][:4], strict=True
        )
    ]
    with picture(MEASURED / "semantic.svg", 2.8) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(2, 1))
        _bars(left, gains, "nDCG@10")
        left.legend(frameon=False, loc="upper left", ncols=2)
        left.margins(y=0.25)
        _bars(right, costs, "processor time of a search, p50, ms")
        right.set_xlabel("chunks")


def _page() -> str:
    return (MEASURED / "semantic.md").read_text("utf-8")


def _bars(axes: "Axes", values: Bars, label: str) -> None:
    for offset, place, colour, way in ((-0.5, 1, BAR, "words"), (0.5, 2, SECOND, "both")):
        bars = axes.bar(
            [number + offset * _WIDTH for number in range(len(values))],
            [value[place] for value in values],
            width=_WIDTH,
            color=colour,
            label=way,
        )
        axes.bar_label(bars, fmt="%.3f" if label == "nDCG@10" else "%.1f", fontsize=7)
    axes.set_xticks(range(len(values)), [name for name, _, _ in values])
    axes.set_ylabel(label)
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
