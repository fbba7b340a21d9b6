"""The picture of docs/measured/relevance.md: bars with intervals."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.picture import BAR, INK, picture
from idx.evaluation.experiment import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW: Final = 0.26
"""Inches of height for a bar."""

MARGINS: Final = 2.0
"""Inches of height for titles and axes."""


def draw(
    file: Path,
    engines: Sequence[tuple[str, float]],
    changes: Sequence[tuple[str, Estimate]],
) -> None:
    """Draw what was measured, and write it as an SVG picture.

    Args:
        file: the picture to write.
        engines: the mean of each search over the collections.
        changes: the difference that each change of the weights makes.
    """
    rows = len(engines), len(changes)
    with picture(file, MARGINS + ROW * sum(rows)) as figure:
        upper, lower = figure.subplots(2, 1, height_ratios=rows)
        exact = [(name, Estimate(mean, mean, mean)) for name, mean in engines]
        _bars(upper, exact, "nDCG@10, mean of three collections")
        _bars(lower, changes, "difference in nDCG@10 to the default weights, and its 95 % interval")
        lower.axvline(0, color=INK, linewidth=0.8)


def _bars(axes: "Axes", rows: Sequence[tuple[str, Estimate]], label: str) -> None:
    estimates = [estimate for _, estimate in rows]
    axes.barh(
        range(len(rows)),
        [estimate.mean for estimate in estimates],
        xerr=[
            [estimate.mean - estimate.low for estimate in estimates],
            [estimate.high - estimate.mean for estimate in estimates],
        ],
        color=BAR,
        error_kw={"ecolor": INK, "elinewidth": 1, "capsize": 2.5},
    )
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel(label)
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
