"""What is found by misspelled words, with similar words and without.

Asks the queries of a test collection as they are and misspelled, in turns. The machine should be
idle. It writes the tables of docs/measured/tolerance.md.
"""

import json
import random
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.collection import Collection
from benchmarks.misspelled import misspelled
from benchmarks.page import machine, write_figures
from benchmarks.relevance import ranked
from idx.evaluation.collection import Judgements, Query, read_judgements, read_queries
from idx.evaluation.experiment import (
    WARM_UP,
    Run,
    estimates,
    measure,
    measure_names,
    temporary_index,
)
from idx.evaluation.report import change, figure
from shared import Searcher
from shared.java import vm
from shared.model.weights import DEFAULT_WEIGHTS, Weights

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

MEASURES: Final = ("nDCG@10", "R@10", "R@100")
DEPTHS: Final = (10, 100)
SHOWN: Final = 10
"""Documents that make an answer, where answers are compared."""

ROUNDS: Final = 2
"""How often every query is misspelled, each time otherwise."""

CHUNKS: Final = 150
"""Chunks that are asked for, to be sure of 100 documents."""

LIBRARY: Final = Path(__file__).parents[1] / "tests" / "relevance" / "documents"
ABSENT: Final = 300
"""Words spelled right that no document of the collection has."""

FEWEST_LETTERS: Final = 5
"""Letters of such a word; shorter ones are no case for tolerance."""


METHODS: Final = {"nothing": Weights(similar=0), "this project": DEFAULT_WEIGHTS}
"""The ways to treat a word that no chunk has, and their weights."""

NOTHING: Final = "nothing"


@dataclass
class Asked:
    """What was measured of one way to ask.

    Attributes:
        values: of each of `MEASURES`, a row for each query; one array for each round.
        seconds: how long each search took.
        answers: the first documents of each query, of the last round.
    """

    values: list["NDArray[float64]"] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    answers: dict[str, list[str]] = field(default_factory=dict)


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    collection = Collection.from_arguments(__doc__)
    judgements = read_judgements(collection.judgements)
    asked = read_queries(collection.queries)
    queries = [query for query in asked if judgements.has_relevant(query.id)]
    vm.start("batch")
    with temporary_index(collection.documents) as (index, _):
        lines = [*method_tables(index, queries, judgements)]
    lines += [
        "",
        (f"Collection {collection.folder.name}: {len(queries):,} queries. On {machine()}."),
    ]
    print("\n".join(lines))
    write_figures("tolerance.md", lines)


