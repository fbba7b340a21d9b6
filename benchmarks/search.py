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
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from benchmarks.page import machine, write_figures
from benchmarks.plain_lucene import PlainSearcher, PlainWriter
from shared import Document, Filter, Index, Searcher, create
from shared.java import vm
from shared.model import schema
from shared.model.weights import DEFAULT_WEIGHTS
from tests.tools.made_up_texts import chunks, rare_words

SHORTEST: Final = 5  # letters of a word that is misspelled

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Of a keyboard; a letter is taken for one beside it."""


def misspelled(text: str, words: int, generator: random.Random) -> str:
    """A query with one mistake in each of so many words.

    Two letters are swapped, or one is left out, doubled, or taken for its neighbour on the
    keyboard, never the first.
    """
    parts = text.split()
    long = [n for n, part in enumerate(parts) if part.isalpha() and len(part) >= SHORTEST]
    for number in generator.sample(long, min(words, len(long))):
        parts[number] = _mistyped(parts[number], generator)
    return " ".join(parts)


def _mistyped(word: str, generator: random.Random) -> str:
    place = generator.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    return generator.choice(
        (
            f"{before}{after[0]}{letter}{after[1:]}",
            f"{before}{after}",
            f"{before}{letter}{letter}{after}",
            f"{before}{_neighbour(letter, generator)}{after}",
        )
    )


def _neighbour(letter: str, generator: random.Random) -> str:
    row = next((row for row in _ROWS if letter in row), letter)
    place = row.find(letter)
    beside = [row[n] for n in (place - 1, place + 1) if 0 <= n < len(row)]
    return generator.choice(beside) if beside else letter


ROOT: Final = Path(__file__).parents[1]
QUERIES: Final = 200
WARM_UP: Final = 250
"""Queries of each kind that are asked before: others, of which nothing can be remembered."""

BATCH: Final = 1_000


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="keep the indexes here, and use them again")
    arguments = parser.parse_args()
    vm.start("server")
    with tempfile.TemporaryDirectory() as folder:
        home = (arguments.folder or Path(folder)) / f"{arguments.chunks}-chunks"
        lines = [*indexing(home, arguments.chunks), "", *searching(home), "", *tolerating(home)]
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


WRITERS: Final = {
    "whole": "this project",
    "content": "this project, the content alone",
    "plain": "plain Lucene",
}
"""The folder of each index, and what it holds."""


def write(home: Path, count: int) -> None:
    """Write the same texts into each index, one after the other, for merges take time later on."""
    home.mkdir(parents=True, exist_ok=True)
    times = []
    for name in ("whole", "content"):
        create(home / name)
        fields = patch("shared.storage.mapping.chunk_search_texts", content_alone)
        with fields if name == "content" else nullcontext(), Index(home / name) as index:
            spent = sum(seconds(lambda: add(index, some)) for some in batches(count))  # noqa: B023
            times.append(spent + seconds(lambda: index.__exit__(None, None, None)))
    plain = PlainWriter(home / "plain")
    spent = sum(seconds(lambda: plain.add(some)) for some in batches(count))  # noqa: B023
    times.append(spent + seconds(plain.close))
    text = sum(len(document.content.encode()) for some in batches(count) for document in some)
    (home / "figures").write_text(" ".join(map(str, (text, *times))))


def content_alone(
    _document: Document, content: str, *_: str | Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """The content of a chunk as the only text in which words are found."""
    yield schema.CONTENT, content


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
        for name, query in taking_turns(warming_up(KINDS)):
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


def tolerating(home: Path) -> Iterator[str]:
    """The table of what feedback and similar words cost.

    With them is measured first, without them then: of an index that is open twice nothing would be
    remembered.
    """
    generator = random.Random(4)  # noqa: S311 - reproducible, not secret
    queries = {name: list(islice(KINDS[name](), QUERIES)) for name in TOLERATED}
    for name in TOLERATED:
        queries[f"{name}, one misspelled"] = [
            misspelled(query, 1, generator) for query in queries[name]
        ]
    found: dict[str, list[str]] = {name: [] for name in queries}
    for weights in (DEFAULT_WEIGHTS, replace(DEFAULT_WEIGHTS, feedback=0.0, similar=0.0)):
        with Searcher(home / "whole", program="server", weights=weights) as searcher:
            for _, query in taking_turns(warming_up(TOLERATED)):
                searcher.search(query)
            for name, kind in queries.items():
                times = [seconds(lambda: searcher.search(query)) for query in kind]  # noqa: B023
                found[name] += [f"{1000 * part:.1f}" for part in parts(times)]
    yield "| search | p50 | p95 | p99 | without p50 | without p95 | without p99 |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    yield from (f"| {name} | {' | '.join(figures)} |" for name, figures in found.items())


def warming_up(kinds: Iterable[str]) -> dict[str, list[str]]:
    """Queries of each kind that are not measured."""
    return {name: list(islice(KINDS[name](), QUERIES, QUERIES + WARM_UP)) for name in kinds}


def taking_turns(queries: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Each query with its kind; the kinds take turns."""
    for one_of_each in zip(*queries.values(), strict=True):
        yield from zip(queries, one_of_each, strict=True)


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
TOLERATED: Final = ("one word", "two words", "six words")
"""The kinds that are asked with and without feedback and similar words, and misspelled."""

OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "two words, filter and facets": {
        "filters": [Filter("year", "range", minimum=2010)],
        "facets": ["language", "year"],
    },
    "two words, with passages": {"content": "passages"},
}


if __name__ == "__main__":
    main()
