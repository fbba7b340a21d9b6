"""The picture of docs/measured/confidence.md: how many hits of each confidence are relevant."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.calibration import Bin
from benchmarks.picture import BAR, INK, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT: Final = 3.0
"""Inches."""

_Z: Final = 1.96
"""Standard errors of 95 %."""


def draw(file: Path, by_collection: Mapping[str, Sequence[Bin]], low: float) -> None:
    """Draw the reliability in each collection, and write it as an SVG picture.

    Args:
        file: the picture to write.
        by_collection: the hits of each collection, by confidence.
        low: below it an answer says that it hardly is one.
    """
    with picture(file, HEIGHT) as figure:
        all_axes = figure.subplots(1, len(by_collection), sharey=True)
        for axes, (name, found) in zip(all_axes, by_collection.items(), strict=True):
            axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="dotted")
            axes.axvline(low, color=INK, linewidth=0.8, linestyle="dotted")
            _points(axes, found, BAR, "o", name)
            axes.set_title(name)
            axes.set_xlabel("confidence")
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
            axes.set_facecolor("none")
            axes.spines[["top", "right"]].set_visible(False)
        all_axes[0].set_ylabel("relevant, and its 95 % interval")


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
