"""The picture of docs/relevance.md: bars with intervals, readable on light and on dark pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from idx.evaluation.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH: Final = 7.5
"""Inches, of 72 points each."""

ROW: Final = 0.26
"""Inches of height for a bar."""

MARGINS: Final = 2.0
"""Inches of height for titles and axes."""

BAR: Final = "#4477aa"
PAPER: Final = "#ffffff"
INK: Final = "#222222"
DARK: Final = {PAPER: "#16191d", INK: "#dddddd"}
"""What becomes of colours for readers who prefer dark pages; both of them, so that one never
stands on the wrong other."""


def draw(
    file: Path,
    engines: Sequence[tuple[str, Estimate]],
    changes: Sequence[tuple[str, Estimate]],
) -> None:
    """Draw what was measured, and write it as an SVG picture.

    Args:
        file: the picture to write.
        engines: the mean of each search.
        changes: the difference that each change of the weights makes.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(
        {
            # Text as text: it can be selected and read aloud.
            "svg.fonttype": "none",
            # The same ids in each run.
            "svg.hashsalt": "relevance",
            "font.size": 9,
            "text.color": INK,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    ):
        rows = len(engines), len(changes)
        height = MARGINS + ROW * sum(rows)
        figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor=PAPER)
        upper, lower = figure.subplots(2, 1, height_ratios=rows)
        _bars(upper, engines, "nDCG@10, and its 95 % interval")
        _bars(lower, changes, "difference in nDCG@10 to the default weights, and its 95 % interval")
        lower.axvline(0, color=INK, linewidth=0.8)
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date")))
    file.write_text(_readable_in_the_dark(file.read_text()))


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


def _readable_in_the_dark(svg: str) -> str:
    """A picture with other colours where dark pages are preferred."""
    rules = "".join(
        f'[style*="{kind}: {light}"] {{{kind}: {dark} !important}}'
        for light, dark in DARK.items()
        for kind in ("fill", "stroke")
    )
    style = f"@media (prefers-color-scheme: dark) {{{rules}}}"
    lines = svg.replace("</style>", f"{style}</style>", 1).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)
