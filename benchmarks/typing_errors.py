"""How often a mistyped word finds what the word finds, by the kind of the mistake.

Takes words of four letters or more from the queries of test collections, each of which some chunk
has, and mistypes each in every way. A mistake counts as found if the first hit for the word is
among the first three for the mistyped one. Prints the table of docs/measured/tolerance.md.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from benchmarks.collection import Collection
from idx.evaluation.collection import read_queries
from idx.evaluation.experiment import temporary_index
from shared import Searcher
from shared.java import vm
from shared.model.request import Syntax

WORDS: Final = 400
"""Words of each collection."""

FEWEST_LETTERS: Final = 4
FIRST_HITS: Final = 3
_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")

Mistake = Callable[[str, int, random.Random], str]


def _neighbour(letter: str, generator: random.Random) -> str:
    row = next((row for row in _ROWS if letter in row), letter)
    place = row.find(letter)
    beside = [row[n] for n in (place - 1, place + 1) if 0 <= n < len(row)]
    return generator.choice(beside) if beside else letter


_MISTAKES: Final[Mapping[str, Mistake]] = {
    "two letters swapped": lambda word, at, _: (
        f"{word[:at]}{word[at : at + 2][::-1]}{word[at + 2 :]}"
    ),
    "one left out": lambda word, at, _: word[:at] + word[at + 1 :],
    "one doubled": lambda word, at, _: word[:at] + word[at] + word[at:],
    "one wrong": lambda word, at, by: word[:at] + _neighbour(word[at], by) + word[at + 1 :],
    "one more": lambda word, at, by: word[:at] + _neighbour(word[at], by) + word[at:],
}
"""Mistakes at a place in a word, of which all but the doubled letter may be at the first."""


def mistyped(word: str, generator: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the kinds of mistakes, each with the word mistyped in this way."""

    def later(text: str) -> int:
        return generator.randrange(1, max(2, len(text) - 1))

    for kind, mistake in _MISTAKES.items():
        yield kind, mistake(word, later(word), generator)
    anywhere = list(_MISTAKES.values())
    yield "the first letter", generator.choice(anywhere)(word, 0, generator)
    once = generator.choice(anywhere)(word, later(word), generator)
    yield "two mistakes", generator.choice(anywhere)(once, later(once), generator)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of test collections")
    vm.start("batch")
    asked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for folder in parser.parse_args().folders:
        for kind, is_found in of_collection(Collection(folder)):
            asked[kind] += 1
            found[kind] += is_found
    print("| mistake | words | found |")
    print("|---|---:|---:|")
    for kind, number in asked.items():
        print(f"| {kind} | {number:,} | {found[kind] / number:.1%} |")


def of_collection(collection: Collection) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each mistake in the words of a collection, and whether it is found."""
    generator = random.Random(3)  # noqa: S311 - reproducible, not secret
    text = " ".join(query.text.lower() for query in read_queries(collection.queries))
    words = sorted({word for word in re.findall("[a-z]+", text) if len(word) >= FEWEST_LETTERS})
    generator.shuffle(words)
    with (
        temporary_index(collection.documents) as (path, _),
        Searcher(path, program="batch") as searcher,
    ):
        for word in words[:WORDS]:
            best = hits(searcher, word, exact=True)[:1]
            for kind, other in mistyped(word, generator) if best else ():
                if other != word and hits(searcher, other, exact=True)[:1] != best:
                    yield kind, best[0] in hits(searcher, other)


def hits(searcher: Searcher, word: str, *, exact: bool = False) -> list[str]:
    """The first chunks that a word finds, or those that it finds as it is typed."""
    syntax: Syntax = "lucene" if exact else "plain"
    answer = searcher.search(word, limit=FIRST_HITS, syntax=syntax, content="none")
    return [hit.id for hit in answer.results]


if __name__ == "__main__":
    main()
