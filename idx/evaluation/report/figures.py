"""The figures of an evaluation as text, the same in all reports."""

from idx.evaluation.results import ConfigurationResult, Evaluation, MeasureDifference
from shared.messages import quantity

INTERVAL = "95 % interval"
"""The heading over intervals."""

DIFFERENCE_COLUMNS = ("Difference", INTERVAL, "Better", "Equal", "Worse")
"""The headings over `difference_cells`."""


def summary(evaluation: Evaluation) -> str:
    """What was evaluated, in a line."""
    return (
        f"{quantity(evaluation.documents, 'document')}; "
        f"{quantity(evaluation.evaluated_queries, 'query')}, "
        f"{quantity(evaluation.limit, 'document')} retrieved for each"
    )


def figure(value: float) -> str:
    """The value of a measure."""
    return f"{value:.3f}"


def change(value: float) -> str:
    """A difference of two values."""
    return f"{value:+.3f}"


def interval(low: float, high: float) -> str:
    """The two ends of an interval of a measure."""
    return f"[{low:.3f}, {high:.3f}]"


def difference_cells(difference: MeasureDifference) -> list[str]:
    """The difference in a measure, its interval, and for how many queries there is one."""
    return [
        change(difference.mean),
        f"[{difference.low:+.3f}, {difference.high:+.3f}]",
        *(f"{share:.0%}" for share in (difference.better, difference.equal, difference.worse)),
    ]


def other_figures(result: ConfigurationResult) -> list[tuple[str, str]]:
    """What is not a measure, each with its name."""
    return [
        ("Queries without results", f"{result.queries_without_results:,}"),
        ("Mean latency, ms", f"{result.latency_ms.mean:.1f}"),
        ("95th percentile of it, ms", f"{result.latency_ms.percentile_95:.1f}"),
    ]
