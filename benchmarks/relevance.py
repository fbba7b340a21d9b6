"""How good the search is beside others, and what each weight of ranking is worth.

Asks this project and other search engines the queries of a test collection, on the same documents
and in turns, and then this project with each weight of `shared.model.weights` switched off or
changed. The machine should be idle. It writes the tables and the picture of
docs/measured/relevance.md.
"""

import sqlite3
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

import bm25s
import numpy as np
from lucene import VERSION as LUCENE_VERSION

from benchmarks.collection import Collection
from benchmarks.known_items import known_item_table
from benchmarks.page import MEASURED, machine, write_figures
from benchmarks.relevance_engines import LIMIT, Search, engines
from benchmarks.relevance_plot import draw
from idx.evaluation.collection.documents import read_documents
from idx.evaluation.collection.judgements import Judgements, read_judgements
from idx.evaluation.collection.queries import Query, read_queries
from idx.evaluation.experiment import SearchSettings, ask_all, temporary_index
from idx.evaluation.intervals import Estimate, estimates
from idx.evaluation.measures import MAIN_DEPTH, measure
from idx.evaluation.report.figures import change, figure, interval
from idx.evaluation.results import NOTICEABLE
from idx.evaluation.run import RankedDocument, Run
from idx.evaluation.search_settings import DEFAULT, Configuration, changed
from shared.model.weights import Weights

PICTURE: Final = MEASURED / "relevance.svg"

NOT_SWITCHED_OFF: Final = {"least_language", "most_language", "k1", "b"}
"""Weights that mean something else at 0, or nothing without another."""

CHANGES: Final = (
    ("least_language=0", "most_language=0"),
    ("title=0", "title_language=0"),
    ("proximity=0", "feedback=0"),
    ("content=2",),
    ("most_language=1",),
    ("most_language=5",),
    ("title=2",),
    ("proximity=1",),
    ("feedback=2",),
    ("feedback=4",),
    ("k1=0.9",),
    ("k1=1.5",),
    ("b=0.4",),
    ("b=0.9",),
)
"""What is tried beside switching off each weight."""

BEFORE_TUNING: Final = (
    *("content=2", "least_language=0.3", "most_language=1", "transliterated=0.5"),
    *("proximity=0.25", "feedback=0"),
)
"""The weights of before any were chosen by their nDCG on a collection."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search.

    Attributes:
        name: of the search, or of its weights.
        mean: nDCG@10 over the queries.
        difference: the same less that of the first search, query by query.
        changes: whether any query has another value than with the first search.
        milliseconds: the mean time of a search.
    """

    name: str
    mean: Estimate
    difference: Estimate
    changes: bool
    milliseconds: float


def main() -> None:
    """Measure, print the tables, and write them and the picture."""
    collection = Collection.from_arguments(__doc__)
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    documents = list(read_documents(collection.documents))
    with temporary_index(collection.documents) as (index_path, _):
        with engines(index_path, documents) as searches:
            compared = rows(ask_in_turns(searches, queries), queries, judgements)
        weights = [DEFAULT, *configurations()]
        settings = SearchSettings(LIMIT, "or", "plain")
        runs = ask_all(index_path, queries, weights, settings)
        known_items = list(known_item_table(documents, index_path))
    names = [configuration.name for configuration in weights]
    ablations = rows(dict(zip(names, runs, strict=True)), queries, judgements)
    of_note = [row for row in ablations[1:] if row.changes]
    draw(
        PICTURE,
        [(row.name, row.mean) for row in compared],
        [(row.name, row.difference) for row in of_note],
    )
    lines = [
        *engine_table(compared),
        "",
        f"![Both tables as bars]({PICTURE.name})",
        "",
        *weight_table([ablations[0], *of_note]),
        "",
        *without_effect(ablations[1:]),
        *known_items,
        "",
        (
            f"Collection {collection.folder.name}: {len(documents):,} documents, "
            f"{len(queries):,} queries. On {machine()}, "
            f"Lucene {LUCENE_VERSION}, "
            f"bm25s {bm25s.__version__}, SQLite {sqlite3.sqlite_version}."
        ),
    ]
    print("\n".join(lines))
    write_figures("relevance.md", lines)


def configurations() -> Iterator[Configuration]:
    """The weights that are compared with the default ones."""
    for field in fields(Weights):
        if field.name not in NOT_SWITCHED_OFF:
            yield changed([f"{field.name}=0"])
    yield from map(changed, CHANGES)
    yield Configuration("as before tuning", changed(BEFORE_TUNING).weights)


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


def rows(runs: dict[str, Run], queries: Sequence[Query], judgements: Judgements) -> list[Row]:
    """What was measured of each run, compared with the first one."""
    ids = [query.id for query in queries]
    values = np.column_stack(
        [measure(run, judgements, ids, [MAIN_DEPTH])[:, 0] for run in runs.values()]
    )
    differences = values - values[:, :1]
    changes = [bool(np.abs(column).max() > NOTICEABLE) for column in differences.T]
    return [
        Row(name, mean, difference, changes_any, 1000 * statistics.mean(run.seconds))
        for (name, run), mean, difference, changes_any in zip(
            runs.items(), estimates(values), estimates(differences), changes, strict=True
        )
    ]


def engine_table(compared: Sequence[Row]) -> Iterator[str]:
    """The searches beside each other, the first being this project."""
    yield "| search | nDCG@10 | 95 % interval | to this project | 95 % interval | ms |"
    yield "|---|---:|---|---:|---|---:|"
    for row in compared:
        mean, own = figure(row.mean.mean), interval(row.mean.low, row.mean.high)
        difference = difference_cells(row, compared[0])
        yield f"| {row.name} | {mean} | {own} | {difference} | {row.milliseconds:.1f} |"


def weight_table(ablations: Sequence[Row]) -> Iterator[str]:
    """The default weights, and what is without some or has others."""
    yield "| weights | nDCG@10 | to the default | 95 % interval |"
    yield "|---|---:|---:|---|"
    for row in ablations:
        difference = difference_cells(row, ablations[0])
        yield f"| {row.name} | {figure(row.mean.mean)} | {difference} |"


def difference_cells(row: Row, first: Row) -> str:
    """The difference and its interval; the first row has none to itself."""
    if row is first:
        return " | "
    low, high = change(row.difference.low), change(row.difference.high)
    return f"{change(row.difference.mean)} | [{low}, {high}]"


def without_effect(ablations: Sequence[Row]) -> Iterator[str]:
    """A paragraph on the changes that change nothing."""
    same = [f"`{row.name}`" for row in ablations if not row.changes]
    if same:
        yield f"No query of the collection fares better or worse with {', '.join(same)}."
        yield ""


if __name__ == "__main__":
    main()
