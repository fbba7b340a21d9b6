"""What the fields and steps beyond plain Lucene cost: time to index and to search, and size.

Writes the same texts into an index of this project and into one of plain Lucene, which has the
content alone, analyzed by Lucene's StandardAnalyzer; then asks both the same questions, in turns,
after others that are not counted. The machine should be idle. It writes the tables of
docs/measured/speed.md.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.page import machine, write_figures
from benchmarks.plain_lucene import BATCH, PlainSearcher, PlainWriter
from shared import Document, Filter, Index, Searcher, create
from shared.java import vm
from tests.tools.made_up_texts import chunks, rare_words

ROOT: Final = Path(__file__).parents[1]
QUERIES: Final = 200
WARM_UP: Final = 250
"""Queries of each kind that are asked before: others, of which nothing can be remembered."""


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="keep the indexes here, and use them again")
    arguments = parser.parse_args()
    vm.start("server")
    with tempfile.TemporaryDirectory() as folder:
        home = (arguments.folder or Path(folder)) / f"{arguments.chunks}-chunks"
        lines = [*indexing(home, arguments.chunks), "", *searching(home)]
    lines += [
        "",
        (f"{arguments.chunks:,} chunks of 250 words, on {machine()}."),
    ]
    print("\n".join(lines))
    write_figures("speed.md", lines, writer="benchmarks.search")


def indexing(home: Path, count: int) -> Iterator[str]:
    """The table of the time to index and of sizes; the indexes stay in the folder."""
    if not (home / "plain").exists():
        write(home, count)
    text, *times = map(float, (home / "figures").read_text().split())
    yield "| indexing | chunks/s | size / text |"
    yield "|---|---:|---:|"
    for name, spent in zip(WRITERS, times, strict=True):
        size = sum(file.stat().st_size for file in (home / name).iterdir())
        yield f"| {WRITERS[name]} | {count / spent:,.0f} | {size / text:.2f} |"


WRITERS: Final = {"whole": "this project", "plain": "plain Lucene"}
"""The folder of each index, and what wrote it."""


def write(home: Path, count: int) -> None:
    """Write the same texts into each index, one after the other, for merges take time later on."""
    home.mkdir(parents=True, exist_ok=True)
    create(home / "whole")
    with Index(home / "whole") as index:
        spent = sum(seconds(lambda: add(index, some)) for some in batches(count))  # noqa: B023
        times = [spent + seconds(lambda: index.__exit__(None, None, None))]
    plain = PlainWriter(home / "plain")
    spent = sum(seconds(lambda: plain.add(some)) for some in batches(count))  # noqa: B023
    times.append(spent + seconds(plain.close))
    text = sum(len(document.content.encode()) for some in batches(count) for document in some)
    (home / "figures").write_text(" ".join(map(str, (text, *times))))


def batches(count: int) -> Iterator[list[Document]]:
    """The texts as documents, which are not made on the clock."""
    texts = enumerate(chunks(count))
    while batch := list(islice(texts, BATCH)):
        yield [
            Document(str(n), f"Title {n}", words, {"language": code, "year": 2000 + n % 20})
            for n, (code, words) in batch
        ]


def add(index: Index, documents: list[Document]) -> None:
    """Add documents, as idx does."""
    for _ in index.add_all(documents):
        pass


def searching(home: Path) -> Iterator[str]:
    """The table of the times of searches; whole and plain take turns."""
    plain = PlainSearcher(home / "plain")
    yield "| search | p50 | p95 | p99 | plain p50 | plain p95 | plain p99 |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    with Searcher(home / "whole", program="server") as searcher:
        for name, query in warming_up():
            searcher.search(query, **OPTIONS.get(name, {}))
            plain.search(query)
        for name, make in KINDS.items():
            options = OPTIONS.get(name, {})
            times: tuple[list[float], list[float]] = ([], [])
            for query in islice(make(), QUERIES):
                times[0].append(seconds(lambda: searcher.search(query, **options)))  # noqa: B023
                times[1].append(seconds(lambda: plain.search(query)))  # noqa: B023
            figures = [f"{1000 * part:.1f}" for spent in times for part in parts(spent)]
            yield f"| {name} | {' | '.join(figures)} |"


def warming_up() -> Iterator[tuple[str, str]]:
    """Queries that are not measured, each with its kind; the kinds take turns."""
    queries = (islice(make(), QUERIES, QUERIES + WARM_UP) for make in KINDS.values())
    for one_of_each in zip(*queries, strict=True):
        yield from zip(KINDS, one_of_each, strict=True)


def seconds(work: Callable[[], Any]) -> float:
    """How long a piece of work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def parts(times: list[float]) -> tuple[float, float, float]:
    """The median, and what 95 and 99 of a hundred stay under."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]


def words(frequent: int, rare: int, seed: int) -> Iterator[list[str]]:
    """Words as people put them together: some from real texts, some that are rare."""
    generator = random.Random(seed)  # noqa: S311 - reproducible, not secret
    made_up, weights = rare_words(random.Random(1))  # noqa: S311 - those of the texts
    real = [
        word.strip(",.;") for word in (ROOT / "tests/data/languages/en.txt").read_text().split()
    ]
    real = sorted({word for word in real if word.isalpha()})
    while True:
        yield [
            *generator.sample(real, frequent),
            *generator.choices(made_up, cum_weights=weights, k=rare),
        ]


KINDS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "one word": lambda: (" ".join(w) for w in words(0, 1, seed=3)),
    "two words": lambda: (" ".join(w) for w in words(1, 1, seed=4)),
    "six words": lambda: (" ".join(w) for w in words(3, 3, seed=5)),
    "a phrase": lambda: (f'"{" ".join(w)}"' for w in words(2, 0, seed=6)),
    "a prefix": lambda: (f"{w[0][:5]}*" for w in words(0, 1, seed=7)),
    "a leading wildcard": lambda: (f"*{w[0][-5:]}" for w in words(0, 1, seed=8)),
    "two words, filter and facets": lambda: (" ".join(w) for w in words(1, 1, seed=9)),
    "two words, with passages": lambda: (" ".join(w) for w in words(1, 1, seed=10)),
}

OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "two words, filter and facets": {
        "filters": [Filter("year", "range", minimum=2010)],
        "facets": ["language", "year"],
    },
    "two words, with passages": {"content": "passages"},
}


if __name__ == "__main__":
    main()
