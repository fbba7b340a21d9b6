"""The terms of the words of a text, each of which is analyzed once and remembered.

The words of texts come again and again (Zipf's law), and to look up base forms takes far longer
than to find a word in a dictionary of Python's.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from org.apache.lucene.analysis import TokenStream
from org.apache.lucene.analysis.tokenattributes import CharTermAttribute, OffsetAttribute

from shared.analysis.analyzers import query_analyzer

_REMEMBERED: Final = 50_000
"""Words of a field whose terms are remembered, with some 200 bytes each."""

_LONGEST: Final = 64
"""Characters of a word that may come again; longer ones are addresses and encoded data."""

_SEPARATOR: Final = "\n"


class WordTerms:
    """The terms of words in one field. Threads may share it.

    Args:
        field: a field whose terms come from one word each; see `shared.analysis.languages`.
    """

    def __init__(self, field: str) -> None:
        self._field = field
        self._terms: dict[str, Sequence[str]] = {}

    def of(self, words: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The terms of words.

        Args:
            words: what stands between two blanks each, with the signs before and behind it.
        """
        # Bound once: another thread may put others in their place. Nothing is taken out of any.
        known = self._terms
        missing = [word for word in words if word not in known and len(word) <= _LONGEST]
        if missing:
            if len(known) + len(missing) > _REMEMBERED:
                known = self._terms = {word: known[word] for word in words if word in known}
            known.update(_analyzed(self._field, missing))
        return {word: terms for word in words if (terms := known.get(word))}


@cache
def word_terms(field: str) -> WordTerms:
    """The words of a field that are remembered."""
    return WordTerms(field)


def _analyzed(field: str, words: Collection[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each word with its terms; all are analyzed at once, and told apart by their offsets."""
    # Java counts the two halves of a character beyond the basic plane.
    lengths = (len(word.encode("utf-16-le")) // 2 + len(_SEPARATOR) for word in words)
    starts = list(accumulate(lengths, initial=0))
    found: dict[int, list[str]] = defaultdict(list)
    for start, term in _tokens(field, _SEPARATOR.join(words)):
        found[bisect_right(starts, start) - 1].append(term)
    return ((word, tuple(found[number])) for number, word in enumerate(words))


def _tokens(field: str, text: str) -> Iterator[tuple[int, str]]:
    """The terms of a text, each with its place in it."""
    stream = TokenStream.cast_(query_analyzer(field).tokenStream(field, text))
    term = CharTermAttribute.cast_(stream.getAttribute(CharTermAttribute.class_))
    offset = OffsetAttribute.cast_(stream.getAttribute(OffsetAttribute.class_))
    try:
        stream.reset()
        while stream.incrementToken():
            yield offset.startOffset(), term.toString()
        stream.end()
    finally:
        stream.close()
