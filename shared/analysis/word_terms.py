"""Terms of the words of a text, with a cache of analyzed words.

The words of texts recur (Zipf's law), and looking up base forms takes far longer than finding a
word in a Python dictionary.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

import lucene  # noqa: F401 - makes the packages org and java importable
from org.apache.lucene.analysis import TokenStream
from org.apache.lucene.analysis.tokenattributes import CharTermAttribute, OffsetAttribute

from shared.analysis.analyzers import query_analyzer

_REMEMBERED: Final = 50_000
"""Maximum number of words of a field whose terms are cached, with some 200 bytes each."""

_LONGEST: Final = 64
"""Maximum length of a cached word, in characters; longer ones are addresses and encoded data."""

_SEPARATOR: Final = "\n"


class WordTerms:
    """Cache of the terms of words in one field; threads may share it.

    Args:
        field: a field whose terms are made from one word each; see `shared.analysis.languages`.
    """

    def __init__(self, field: str) -> None:
        self._field = field
        self._terms: dict[str, Sequence[str]] = {}

    def of(self, words: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the terms of words.

        Args:
            words: words as separated by blanks, with the punctuation around them.
        """
        # Bound once, since another thread may replace the dictionary. No dictionary loses entries.
        known = self._terms
        missing = [word for word in words if word not in known and len(word) <= _LONGEST]
        if missing:
            if len(known) + len(missing) > _REMEMBERED:
                known = self._terms = {word: known[word] for word in words if word in known}
            known.update(_analyzed(self._field, missing))
        return {word: terms for word in words if (terms := known.get(word))}


@cache
def word_terms(field: str) -> WordTerms:
    """Return the cache of a field."""
    return WordTerms(field)


def _analyzed(field: str, words: Collection[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Return each word with its terms; all words are analyzed at once and separated by offset."""
    # Java counts a character beyond the basic plane as two.
    lengths = (len(word.encode("utf-16-le")) // 2 + len(_SEPARATOR) for word in words)
    starts = list(accumulate(lengths, initial=0))
    found: dict[int, list[str]] = defaultdict(list)
    for start, term in _tokens(field, _SEPARATOR.join(words)):
        found[bisect_right(starts, start) - 1].append(term)
    return ((word, tuple(found[number])) for number, word in enumerate(words))


def _tokens(field: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the terms of a text, each with its offset."""
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
