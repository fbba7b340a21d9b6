"""Sketches of texts, which estimate how much two texts have in common.

A text is taken as the set of its shingles, which are all sequences of four words. Two texts
resemble each other by the share of shingles that they have in common (Broder 1997, On the
resemblance and containment of documents). The least numbers among the hashes of all shingles are a
random sample of the set, by which the share is estimated, with a standard error of .04 for texts
that have four fifths in common.
"""

import re
from array import array
from collections.abc import Sequence
from typing import Final
from zlib import crc32

_SHINGLE_WORDS: Final = 4
"""Number of words of a shingle: with fewer, different texts have common phrases in common."""

SKETCH_NUMBERS: Final = 128
"""Maximum number of hashes in a sketch, 4 bytes each."""

_WORD: Final = re.compile(r"\w+")


class Sketch:
    """Sketch of a text that comes in parts, which may overlap.

    Attributes:
        numbers: the least hashes of its shingles, ascending; empty for a text without words.
    """

    def __init__(self) -> None:
        self.numbers: Sequence[int] = array("I")

    def add(self, text: str) -> None:
        """Add a part of the text; shingles across two parts count only if the parts overlap."""
        words = _WORD.findall(text.casefold())
        count = max(1, len(words) - _SHINGLE_WORDS + 1) if words else 0
        shingles = (" ".join(words[start : start + _SHINGLE_WORDS]) for start in range(count))
        hashes = {crc32(shingle.encode("utf-8", "surrogatepass")) for shingle in shingles}
        self.numbers = array("I", sorted(hashes.union(self.numbers))[:SKETCH_NUMBERS])


def resemblance(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the estimated share of common shingles of two texts, from 0 to 1.

    Args:
        one: the numbers of the sketch of a text.
        other: those of another one.
    """
    both = {*one} & {*other}
    least = sorted({*one, *other})[:SKETCH_NUMBERS]
    return sum(number in both for number in least) / len(least) if least else 0.0
