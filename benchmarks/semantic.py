"""What search by meaning brings, and whether confidence tells questions that have an answer.

Asks the queries of three test collections by words, by both and by meaning alone. Then it removes
the documents that answer half of the queries, and asks all again: the area under the curve (AUC) is
how often a query that has an answer left has a higher confidence than one that has none. It writes
the tables of docs/measured/semantic.md; with the folders of collections, it only prints theirs.
"""

import random
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.page import machine, write_figures
from benchmarks.relevance import Collection, Numbers, collections, rows
from idx.evaluation.collection import Query, read_judgements, read_queries
from idx.evaluation.experiment import (
    MAIN_DEPTH,
    Configuration,
    SearchSettings,
    ask_all,
    embed_texts,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure
from shared import Index, Searcher
from shared.model.request import Search
from shared.search.confidence import FIRST_HITS, LOW

WAYS: Final[tuple[Search, ...]] = ("words", "both", "meaning")

Confidences = tuple[Numbers, Numbers]
"""The highest confidence of the first hits of each query, of those with an answer and without."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection, by way to search."""

    values: Mapping[str, Numbers]  # nDCG@10 of each query
    confidences: Mapping[str, Confidences]  # after documents were removed
    line: str  # what the collection is


def main(folders: Sequence[str]) -> None:
    """Measure, print the tables and write them."""
    asked = [Collection(Path(folder)) for folder in folders] or collections()
    found = {collection.folder.name: measured(collection) for collection in asked}
    lines = [
        *relevance_table(found),
        "",
        *confidence_table(found),
        "",
        f"{'; '.join(one.line for one in found.values())}. On {machine()}.",
    ]
    print("\n".join(lines))
    if not folders:
        write_figures("semantic.md", lines)


def measured(collection: Collection) -> Measured:
    """Embed a collection, ask it everything, remove answers, and ask again."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    answers = {
        query.id: {name for name, grade in judgements.relevance[query.id].items() if grade > 0}
        for query in queries
    }
    ways = [Configuration(way, search=way) for way in WAYS]
    with temporary_index(collection.documents) as (index_path, documents):
        embed_texts(index_path)
        runs = ask_all(index_path, queries, ways, SearchSettings(100, "or", "plain"))
        removed = removable(answers, len(documents) // 2)
        with Index(index_path) as index:
            for document in removed & documents:
                index.delete(document)
        left = {id_ for id_, own in answers.items() if own - removed}
        return Measured(
            {
                way: measure(run, judgements, [*answers], [MAIN_DEPTH])[:, 0]
                for way, run in zip(WAYS, runs, strict=True)
            },
            {way: confidences(index_path, queries, left, way) for way in WAYS[:2]},
            f"{collection.folder.name}: {len(documents):,} documents, {len(queries)} queries, "
            f"{len(left)} of them with an answer after {len(removed):,} documents were removed",
        )


def removable(answers: Mapping[str, set[str]], most: int) -> set[str]:
    """All answers of up to half of the queries, of up to so many documents."""
    removed: set[str] = set()
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    for query in generator.sample(sorted(answers), len(answers) // 2):
        if len(removed | answers[query]) <= most:
            removed |= answers[query]
    return removed


def confidences(
    index_path: Path, queries: Sequence[Query], answered: set[str], way: Search
) -> Confidences:
    """Ask queries, of which some have an answer."""
    found: dict[bool, list[float]] = {True: [], False: []}
    with Searcher(index_path, program="batch") as searcher:
        for query in queries:
            hits = searcher.search(
                query.text, limit=FIRST_HITS, content="none", syntax="plain", search=way
            ).results
            best = max((hit.confidence for hit in hits), default=0.0)
            found[query.id in answered].append(best)
    return np.array(found[True]), np.array(found[False])


def area(answered: Numbers, others: Numbers) -> float:
    """The area under the curve; half if the confidence says nothing, and 1 at best."""
    higher, same = answered[:, None] > others, answered[:, None] == others
    return float((higher + same / 2).mean())


def relevance_table(found: Mapping[str, Measured]) -> Iterator[str]:
    """nDCG@10 of each way to search, and the mean of its differences from words, in pairs."""
    yield f"| nDCG@10 | {' | '.join(found)} | mean | to words | 95 % interval |"
    yield f"|---|{'---:|' * len(found)}---:|---:|---|"
    for row in rows([one.values for one in found.values()]):
        low, high = change(row.difference.low), change(row.difference.high)
        last = f"{change(row.difference.mean)} | [{low}, {high}]" if row.name != "words" else " | "
        cells = " | ".join(map(figure, (*row.means, statistics.fmean(row.means))))
        yield f"| {row.name} | {cells} | {last} |"


def confidence_table(found: Mapping[str, Measured]) -> Iterator[str]:
    """How well confidence tells queries with an answer, and of how many of both kinds it is low."""
    yield f"| AUC; low confidence with an answer, without | {' | '.join(found)} |"
    yield f"|---|{'---:|' * len(found)}"
    for way in WAYS[:2]:
        cells = [
            f"{area(*one.confidences[way]):.3f}; "
            + ", ".join(f"{np.mean(values < LOW):.0%}" for values in one.confidences[way])
            for one in found.values()
        ]
        yield f"| {way} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
