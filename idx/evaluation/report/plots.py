"""Plots of a report, each the source of an SVG picture without scripts and links."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from idx.evaluation.results import Evaluation, MeasureDifference, MeasureMean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH: Final = 7.5
"""Width of a plot in inches, of 72 points each."""

COLOURS: Final = ("#4477aa", "#ee6677")
"""Colours of the two configurations, distinguishable with red-green colour blindness."""

_NEUTRAL: Final = "#666666"
_BINS: Final = 20


def measures_plot(evaluation: Evaluation) -> str:
    """Plot the mean of each measure with its interval, for each configuration."""
    names = [measure.measure for measure in evaluation.configurations[0].measures]
    with _figure("measures", height=1 + 0.4 * len(names)) as (axes, finished):
        for number, result in enumerate(evaluation.configurations):
            offset = 0.15 * (2 * number - len(evaluation.configurations) + 1)
            _error_bars(axes, result.measures, offset, COLOURS[number], result.name)
        _name_rows(axes, names)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("mean and 95 % confidence interval")
        if evaluation.differences:
            axes.legend()
        return finished()


def differences_plot(evaluation: Evaluation) -> str:
    """Plot the difference in each measure with its interval."""
    names = [difference.measure for difference in evaluation.differences]
    with _figure("differences", height=1 + 0.4 * len(names)) as (axes, finished):
        axes.axvline(0, color=_NEUTRAL, linewidth=0.8)
        _error_bars(axes, evaluation.differences, 0, COLOURS[1], "")
        _name_rows(axes, names)
        axes.set_xlabel("difference and 95 % confidence interval")
        return finished()


def histogram(evaluation: Evaluation) -> str:
    """Plot the distribution of nDCG@10 over queries, for each configuration."""
    from matplotlib.ticker import MaxNLocator

    with _figure("histogram", height=3) as (axes, finished):
        axes.hist(
            [
                [query.ndcg[number] for query in evaluation.queries]
                for number in range(len(evaluation.configurations))
            ],
            bins=_BINS,
            range=(0, 1),
            color=COLOURS[: len(evaluation.configurations)],
            label=[result.name for result in evaluation.configurations],
        )
        axes.set_xlabel("nDCG@10")
        axes.set_ylabel("queries")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        if evaluation.differences:
            axes.legend()
        return finished()


def query_differences_plot(evaluation: Evaluation) -> str:
    """Plot the difference in nDCG@10 of each query, the greatest gain first."""
    differences = sorted((query.difference for query in evaluation.queries), reverse=True)
    with _figure("queries", height=3) as (axes, finished):
        axes.bar(
            range(1, len(differences) + 1),
            differences,
            width=1.0,
            color=[COLOURS[0] if difference > 0 else COLOURS[1] for difference in differences],
        )
        axes.axhline(0, color=_NEUTRAL, linewidth=0.8)
        axes.set_xlabel("queries, by their difference")
        axes.set_ylabel("difference in nDCG@10")
        return finished()


@contextmanager
def _figure(name: str, height: float) -> Iterator[tuple["Axes", Callable[[], str]]]:
    """Yield axes to draw into, and a function that returns them as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Text remains text, so that it can be selected and read aloud. The salt keeps ids of plots
    # unique.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 10}):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)

        def finished() -> str:
            out = io.StringIO()
            nothing: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
            figure.savefig(out, format="svg", metadata=nothing)
            svg = out.getvalue()
            # An element within a page has no XML declaration. Ids are shared by the page, and those
            # of groups, which nothing refers to, would be repeated in every plot.
            return re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])

        yield axes, finished


def _error_bars(
    axes: "Axes",
    estimates: list[MeasureMean] | list[MeasureDifference],
    offset: float,
    colour: str,
    label: str,
) -> None:
    means = [estimate.mean for estimate in estimates]
    below = [estimate.mean - estimate.low for estimate in estimates]
    above = [estimate.high - estimate.mean for estimate in estimates]
    axes.errorbar(
        means,
        [row + offset for row in range(len(means))],
        # If all resamples are equal, rounding may place the mean slightly outside the interval.
        xerr=[[max(0, length) for length in lengths] for lengths in (below, above)],
        fmt="o",
        color=colour,
        capsize=3,
        label=label,
    )


def _name_rows(axes: "Axes", names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