def method_tables(index: Path, queries: Sequence[Query], judgements: Judgements) -> Iterator[str]:
    """A table for each number of misspelled words, and one of what else there is to compare."""
    searchers = {
        name: Searcher(index, program="batch", weights=weights) for name, weights in METHODS.items()
    }
    by_words = {
        words: ask(searchers, queries, judgements, words, ROUNDS if words else 1)
        for words in (0, 1, 2)
    }
    for words, asked in by_words.items():
        yield f"Words misspelled: {words}"
        yield ""
        yield from measures_table(asked)
        yield ""
    exact = exactly_answered(index, queries)
    strict = by_words[0][NOTHING].answers
    absent = absent_words(index)
    yield (
        f"| way | changed of {len(exact)} answers | {len(absent)} absent words found "
        "| ms | p95 | ms, 1 word | p95 |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for method in METHODS:
        answers = by_words[0][method].answers
        changed = sum(answers[query] != strict[query] for query in exact)
        times = [
            f"{1000 * part:.1f}"
            for words in (0, 1)
            for part in spread(by_words[words][method].seconds)
        ]
        found = sum(bool(search(searchers[method], word)[0]) for word in absent)
        yield f"| {method} | {changed} | {found} | {' | '.join(times)} |"
    for searcher in searchers.values():
        searcher.close()


def ask(
    searchers: dict[str, Searcher],
    queries: Sequence[Query],
    judgements: Judgements,
    words: int,
    rounds: int,
) -> dict[str, Asked]:
    """Ask all queries in every way, after some without the clock, while Java still compiles."""
    asked = {method: Asked() for method in METHODS}
    for query in queries[:WARM_UP]:
        for method in METHODS:
            search(searchers[method], query.text)
    for number in range(rounds):
        generator = random.Random(words + 10 * number)  # noqa: S311 - reproducible, not secret
        texts = {query.id: misspelled(query.text, words, generator) for query in queries}
        runs = {method: Run() for method in METHODS}
        turns = list(METHODS)
        for id_, text in texts.items():
            for method in turns:
                found, seconds = search(searchers[method], text)
                asked[method].seconds.append(seconds)
                asked[method].answers[id_] = found[:SHOWN]
                runs[method].rankings[id_] = list(ranked(found))
            turns.reverse()
        for method, run in runs.items():
            asked[method].values.append(measured(run, judgements, list(texts)))
    return asked


def search(searcher: Searcher, text: str) -> tuple[list[str], float]:
    """The documents found in one way, and how long the search took."""
    begin = time.perf_counter()
    answer = searcher.search(text, limit=CHUNKS, syntax="plain", content="none")
    seconds = time.perf_counter() - begin
    ids = list(dict.fromkeys(hit.source_document for hit in answer.results))
    return ids[: max(DEPTHS)], seconds


def measured(run: Run, judgements: Judgements, ids: Sequence[str]) -> "NDArray[float64]":
    """Each of `MEASURES`, a row for each query."""
    columns = [measure_names(DEPTHS).index(name) for name in MEASURES]
    values: NDArray[float64] = measure(run, judgements, ids, DEPTHS)[:, columns]
    return values


def measures_table(asked: dict[str, Asked]) -> Iterator[str]:
    """What is found in each way, compared with nothing at all."""
    yield "| way | nDCG@10 | to nothing | 95 % interval | recall@10 | recall@100 |"
    yield "|---|---:|---:|---|---:|---:|"
    of_queries = {method: np.mean(each.values, axis=0) for method, each in asked.items()}
    main = np.column_stack([values[:, 0] for values in of_queries.values()])
    differences = estimates(main - main[:, :1])
    for (method, values), difference in zip(of_queries.items(), differences, strict=True):
        gain, deep, deeper = (figure(float(mean)) for mean in values.mean(axis=0))
        compared = (
            " | "
            if method == NOTHING
            else f"{change(difference.mean)} | [{difference.low:.3f}, {difference.high:.3f}]"
        )
        yield f"| {method} | {gain} | {compared} | {deep} | {deeper} |"


def exactly_answered(index: Path, queries: Sequence[Query]) -> list[str]:
    """The queries of which some chunk has every word."""
    with Searcher(index, program="batch", weights=Weights(similar=0)) as searcher:
        return [
            query.id
            for query in queries
            if all(
                searcher.search(word, limit=1, syntax="plain", content="none").totalHits
                for word in query.text.split()
                if word.isalpha()
            )
        ]


def absent_words(index: Path) -> list[str]:
    """Words of English texts on other topics that no chunk has in any form."""
    texts = [
        json.loads(line)["Content"]
        for file in sorted(LIBRARY.glob("en-*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
    words = sorted(set(re.findall(rf"\b[a-z]{{{FEWEST_LETTERS},}}\b", " ".join(texts))))
    with Searcher(index, program="batch", weights=Weights(similar=0)) as searcher:
        absent = [word for word in words if not searcher.search(word, limit=1).totalHits]
    return absent[:: max(1, len(absent) // ABSENT)][:ABSENT]


def spread(seconds: Sequence[float]) -> tuple[float, float]:
    """The mean, and what 95 of a hundred stay under."""
    return statistics.mean(seconds), statistics.quantiles(seconds, n=20, method="inclusive")[-1]


if __name__ == "__main__":
    main()
