"""Measures of a run for each query: those of trec_eval, through the library ir-measures."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from idx.evaluation.collection.judgements import Judgements
from idx.evaluation.run import Run

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

MAIN_MEASURE: Final = "nDCG@10"
"""Measure reported for individual queries."""

MAIN_DEPTH: Final = 10


def measure_names(depths: Iterable[int]) -> list[str]:
    """Return the names of the measures in reports, the main measure first.

    Args:
        depths: cut-offs of precision, recall and success.
    """
    return list(_measures(depths))


def measure(
    run: Run, judgements: Judgements, query_ids: Sequence[str], depths: Iterable[int]
) -> "NDArray[float64]":
    """Return the value of each measure for each query.

    Args:
        run: the run.
        judgements: the relevance judgements.
        query_ids: the queries, each with a relevant document.
        depths: as for `measure_names`.

    Returns:
        A row for each query, in the order of the ids, and a column for each of `measure_names`.
    """
    import ir_measures
    import numpy as np

    measures = list(_measures(depths).values())
    column = {measure: number for number, measure in enumerate(measures)}
    row = {id_: number for number, id_ in enumerate(query_ids)}
    found = {
        query_id: {document.id: document.score for document in documents}
        for query_id, documents in run.rankings.items()
    }
    values = np.zeros((len(row), len(column)))
    relevance = judgements.only(set(query_ids)).relevance
    for metric in ir_measures.pytrec_eval.iter_calc(measures, relevance, found):
        values[row[metric.query_id], column[metric.measure]] = metric.value
    return values


def _measures(depths: Iterable[int]) -> dict[str, Any]:
    from ir_measures import AP, RR, P, R, Success, nDCG

    depths = sorted(set(depths))
    return {
        MAIN_MEASURE: nDCG @ MAIN_DEPTH,
        **{f"P@{depth}": P @ depth for depth in depths},
        **{f"R@{depth}": R @ depth for depth in depths},
        "MAP": AP,
        "MRR": RR,
        **{f"Success@{depth}": Success @ depth for depth in depths},
    }
