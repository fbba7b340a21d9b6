"""How good the search is beside others.

Asks this project and other search engines the queries of three test collections, on the same
documents and in turns, and prints the tables. `idx eval --set` compares weights.
"""

import sqlite3
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
from lucene import VERSION as LUCENE_VERSION

from benchmarks.calibration import Numbers
from benchmarks.collection import Collection, collections
from benchmarks.known_items import known_item_table
from benchmarks.page import machine
from benchmarks.relevance_engines import Search, engines
from idx.evaluation.collection import Query, read_documents, read_judgements, read_queries
from idx.evaluation.experiment import (
    MAIN_DEPTH,
    NOTICEABLE,
    Estimate,
    RankedDocument,
    Run,
    estimates,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search.

    The difference is to the first search, query by query, over the mean of the collections.
    """

    name: str
    means: Sequence[float]
    difference: Estimate
    changes: bool
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection."""

    engines: Mapping[str, Numbers]
    seconds: Mapping[str, Sequence[float]]
    known_items: Sequence[str]
    line: str


def main() -> None:
    """Measure, print the tables, and write them and the picture."""
    found = {collection.folder.name: measured(collection) for collection in collections()}
    by_engine = rows(
        [one.engines for one in found.values()], [one.seconds for one in found.values()]
    )
    lines = [
        *table("search", by_engine, list(found)),
        "",
    ]
    for name, one in found.items():
        lines += [f"Known items in {name}:", "", *one.known_items, ""]
    lines.append(
        f"Collections: {'; '.join(one.line for one in found.values())}. On {machine()}, Lucene "
        f"{LUCENE_VERSION}, bm25s {bm25s.__version__}, SQLite {sqlite3.sqlite_version}."
    )
    print("\n".join(lines))


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

    with temporary_index(collection.documents) as (index_path, _):
        with engines(index_path, documents) as searches:
            runs = ask_in_turns(searches, queries)
        known_items = list(known_item_table(documents, index_path))
    return Measured(
        {name: values(run) for name, run in runs.items()},
        {name: run.seconds for name, run in runs.items()},
        known_items,
        f"{collection.folder.name}, {len(documents):,} documents, {len(queries):,} queries",
    )


def ask_in_turns(searches: dict[str, Search], queries: Sequence[Query]) -> dict[str, Run]:
    """Ask all searches all queries, after once without the clock, while Java still compiles."""
    for query in queries:
        for search in searches.values():
            search(query.text)
    runs = {name: Run() for name in searches}
    turns = list(searches)
    for query in queries:
        for name in turns:
            begin = time.perf_counter()
            found = searches[name](query.text)
            runs[name].seconds.append(time.perf_counter() - begin)
            runs[name].rankings[query.id] = list(ranked(found))
        turns.reverse()
    return runs


def ranked(ids: Iterable[str]) -> Iterator[RankedDocument]:
    """Documents with scores in their order, which is all that is measured."""
    for place, id_ in enumerate(ids, start=1):
        yield RankedDocument(id_, 1 / place)


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
                any(np.abs(one).max() > NOTICEABLE for one in differences),
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
