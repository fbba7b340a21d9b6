"""Pictures for pages: SVG, the same in each run, readable on light and on dark pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH: Final = 7.5
"""Inches, of 72 points each."""

BAR: Final = "#4477aa"
SECOND: Final = "#cc7733"
PAPER: Final = "#ffffff"
INK: Final = "#222222"
DARK: Final = {PAPER: "#16191d", INK: "#dddddd"}
"""What becomes of colours for readers who prefer dark pages; both of them, so that one never
stands on the wrong other."""


@contextmanager
def picture(file: Path, height: float) -> Iterator["Figure"]:
    """An empty picture, which is written at the end of the block.

    Args:
        file: where to.
        height: in inches.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(
        {
            # Text as text: it can be selected and read aloud.
            "svg.fonttype": "none",
            # The same ids in each run.
            "svg.hashsalt": file.stem,
            "font.size": 9,
            "text.color": INK,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    ):
        figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor=PAPER)
        yield figure
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date")))
    file.write_text(_readable_in_the_dark(file.read_text()))


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
