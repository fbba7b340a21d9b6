"""Queries as people mistype them, the same each time."""

import random
from typing import Final

SHORTEST: Final = 5
"""Letters of a word that is misspelled."""

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Of a keyboard; a letter is taken for one beside it."""


def misspelled(text: str, words: int, generator: random.Random) -> str:
    """A query with mistakes.

    Args:
        text: the query.
        words: how many of its words get one mistake each.
        generator: chooses the words and the mistakes: two letters swapped, one left out, doubled,
            or taken for its neighbour on the keyboard, never the first.
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
