"""How often a text comes first that is looked for by some of its own words.

People and models paste a piece of a text, or type the words of it that they remember. The one right
answer is known, which no person has to judge.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared import Document, Searcher
from shared.analysis.languages import function_words
from shared.model.weights import DEFAULT_WEIGHTS, Weights

TEXTS: Final = 300
"""Texts that are looked for, with each kind of query."""

FEWEST_WORDS: Final = 60
"""Words of a text that is looked for."""


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
    """For each of the weights, the share of texts that come first.

    Args:
        documents: those of the index.
        index_path: the index.
    """
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
