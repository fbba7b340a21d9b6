"""The pages of docs/measured/ that benchmarks write their figures into."""

import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Final

MEASURED: Final = Path(__file__).parents[1] / "docs" / "measured"
_FIGURES_END: Final = "<!-- until here -->"


def write_figures(name: str, lines: Iterable[str], *, writer: str = "make bench") -> None:
    """Replace the figures of a page; the rest of the page stays.

    Figures begin with a comment that names their writer, and end at ``<!-- until here -->`` or with
    the page.
    """
    page = MEASURED / name
    begin = f"<!-- written by {writer} -->"
    before, marker, old = page.read_text("utf-8").partition(begin)
    if not marker:
        raise ValueError(f"{page} does not say where its figures begin: {begin}")
    _, end, after = old.partition(_FIGURES_END)
    following = ["", _FIGURES_END + after] if end else [""]
    page.write_text("\n".join([f"{before}{marker}", "", *lines, *following]), "utf-8")


def machine() -> str:
    """What the figures were measured on."""
    return f"{os.cpu_count()} cores, {platform.machine()}, CPython {platform.python_version()}"
