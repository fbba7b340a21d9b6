"""How good the search is beside others.

Asks this project and other search engines the queries of three test collections, on the same
documents and in turns, and prints the tables. `idx eval --set` compares weights.
"""

import argparse
import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypeAlias

import bm25s
import numpy as np
import numpy.typing as npt
from lucene import VERSION as LUCENE_VERSION

from benchmarks.page import machine
from benchmarks.relevance_engines import Search, engines
from idx.evaluation.collection import Query, read_documents, read_judgements, read_queries
from idx.evaluation.experiment import (
    MAIN_DEPTH,
    NOTICEABLE,
    Estimate,
    Run,
    estimates,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure
from shared import Document, Searcher
from shared.analysis.languages import function_words
from shared.model.weights import DEFAULT_WEIGHTS, Weights

Numbers: TypeAlias = npt.NDArray[np.float64]

TEXTS: Final = 300  # texts that are looked for, with each kind of query
FEWEST_WORDS: Final = 60  # words of a text that is looked for


@dataclass(frozen=True, slots=True)
class Item:
    """A text and the words by which it is looked for."""

    document: str
    query: str


def in_a_row(words: Sequence[str], count: int, generator: random.Random) -> str:
    """Some words of a text as they stand in it."""
    begin = generator.randrange(len(words) - count)
    return " ".join(words[begin : begin + count])


def anywhere(words: Sequence[str], count: int, generator: random.Random) -> str:
    """Some words of a text in any order, without those that say nothing."""
    telling = [
        word for word in words if word.isalpha() and word.lower() not in function_words("en")
    ]
    return " ".join(generator.sample(telling, count))


KINDS: Final[dict[str, tuple[Callable[[Sequence[str], int, random.Random], str], int]]] = {
    "six words in a row": (in_a_row, 6),
    "twelve words in a row": (in_a_row, 12),
    "five words from anywhere": (anywhere, 5),
}
"""How a text is looked for."""

VARIANTS: Final = {
    "default": DEFAULT_WEIGHTS,
    "whole=0": Weights(whole=0),
    "exact=0": Weights(exact=0),
    "feedback=0": Weights(feedback=0),
}
"""The weights that are compared."""


def known_item_table(documents: Sequence[Document], index_path: Path) -> Iterator[str]:
    """For each of the weights, the share of texts that come first."""
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    long_enough = [one for one in documents if len(one.content.split()) >= FEWEST_WORDS]
    kinds = [
        [
            Item(one.id, words_of(one.content.split(), count, generator))
            for one in generator.sample(long_enough, min(TEXTS, len(long_enough)))
        ]
        for words_of, count in KINDS.values()
    ]
    yield f"| weights | {' | '.join(KINDS)} |"
    yield f"|---|{'---:|' * len(KINDS)}"
    for name, weights in VARIANTS.items():
        yield _row(name, weights, kinds, index_path)


def _row(name: str, weights: Weights, kinds: Sequence[Sequence[Item]], index_path: Path) -> str:
    with Searcher(index_path, program="batch", weights=weights) as searcher:
        shares = [
            sum(_comes_first(searcher, item) for item in items) / len(items) for items in kinds
        ]
    return f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |"


def _comes_first(searcher: Searcher, item: Item) -> bool:
    found = searcher.search(item.query, limit=1, content="none", syntax="plain").results
    return bool(found) and found[0].source_document == item.document


DATA: Final = Path(__file__).parents[2] / "shared" / "data"
COLLECTION: Final = DATA / "cranfield"
NAMES: Final = ("cranfield", "cacm", "cisi")


class Collection:
    """The files of a test collection, in the formats of `idx eval`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.documents = self.folder / "documents.jsonl"
        self.queries = self.folder / "queries.jsonl"
        self.judgements = self.folder / "qrels.tsv"

    @classmethod
    def from_arguments(cls, description: str | None) -> Self:
        """The collection that the command line names."""
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--folder", type=Path, default=COLLECTION, help="see idx eval")
        found = cls(parser.parse_args().folder)
        files = (found.documents, found.queries, found.judgements)
        missing = [file.name for file in files if not file.is_file()]
        if missing:
            parser.error(
                f"no test collection in {found.folder}: {', '.join(missing)} missing; "
                "name one by --folder"
            )
        return found


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
            runs, seconds = ask_in_turns(searches, queries)
        known_items = list(known_item_table(documents, index_path))
    return Measured(
        {name: values(run) for name, run in runs.items()},
        seconds,
        known_items,
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
