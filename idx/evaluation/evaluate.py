"""Evaluation of runs by judgements."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from idx.evaluation.collection.judgements import Judgements
from idx.evaluation.collection.queries import Query
from idx.evaluation.intervals import estimates
from idx.evaluation.measures import measure, measure_names
from idx.evaluation.results import (
    NOTICEABLE,
    ConfigurationResult,
    Evaluation,
    Latency,
    MeasureDifference,
    MeasureMean,
    QueryResult,
    most_changed,
)
from idx.evaluation.run import Run
from idx.evaluation.search_settings import Configuration

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


def evaluate_runs(
    runs: Sequence[tuple[Configuration, Run]],
    queries: Sequence[Query],
    judgements: Judgements,
    *,
    depths: Sequence[int],
    limit: int,
    documents: int,
    skipped_queries: int,
    diff: int,
) -> Evaluation:
    """Evaluate runs of the same queries.

    Args:
        runs: one run, or two to compare, each with its configuration.
        queries: the queries of the runs, each with a relevant document.
        judgements: the relevance judgements.
        depths: cut-offs of precision, recall and success.
        limit: number of documents retrieved for each query.
        documents: number of documents in the index.
        skipped_queries: number of queries skipped.
        diff: maximum number of most changed queries to list.
    """
    names = measure_names(depths)
    ids = [query.id for query in queries]
    values = [measure(run, judgements, ids, depths) for _, run in runs]
    results = [
        QueryResult(query.id, query.text, [float(of_run[row, 0]) for of_run in values])
        for row, query in enumerate(queries)
    ]
    return Evaluation(
        documents=documents,
        evaluated_queries=len(queries),
        skipped_queries=skipped_queries,
        limit=limit,
        configurations=[
            _configuration(configuration, run, names, of_run)
            for (configuration, run), of_run in zip(runs, values, strict=True)
        ],
        differences=_differences(names, values[-1] - values[0]) if len(runs) > 1 else [],
        changed_queries=most_changed(results, diff),
        queries=results,
    )


def _configuration(
    configuration: Configuration, run: Run, names: Sequence[str], values: "NDArray[float64]"
) -> ConfigurationResult:
    import numpy as np

    milliseconds = 1000 * np.array(run.seconds)
    return ConfigurationResult(
        name=configuration.name,
        measures=[
            MeasureMean(name, **asdict(estimate))
            for name, estimate in zip(names, estimates(values), strict=True)
        ],
        queries_without_results=sum(not documents for documents in run.rankings.values()),
        latency_ms=Latency(float(milliseconds.mean()), float(np.percentile(milliseconds, 95))),
    )


def _differences(names: Sequence[str], differences: "NDArray[float64]") -> list[MeasureDifference]:
    better = (differences > NOTICEABLE).mean(axis=0)
    worse = (differences < -NOTICEABLE).mean(axis=0)
    return [
        MeasureDifference(
            name,
            **asdict(estimate),
            better=float(better[column]),
            equal=float(1 - better[column] - worse[column]),
            worse=float(worse[column]),
        )
        for column, (name, estimate) in enumerate(zip(names, estimates(differences), strict=True))
    ]
