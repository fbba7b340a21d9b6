"""How good the search is beside others.

Asks this project and other search engines the queries of three test collections, on the same
documents and in turns, and prints a table. `idx eval --set` compares weights.
"""

import sqlite3
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import bm25s
import numpy as np
import numpy.typing as npt
from lucene import VERSION as LUCENE_VERSION

from benchmarks.page import machine
from benchmarks.relevance_engines import Search, engines
from idx.evaluation.collection import Query, read_documents, read_judgements, read_queries
from idx.evaluation.experiment import (
    MAIN_DEPTH,
    Estimate,
    Run,
    estimates,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure

Numbers: TypeAlias = npt.NDArray[np.float64]
DATA: Final = Path(__file__).parents[2] / "shared" / "data"
NAMES: Final = ("cranfield", "cacm", "cisi")


class Collection:
    """The files of a test collection, in the formats of `idx eval`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.documents = self.folder / "documents.jsonl"
        self.queries = self.folder / "queries.jsonl"
        self.judgements = self.folder / "qrels.tsv"


def collections() -> list[Collection]:
    """The three collections on which all constants of ranking are chosen together."""
    return [Collection(DATA / name) for name in NAMES]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search.

    The difference is to the first search, query by query, over the mean of the collections.
    """

    name: str
    means: Sequence[float]
    difference: Estimate
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection."""

    engines: Mapping[str, Numbers]
    seconds: Mapping[str, Sequence[float]]
    line: str


def main() -> None:
    """Measure, and print the table."""
    found = {collection.folder.name: measured(collection) for collection in collections()}
    by_engine = rows(
        [one.engines for one in found.values()], [one.seconds for one in found.values()]
    )
    print("\n".join(table("search", by_engine, list(found))))
    print(
        f"\nCollections: {'; '.join(one.line for one in found.values())}. On {machine()}, Lucene "
        f"{LUCENE_VERSION}, bm25s {bm25s.__version__}, SQLite {sqlite3.sqlite_version}."
    )


def measured(collection: Collection) -> Measured:
    """Ask the search engines the queries of a collection."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    ids = [query.id for query in queries]
    documents = list(read_documents(collection.documents))

    def values(run: Run) -> Numbers:
        return measure(run, judgements, ids, [MAIN_DEPTH])[:, 0]

    with (
        temporary_index(collection.documents) as (index_path, _),
        engines(index_path, documents) as searches,
    ):
        runs, seconds = ask_in_turns(searches, queries)
    return Measured(
        {name: values(run) for name, run in runs.items()},
        seconds,
        f"{collection.folder.name}, {len(documents):,} documents, {len(queries):,} queries",
    )


def ask_in_turns(
    searches: dict[str, Search], queries: Sequence[Query]
) -> tuple[dict[str, Run], dict[str, list[float]]]:
    """Ask all searches all queries, after once without the clock, while Java still compiles.

    Returns the run of each search, and its times in seconds.
    """
    for query in queries:
        for search in searches.values():
            search(query.text)
    runs: dict[str, Run] = {name: {} for name in searches}
    seconds: dict[str, list[float]] = {name: [] for name in searches}
    turns = list(searches)
    for query in queries:
        for name in turns:
            begin = time.perf_counter()
            found = searches[name](query.text)
            seconds[name].append(time.perf_counter() - begin)
            # Scores in their order, which is all that is measured.
            runs[name][query.id] = {id_: 1 / place for place, id_ in enumerate(found, start=1)}
        turns.reverse()
    return runs, seconds


def rows(
    by_collection: Sequence[Mapping[str, Numbers]],
    seconds: Sequence[Mapping[str, Sequence[float]]] = (),
) -> list[Row]:
    """What was measured of each search, compared with the first one."""
    names = list(by_collection[0])
    # Each collection counts as much, whatever the number of its queries.
    total = sum(len(values[names[0]]) for values in by_collection)
    found = []
    for name in names:
        differences = [values[name] - values[names[0]] for values in by_collection]
        scaled = [one * total / len(by_collection) / len(one) for one in differences]
        (difference,) = estimates(np.concatenate(scaled)[:, None])
        times = [second for of_collection in seconds for second in of_collection[name]]
        found.append(
            Row(
                name,
                [float(values[name].mean()) for values in by_collection],
                difference,
                1000 * statistics.fmean(times) if times else 0.0,
            )
        )
    return found


def table(head: str, compared: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """The searches beside each other, the first being this project as it is."""
    yield f"| {head} | {' | '.join(names)} | mean | to the first | 95 % interval | ms |"
    yield f"|---|{'---:|' * len(names)}---:|---:|---|---:|"
    for row in compared:
        cells = " | ".join(map(figure, row.means))
        low, high = change(row.difference.low), change(row.difference.high)
        difference = f"{change(row.difference.mean)} | [{low}, {high}]"
        line = f"| {row.name} | {cells} | {figure(statistics.fmean(row.means))} | "
        line += f"{difference if row is not compared[0] else ' | '} |"
        yield line + f" {row.milliseconds:.1f} |"


if __name__ == "__main__":
    main()
