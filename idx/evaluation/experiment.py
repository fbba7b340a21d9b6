"""Experiments: runs of queries on an index, and their measures by judgements."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from idx.errors import SourceFileError
from idx.evaluation.collection import Judgements, Query, read_documents
from idx.output.printing import counted, shown
from shared.errors import QueryError
from shared.messages import did_you_mean
from shared.model.request import Search, SearchRequest
from shared.model.search_results import Hit
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.reading.searcher import Searcher
from shared.settings.current import sentence_model
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

CHUNKS_PER_DOCUMENT: Final = 3
"""Number of chunks retrieved for each document, since several may belong to the same one."""

MAIN_DEPTH: Final = 10
MAIN_MEASURE: Final = f"nDCG@{MAIN_DEPTH}"  # measure reported for individual queries

NOTICEABLE: Final = 1e-9  # smaller differences come from rounding

RESAMPLES: Final = 1000
SEED: Final = 20_240_229
"""Seed of the random numbers; any value works, and a fixed one makes intervals reproducible."""

PERCENT_OUTSIDE: Final = 2.5  # share of the resamples on each side of a 95 % interval, in per cent

_MAX_WEIGHTS: Final = {"b": 1.0}  # above which Lucene raises an error


@dataclass(frozen=True, slots=True)
class Configuration:
    """Weights of a search and its way to rank, and their name in reports."""

    name: str
    weights: Weights = DEFAULT_WEIGHTS
    search: Search = "both"


DEFAULT = Configuration("default")

BOTH = Configuration("both")  # search by words and meaning, compared with one of them


Ranking = dict[str, float]
"""Scores of documents by their ids, best first; each is less than the one before it."""


Run = dict[str, Ranking]
"""Documents found by one configuration, by query id."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean over queries with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def changed(settings: Sequence[str]) -> Configuration:
    """Return the default configuration with some weights changed, each by ``NAME=VALUE``.

    Raises:
        ValueError: one of them is not the name of a weight with a valid number.
    """
    values = dict(_parse(setting) for setting in settings)
    name = ", ".join(f"{weight}={value:g}" for weight, value in values.items())
    return Configuration(name, replace(DEFAULT_WEIGHTS, **values))


def _parse(setting: str) -> tuple[str, float]:
    name, equals, text = (part.strip() for part in setting.partition("="))
    if not equals:
        raise ValueError(f"{setting!r} is not NAME=VALUE")
    known = [weight.name for weight in fields(Weights)]
    if name not in known:
        hint = did_you_mean(name, known, f"the weights are {', '.join(known)}")
        raise ValueError(f"there is no weight {name!r}; {hint}")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    most = _MAX_WEIGHTS.get(name, math.inf)
    if not (math.isfinite(value) and 0 <= value <= most):
        to = "" if most == math.inf else f" to {most:g}"
        raise ValueError(f"{name} is {text!r}, which is not a number from 0{to}")
    return name, value


@contextmanager
def temporary_index(documents: Path) -> Iterator[tuple[Path, set[str]]]:
    """Index the documents of a file in a temporary folder, deleted at the end of the block.

    Yields the index folder, and the ids of the documents.
    """
    from shared.java.vm import start
    from shared.writing.index import Index, create

    # Creating an index would start the virtual machine with the settings of a short command.
    start("batch")
    with TemporaryDirectory(prefix="idx-eval-") as folder:
        path = Path(folder) / "index"
        ids = set()
        create(path)
        with Index(path) as index:
            for document in counted(read_documents(documents), "documents"):
                index.add(document)
                ids.add(document.id)
        yield path, ids


def embed_texts(index_path: Path) -> None:
    from shared.maintenance.embedding import embed, switch_on

    switch_on(index_path, sentence_model() or DEFAULT_SENTENCE_MODEL)
    embed(index_path, progress=shown)


def document_ids(index_path: Path) -> set[str]:
    with Searcher(index_path, program="batch") as searcher:
        return {document.source_document for document in searcher.documents().documents}


def ask_all(
    index_path: Path,
    queries: Sequence[Query],
    configurations: Sequence[Configuration],
    request: SearchRequest,
) -> list[Run]:
    """Run all queries on an index in each configuration, as a request for so many documents.

    An error of a query has its id.
    """
    runs = []
    for each in configurations:
        with Searcher(index_path, program="batch", weights=each.weights) as searcher:
            runs.append(
                {
                    query.id: _ask(searcher, query, replace(request, search=each.search))
                    for query in counted(queries, "queries")
                }
            )
    return runs


def _ask(searcher: Searcher, query: Query, request: SearchRequest) -> Ranking:
    request = replace(request, query=query.text, content="none")
    try:
        answer = searcher.search(request)
        documents = ranking(answer.results, request.limit)
        if len(documents) < min(request.limit, answer.totalHits):
            # The missing documents were displaced by further chunks of the same documents.
            more = searcher.search(request, limit=CHUNKS_PER_DOCUMENT * request.limit)
            return ranking(more.results, request.limit)
    except QueryError as error:
        raise QueryError(f"query {query.id}: {error}") from error
    return documents


def ranking(hits: Sequence[Hit], limit: int) -> Ranking:
    """Rank the documents of chunks, which come best first, by their best chunks.

    trec_eval sorts by score, in single precision, and by id if scores are equal. To make it keep
    the order that a user sees, equal scores are lowered by the smallest possible amount.
    """
    import numpy as np

    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.source_document, hit)
    documents: Ranking = {}
    score = np.float32(np.inf)
    for id_, hit in list(best.items())[:limit]:
        score = min(np.float32(hit.score), np.nextafter(score, np.float32(-np.inf)))
        documents[id_] = float(score)
    return documents


