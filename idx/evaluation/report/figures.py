"""Figures of an evaluation as text, in the same format for all reports."""

from idx.evaluation.results import ConfigurationResult, Evaluation, MeasureDifference
from shared.messages import quantity

INTERVAL = "95 % interval"
"""Heading of intervals."""

DIFFERENCE_COLUMNS = ("Difference", INTERVAL, "Better", "Equal", "Worse")
"""Headings of `difference_cells`."""


def summary(evaluation: Evaluation) -> str:
    """Return a one-line summary of the evaluation."""
    return (
        f"{quantity(evaluation.documents, 'document')}; "
        f"{quantity(evaluation.evaluated_queries, 'query')}, "
        f"{quantity(evaluation.limit, 'document')} retrieved for each"
    )


def figure(value: float) -> str:
    """Return the value of a measure as text."""
    return f"{value:.3f}"


def change(value: float) -> str:
    """Return the difference of two values as text."""
    return f"{value:+.3f}"


def interval(low: float, high: float) -> str:
    """Return the interval of a measure as text."""
    return f"[{low:.3f}, {high:.3f}]"


def difference_cells(difference: MeasureDifference) -> list[str]:
    """Return the difference in a measure, its interval, and the shares of changed queries."""
    return [
        change(difference.mean),
        f"[{difference.low:+.3f}, {difference.high:+.3f}]",
        *(f"{share:.0%}" for share in (difference.better, difference.equal, difference.worse)),
    ]


def other_figures(result: ConfigurationResult) -> list[tuple[str, str]]:
    """Return the figures other than measures, each with its name."""
    return [
        ("Queries without results", f"{result.queries_without_results:,}"),
        ("Mean latency, ms", f"{result.latency_ms.mean:.1f}"),
        ("95th percentile of it, ms", f"{result.latency_ms.percentile_95:.1f}"),
    ]
