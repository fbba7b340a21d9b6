"""What search by meaning brings.

Asks the queries of three test collections, or of those in the folders that are named, by words, by
both and by meaning alone, and prints the table.
"""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.page import machine
from benchmarks.relevance import Collection, Numbers, collections, rows
from idx.evaluation.collection import read_judgements, read_queries
from idx.evaluation.experiment import (
    MAIN_DEPTH,
    Configuration,
    ask_all,
    embed_texts,
    measure,
    temporary_index,
)
from idx.evaluation.report import change, figure
from shared.model.request import Search, SearchRequest

WAYS: Final[tuple[Search, ...]] = ("words", "both", "meaning")


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection, by way to search."""

    values: Mapping[str, Numbers]  # nDCG@10 of each query
    line: str  # what the collection is


def main(folders: Sequence[str]) -> None:
    """Measure, and print the table."""
    asked = [Collection(Path(folder)) for folder in folders] or collections()
    found = {collection.folder.name: measured(collection) for collection in asked}
    print("\n".join(table(found)))
    print(f"\n{'; '.join(one.line for one in found.values())}. On {machine()}.")


def measured(collection: Collection) -> Measured:
    """Embed a collection, and ask it everything."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    ids = [query.id for query in queries]
    ways = [Configuration(way, search=way) for way in WAYS]
    with temporary_index(collection.documents) as (index_path, documents):
        embed_texts(index_path)
        runs = ask_all(index_path, queries, ways, SearchRequest("", limit=100, syntax="plain"))
        return Measured(
            {
                way: measure(run, judgements, ids, [MAIN_DEPTH])[:, 0]
                for way, run in zip(WAYS, runs, strict=True)
            },
            f"{collection.folder.name}: {len(documents):,} documents, {len(queries)} queries",
        )


def table(found: Mapping[str, Measured]) -> Iterator[str]:
    """nDCG@10 of each way to search, and the mean of its differences from words, in pairs."""
    yield f"| nDCG@10 | {' | '.join(found)} | mean | to words | 95 % interval |"
    yield f"|---|{'---:|' * len(found)}---:|---:|---|"
    for row in rows([one.values for one in found.values()]):
        low, high = change(row.difference.low), change(row.difference.high)
        last = f"{change(row.difference.mean)} | [{low}, {high}]" if row.name != "words" else " | "
        cells = " | ".join(map(figure, (*row.means, statistics.fmean(row.means))))
        yield f"| {row.name} | {cells} | {last} |"


if __name__ == "__main__":
    main(sys.argv[1:])