def write_run(run: Run, name: str, file: Path) -> None:
    """Write a run in the file format of trec_eval and other tools, replacing an older one.

    The format has no way to write white space within an id.
    """
    tag = "_".join(name.replace(",", " ").split())
    for query_id, documents in run.items():
        for id_ in (query_id, *documents):
            if len(id_.split()) != 1:
                reason = f"is columns between blanks and cannot hold the id {id_[:80]!r}"
                raise SourceFileError(file, f"a run file {reason}")
    with file.open("w", encoding="utf-8") as stream:
        for query_id, documents in run.items():
            stream.writelines(
                f"{query_id} Q0 {id_} {rank} {score:.9g} {tag}\n"
                for rank, (id_, score) in enumerate(documents.items(), start=1)
            )


def measure(
    run: Run, judgements: Judgements, query_ids: Sequence[str], depths: Iterable[int]
) -> "NDArray[float64]":
    """Return a row for each query, and a column for each of `measures_at`."""
    import ir_measures
    import numpy as np

    measures = measures_at(depths).values()
    column = {measure: number for number, measure in enumerate(measures)}
    row = {id_: number for number, id_ in enumerate(query_ids)}
    values = np.zeros((len(row), len(column)))
    relevance = judgements.only(set(query_ids)).relevance
    for metric in ir_measures.pytrec_eval.iter_calc(measures, relevance, run):
        values[row[metric.query_id], column[metric.measure]] = metric.value
    return values


def measures_at(depths: Iterable[int]) -> dict[str, Any]:
    from ir_measures import parse_measure

    precision, recall, success = (
        [f"{name}@{depth}" for depth in sorted(set(depths))] for name in ("P", "R", "Success")
    )
    names = (MAIN_MEASURE, *precision, *recall, "MAP", "MRR", *success)
    return {name: parse_measure(name) for name in names}


def estimates(values: "NDArray[float64]") -> list[Estimate]:
    """Estimate the mean of each column of a row for each query, by percentile bootstrap.

    The queries are resampled with replacement, and each time all columns are averaged over the same
    sample. So a column of differences between two configurations gets a paired interval.
    """
    import numpy as np

    count = len(values)
    random = np.random.default_rng(SEED)
    means = np.array(
        [values[random.integers(0, count, count)].mean(axis=0) for _ in range(RESAMPLES)]
    )
    low, high = np.percentile(means, [PERCENT_OUTSIDE, 100 - PERCENT_OUTSIDE], axis=0)
    return [
        Estimate(*map(float, of_column))
        for of_column in zip(values.mean(axis=0), low, high, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class MeasureMean(Estimate):
    measure: str


@dataclass(frozen=True, slots=True)
class MeasureDifference(Estimate):
    """The second configuration minus the first, and the shares of queries that changed."""

    measure: str
    better: float
    equal: float
    worse: float


@dataclass(frozen=True)
class ConfigurationResult:
    name: str
    measures: list[MeasureMean]
    queries_without_results: int


@dataclass(frozen=True)
class QueryResult:
    """Query and its nDCG@10 in each configuration, in order."""

    id: str
    text: str
    ndcg: list[float]

    @property
    def difference(self) -> float:
        return self.ndcg[-1] - self.ndcg[0]


@dataclass(frozen=True)
class Evaluation:
    """Results of one configuration, or of two to compare; the others have no differences."""

    documents: int
    evaluated_queries: int
    skipped_queries: int
    limit: int
    configurations: list[ConfigurationResult]
    differences: list[MeasureDifference]
    changed_queries: list[QueryResult]
    queries: list[QueryResult]


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
    """Evaluate one run, or two to compare, of queries that each have a relevant document."""
    names = list(measures_at(depths))
    ids = [query.id for query in queries]
    values = [measure(run, judgements, ids, depths) for _, run in runs]
    results = [
        QueryResult(query.id, query.text, [float(of_run[row, 0]) for of_run in values])
        for row, query in enumerate(queries)
    ]
    differing = [query for query in results if abs(query.difference) > NOTICEABLE]
    return Evaluation(
        documents=documents,
        evaluated_queries=len(queries),
        skipped_queries=skipped_queries,
        limit=limit,
        configurations=[
            ConfigurationResult(
                configuration.name,
                [
                    MeasureMean(measure=name, **asdict(estimate))
                    for name, estimate in zip(names, estimates(of_run), strict=True)
                ],
                sum(not documents for documents in run.values()),
            )
            for (configuration, run), of_run in zip(runs, values, strict=True)
        ],
        differences=_differences(names, values[-1] - values[0]) if len(runs) > 1 else [],
        changed_queries=sorted(differing, key=lambda query: -abs(query.difference))[:diff],
        queries=results,
    )


def _differences(names: Sequence[str], differences: "NDArray[float64]") -> list[MeasureDifference]:
    better = (differences > NOTICEABLE).mean(axis=0)
    worse = (differences < -NOTICEABLE).mean(axis=0)
    return [
        MeasureDifference(
            **asdict(estimate),
            measure=name,
            better=float(better[column]),
            equal=float(1 - better[column] - worse[column]),
            worse=float(worse[column]),
        )
        for column, (name, estimate) in enumerate(zip(names, estimates(differences), strict=True))
    ]
