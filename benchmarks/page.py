"""The pages of docs/ that benchmarks write their figures into."""

import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_DOCS: Final = Path(__file__).parents[1] / "docs"
_FIGURES_BEGIN: Final = "<!-- written by make bench -->"


def write_figures(name: str, lines: Iterable[str]) -> None:
    """Put figures in the place of those that a page has; what stands before them stays.

    Args:
        name: that of the page in docs/, such as ``speed.md``.
        lines: the figures, in Markdown.

    Raises:
        ValueError: the page does not say where its figures begin.
    """
    page = _DOCS / name
    explanation, marker, _ = page.read_text("utf-8").partition(_FIGURES_BEGIN)
    if not marker:
        raise ValueError(f"{page} does not say where its figures begin: {_FIGURES_BEGIN}")
    page.write_text("\n".join([f"{explanation}{marker}", "", *lines, ""]), "utf-8")


def machine() -> str:
    """What the figures were measured on."""
    return f"{os.cpu_count()} cores, {platform.machine()}, CPython {platform.python_version()}"
