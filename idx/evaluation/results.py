"""Results of an evaluation as plain data, to be printed, displayed or saved."""

from dataclasses import dataclass
from typing import Final

NOTICEABLE: Final = 1e-9
"""Minimum difference of unequal values; smaller differences come from rounding."""


@dataclass(frozen=True, slots=True)
class MeasureMean:
    """Mean of a measure over all queries, with its 95 % confidence interval."""

    measure: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of searches in milliseconds: the mean, and the 95th percentile."""

    mean: float
    percentile_95: float


@dataclass(frozen=True)
class ConfigurationResult:
    """Results of one configuration."""

    name: str
    measures: list[MeasureMean]
    queries_without_results: int
    latency_ms: Latency


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """Difference of a measure: the second configuration minus the first.

    Attributes:
        measure: the name of the measure.
        mean: the difference of the means.
        low: the lower end of its 95 % confidence interval, paired by query.
        high: the upper end.
        better: the share of queries for which the second is better, from 0 to 1.
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
    """Query and its nDCG@10 in each configuration, in order."""

    id: str
    text: str
    ndcg: list[float]

    @property
    def difference(self) -> float:
        """Value of the last configuration minus that of the first."""
        return self.ndcg[-1] - self.ndcg[0]


@dataclass(frozen=True)
class Evaluation:
    """Complete result of an evaluation.

    Attributes:
        documents: number of documents in the index.
        evaluated_queries: number of queries with a relevant document.
        skipped_queries: number of queries without one, which are skipped.
        limit: number of documents retrieved for each query.
        configurations: the results of one configuration, or of two to compare.
        differences: the second minus the first; empty if there is only one.
        changed_queries: the queries whose nDCG@10 differs most between the two.
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
    """Return the queries whose nDCG@10 differs most, in either direction."""
    differing = [query for query in queries if abs(query.difference) > NOTICEABLE]
    return sorted(differing, key=lambda query: -abs(query.difference))[:count]
