"""How good the search is beside others, and what each weight of ranking is worth.

Asks this project and other search engines the queries of three test collections, on the same
documents and in turns, and then this project with each weight of `shared.model.weights` switched
off or changed. Weights are judged on all three collections together; the last table shows what
choosing them on two is worth on the third. It writes the tables and the picture of
docs/measured/relevance.md.
"""

import sqlite3
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import bm25s
import numpy as np
from lucene import VERSION as LUCENE_VERSION

from benchmarks.calibration import Numbers
from benchmarks.collection import Collection, collections
from benchmarks.known_items import known_item_table
from benchmarks.page import MEASURED, machine, write_figures
from benchmarks.relevance_engines import LIMIT, Search, engines
from benchmarks.relevance_plot import draw
from benchmarks.suite import failures
from idx.evaluation.collection import Query, read_documents, read_judgements, read_queries
from idx.evaluation.experiment import (
    DEFAULT,
    MAIN_DEPTH,
    NOTICEABLE,
    Configuration,
    Estimate,
    RankedDocument,
    Run,
    SearchSettings,
    ask_all,
    changed,
    estimates,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure
from shared.model.weights import Weights

PICTURE: Final = MEASURED / "relevance.svg"

NOT_SWITCHED_OFF: Final = {"stems", "k1", "b"}
"""Weights that mean something else at 0, or nothing without another."""

ALTERNATIVES: Final = (
    *("title_stems=0.2", "title_stems=0.5", "irregular=0.2", "irregular=0.5", "irregular=1"),
    *("exact=0.3", "whole=1", "part=0.5", "part=1", "language=1", "language=2"),
    *("feedback=0.3", "feedback=0.7", "feedback=1", "k1=0.9", "k1=1.5", "b=0.6", "b=0.9"),
)
"""What is tried beside switching off each weight, and chosen from in the last table."""

TOGETHER: Final = (("exact=0", "whole=0", "feedback=0"),)
"""What is switched off together: all that only reorders hits."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search.

    Attributes:
        name: of the search, or of its weights.
        means: nDCG@10 in each collection.
        difference: the same less that of the first search, query by query, over the mean of the
            collections.
        changes: whether any query has another value than with the first search.
        failures: the number of queries of tests/relevance that fail; None if they were not asked.
        milliseconds: the mean time of a search.
    """

    name: str
    means: Sequence[float]
    difference: Estimate
    changes: bool
    failures: int | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection.

    Attributes:
        engines: nDCG@10 of each query, by search engine.
        weights: the same, by weights.
        seconds: the times of the searches, by search engine.
        known_items: the lines of a table.
        line: what the collection is.
    """

    engines: Mapping[str, Numbers]
    weights: Mapping[str, Numbers]
    seconds: Mapping[str, Sequence[float]]
    known_items: Sequence[str]
    line: str


def main() -> None:
    """Measure, print the tables, and write them and the picture."""
    found = {collection.folder.name: measured(collection) for collection in collections()}
    by_engine = rows(
        [one.engines for one in found.values()], [one.seconds for one in found.values()]
    )
    by_weights = rows(
        [one.weights for one in found.values()], failures=failures([DEFAULT, *configurations()])
    )
    of_note = [row for row in by_weights[1:] if row.changes or row.failures]
    draw(
        PICTURE,
        [(row.name, statistics.fmean(row.means)) for row in by_engine],
        [(row.name, row.difference) for row in of_note if row.changes],
    )
    lines = [
        *table("search", by_engine, list(found), times=True),
        "",
        f"![Both tables as bars]({PICTURE.name})",
        "",
        *table("weights", [by_weights[0], *of_note], list(found)),
        "",
        *without_effect(by_weights[1:]),
        *left_out_table(by_weights, list(found)),
        "",
    ]
    for name, one in found.items():
        lines += [f"Known items in {name}:", "", *one.known_items, ""]
    lines.append(
        f"Collections: {'; '.join(one.line for one in found.values())}. On {machine()}, Lucene "
        f"{LUCENE_VERSION}, bm25s {bm25s.__version__}, SQLite {sqlite3.sqlite_version}."
    )
    print("\n".join(lines))
    write_figures("relevance.md", lines)


def measured(collection: Collection) -> Measured:
    """Ask the search engines, and this project with all weights, the queries of a collection."""
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
        weights = [DEFAULT, *configurations()]
        by_weights = ask_all(index_path, queries, weights, SearchSettings(LIMIT, "or", "plain"))
        known_items = list(known_item_table(documents, index_path))
    return Measured(
        {name: values(run) for name, run in runs.items()},
        {one.name: values(run) for one, run in zip(weights, by_weights, strict=True)},
        {name: run.seconds for name, run in runs.items()},
        known_items,
        f"{collection.folder.name}, {len(documents):,} documents, {len(queries):,} queries",
    )


def configurations() -> Iterator[Configuration]:
    """The weights that are compared with the default ones."""
    for field in fields(Weights):
        if field.name not in NOT_SWITCHED_OFF:
            yield changed([f"{field.name}=0"])
    yield from map(changed, TOGETHER)
    for alternative in ALTERNATIVES:
        yield changed([alternative])


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
    failures: Mapping[str, int] | None = None,
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
                failures[name] if failures else None,
                1000 * statistics.fmean(times) if times else 0.0,
            )
        )
    return found


def table(
    head: str, compared: Sequence[Row], names: Sequence[str], *, times: bool = False
) -> Iterator[str]:
    """The searches beside each other, the first being this project as it is.

    The last column has the time of a search, or how many queries of tests/relevance fail.
    """
    last = " ms |" if times else " suite |"
    yield f"| {head} | {' | '.join(names)} | mean | to the first | 95 % interval |{last}"
    yield f"|---|{'---:|' * len(names)}---:|---:|---|---:|"
    for row in compared:
        cells = " | ".join(map(figure, row.means))
        low, high = change(row.difference.low), change(row.difference.high)
        difference = f"{change(row.difference.mean)} | [{low}, {high}]"
        line = f"| {row.name} | {cells} | {figure(statistics.fmean(row.means))} | "
        line += f"{difference if row is not compared[0] else ' | '} |"
        yield line + (f" {row.milliseconds:.1f} |" if times else f" {row.failures} |")


def left_out_table(by_weights: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """What choosing the best of the alternatives on two collections is worth on the third."""
    yield "| left out | best on the others | there | the default there |"
    yield "|---|---|---:|---:|"
    known = {"default", *ALTERNATIVES}
    chosen_from = [row for row in by_weights if row is by_weights[0] or row.name in known]
    for number, name in enumerate(names):
        best = max(chosen_from, key=lambda row: sum(row.means) - row.means[number])
        own, default = best.means[number], by_weights[0].means[number]
        yield f"| {name} | {best.name} | {figure(own)} | {figure(default)} |"


def without_effect(ablations: Sequence[Row]) -> Iterator[str]:
    """A paragraph on the changes that change nothing."""
    same = [f"`{row.name}`" for row in ablations if not row.changes and not row.failures]
    if same:
        yield f"No query of the collections or the suite fares otherwise with {', '.join(same)}."
        yield ""


if __name__ == "__main__":
    main()
