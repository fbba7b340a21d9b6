"""Texts in the words of real ones, with a long tail of rare words as real collections have it."""

import random
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

TEXTS: Final = Path(__file__).parents[1] / "data" / "languages"
WORDS_OF_A_CHUNK: Final = 250
RARE_WORDS: Final = 200_000
SHARE_OF_RARE_WORDS: Final = 0.3
"""Of the words of a text; the others are those of the declaration of human rights."""

_SYLLABLES: Final = re.findall("[^aeiou]+[aeiou]", "bacedifogujakilomunaperisotuvawexiyozutraple")

SHARE_OF_NAMES: Final = 0.1  # of the texts: those that have a number such as INV-00815


def rare_words(generator: random.Random) -> tuple[list[str], list[float]]:
    """Made-up words with the cumulated weights of Zipf's law (word n is 1/n as frequent)."""
    words: dict[str, None] = {}
    while len(words) < RARE_WORDS:
        length = generator.randint(2, 5)
        words["".join(generator.choices(_SYLLABLES, k=length)) + generator.choice("nrstlm")] = None
    return list(words), list(accumulate(1 / rank for rank in range(1, RARE_WORDS + 1)))


class Text(NamedTuple):
    """A text of 250 words, and the code of its language."""

    language: str
    content: str


def chunks(count: int, seed: int = 1) -> Iterator[Text]:
    generator = random.Random(seed)  # noqa: S311 - reproducible, not secret
    rare, weights = rare_words(generator)
    real = {
        language: re.findall(r"\S+", (TEXTS / f"{language}.txt").read_text("utf-8"))
        for language in ("en", "de", "fr")
    }
    for _ in range(count):
        (language,) = generator.choices(list(real), [8, 1, 1])
        words = real[language]
        begin = generator.randrange(len(words) - WORDS_OF_A_CHUNK)
        text = words[begin : begin + WORDS_OF_A_CHUNK]
        generator.shuffle(text)
        places = generator.sample(
            range(WORDS_OF_A_CHUNK), round(SHARE_OF_RARE_WORDS * WORDS_OF_A_CHUNK)
        )
        for place, word in zip(
            places, generator.choices(rare, cum_weights=weights, k=len(places)), strict=True
        ):
            text[place] = word
        if generator.random() < SHARE_OF_NAMES:
            text[0] = f"INV-{generator.randrange(100_000):05}"
        yield Text(language, " ".join(text))
