"""The picture of docs/measured/confidence.md: how many hits of each confidence are relevant."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.calibration import Bin, Numbers
from benchmarks.picture import BAR, INK, SECOND, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT: Final = 6.0
"""Inches."""

_BARS: Final = 20
"""Of the lower part."""

_Z: Final = 1.96
"""Standard errors of 95 %."""


def draw(
    file: Path,
    of_all: Sequence[Bin],
    of_queries: Sequence[Bin],
    confidences: Sequence[Numbers],
    low: float,
) -> None:
    """Draw the reliability, and write it as an SVG picture.

    Args:
        file: the picture to write.
        of_all: the hits of all questions, by confidence.
        of_queries: those of the queries of the collection.
        confidences: of the hits of the queries, and of the questions on other topics.
        low: below it an answer says that it hardly is one.
    """
    with picture(file, HEIGHT) as figure:
        upper, lower = figure.subplots(2, 1, height_ratios=(3, 1), sharex=True)
        upper.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="dotted")
        _points(upper, of_all, BAR, "o", "queries and questions on other topics")
        _points(upper, of_queries, SECOND, "s", "queries alone")
        upper.set_ylabel("relevant, and its 95 % interval")
        upper.set_ylim(0, 1)
        upper.legend(loc="upper left", frameon=False)
        labels = ("of the queries", "of the questions on other topics")
        lower.hist(confidences, bins=_BARS, range=(0, 1), color=(SECOND, BAR), label=labels)
        lower.set_yscale("symlog", linthresh=10)
        lower.set_ylabel("hits")
        lower.set_xlabel("confidence; the dotted line is what is low")
        lower.set_xlim(0, 1)
        lower.legend(loc="upper right", frameon=False)
        for axes in (upper, lower):
            axes.axvline(low, color=INK, linewidth=0.8, linestyle="dotted")
            axes.set_facecolor("none")
            axes.spines[["top", "right"]].set_visible(False)


def _points(axes: "Axes", bins: Sequence[Bin], colour: str, marker: str, label: str) -> None:
    intervals = [_interval(found.precision, found.hits) for found in bins]
    axes.errorbar(
        [found.expected for found in bins],
        [found.precision for found in bins],
        yerr=[
            [found.precision - low for found, (low, _) in zip(bins, intervals, strict=True)],
            [high - found.precision for found, (_, high) in zip(bins, intervals, strict=True)],
        ],
        color=colour,
        marker=marker,
        markersize=5,
        linewidth=1,
        elinewidth=0.8,
        capsize=2.5,
        label=label,
    )


def _interval(share: float, count: int) -> tuple[float, float]:
    """The interval of a share (Wilson 1927), as if each of so many hits were drawn by itself."""
    scale = 1 + _Z**2 / count
    middle = (share + _Z**2 / (2 * count)) / scale
    half = _Z / scale * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return min(share, middle - half), max(share, middle + half)
