"""What an evaluation finds out, as plain values: the answer that is printed, shown or saved."""

from dataclasses import dataclass
from typing import Final

NOTICEABLE: Final = 1e-9
"""Values that differ by less are equal: they differ by how numbers are rounded."""


@dataclass(frozen=True, slots=True)
class MeasureMean:
    """The mean of a measure over all queries, with its 95 % confidence interval."""

    measure: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Latency:
    """How long a search takes, in milliseconds: on average, and 95 of 100 at most."""

    mean: float
    percentile_95: float


@dataclass(frozen=True)
class ConfigurationResult:
    """What was measured of one configuration."""

    name: str
    measures: list[MeasureMean]
    queries_without_results: int
    latency_ms: Latency


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """The second configuration less the first.

    Attributes:
        measure: of which measure.
        mean: the difference of the means.
        low: the lower end of its 95 % confidence interval, paired by query.
        high: the upper end.
        better: the share of the queries for which the second is better, from 0 to 1.
        equal: the share for which both are equal.
        worse: the share for which the second is worse.
    """

    measure: str
    mean: float
    low: float
    high: float
    better: float
    equal: float
    worse: float


@dataclass(frozen=True)
class QueryResult:
    """A query and its nDCG@10 in each configuration, in their order."""

    id: str
    text: str
    ndcg: list[float]

    @property
    def difference(self) -> float:
        """The last configuration's value less the first's."""
        return self.ndcg[-1] - self.ndcg[0]


@dataclass(frozen=True)
class Evaluation:
    """The whole answer.

    Attributes:
        documents: how many there are in the index.
        evaluated_queries: queries with a relevant document.
        skipped_queries: queries without one, which are left out.
        limit: documents that were retrieved for each query.
        configurations: one, or two that are compared.
        differences: the second less the first; empty where there is one only.
        changed_queries: those whose nDCG@10 differs most between the two.
        queries: all evaluated queries.
    """

    documents: int
    evaluated_queries: int
    skipped_queries: int
    limit: int
    configurations: list[ConfigurationResult]
    differences: list[MeasureDifference]
    changed_queries: list[QueryResult]
    queries: list[QueryResult]


def most_changed(queries: list[QueryResult], count: int) -> list[QueryResult]:
    """The queries whose nDCG@10 differs most, whether it rose or fell."""
    differing = [query for query in queries if abs(query.difference) > NOTICEABLE]
    return sorted(differing, key=lambda query: -abs(query.difference))[:count]
