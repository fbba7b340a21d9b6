"""Passages of a text that match a query, with the matches highlighted."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from org.apache.lucene.search.highlight import (
    Highlighter,
    QueryScorer,
    SimpleFragmenter,
    SimpleHTMLFormatter,
    TextFragment,
)

from shared.analysis.analyzers import query_analyzer, tokens
from shared.analysis.detection import languages_of
from shared.analysis.identifiers import words_in
from shared.analysis.languages import UNDETERMINED, WITHOUT_BLANKS
from shared.analysis.stems import stems
from shared.model import schema
from shared.model.search_results import MARKS
from shared.query.compiler import Compiler
from shared.query.pipeline import ParsedQuery
from shared.query.tree import (
    Fuzzy,
    Leaf,
    Node,
    Pattern,
    TermPhrase,
    Terms,
    any_of,
    leaves,
    weighted,
)

MAX_PASSAGES: Final = 3

_PAIR_OF_SYLLABLES: Final = re.compile("[가-힣]{2}")
"""Bigram of Korean; other words, and single syllables, are terms as they are."""

PASSAGE_LENGTH: Final = 200
"""Approximate length of a passage, in characters; it ends with a whole word."""


class Passages:
    """Highlighter of the passages that match one query.

    Function words are not highlighted if the query has other words, and rarer parts weigh more in
    the choice of passages.

    Args:
        wordings: the parts of the query, in each of its wordings.
    """

    def __init__(self, query: ParsedQuery) -> None:
        rarities: dict[Node, float] = {}
        self._stems: dict[str, float] = {}
        for part in chain(query.parts, query.rewritten):
            for leaf in leaves(part.found):
                if isinstance(leaf, Terms) and leaf.field == schema.STEMS:
                    for text in leaf.texts:
                        self._stems[text] = max(part.rarity, self._stems.get(text, 0.0))
                for node in _in_content(leaf):
                    rarities[node] = max(part.rarity, rarities.get(node, 0.0))
        self._marked = [weighted(node, rarity) for node, rarity in rarities.items()]

    def best_in(self, text: str) -> list[str]:
        """Return the passages of a chunk's content that match best, the best first.

        Returns:
            One to three passages of about 200 characters; the beginning of the text if nothing in
            it matched, for example if only the title did.
        """
        found = _found(self._query(text), text, PASSAGE_LENGTH, MAX_PASSAGES)
        return [passage.strip() for passage in found] or [_beginning(text)]

    def marked(self, text: str) -> str:
        """Return a whole text with each match between `MARKS`."""
        return next(iter(_found(self._query(text), text, len(text) + 1, 1)), text)

    def _query(self, text: str) -> Any:
        return Compiler().query(any_of(*self._marked, *self._words_of(text)))

    def _words_of(self, text: str) -> Iterator[Node]:
        """Yield the words of a text that have the stems of the query."""
        languages = languages_of(text) or (UNDETERMINED,)
        blanks = [code for code in languages if code not in WITHOUT_BLANKS]
        for word, found in stems(blanks, set(words_in(text)), text).items():
            rarity = max((self._stems.get(stem, 0.0) for stem in found), default=0.0)
            if rarity:
                for terms in tokens(schema.CONTENT, word):
                    yield weighted(Terms(schema.CONTENT, tuple(terms)), rarity)
        if len(blanks) < len(languages):
            for stem, rarity in self._stems.items():
                yield from (weighted(node, rarity) for node in _segment(stem.partition(":")[2]))


def _found(query: Any, text: str, length: int, most: int) -> list[str]:
    highlighter = Highlighter(SimpleHTMLFormatter(*MARKS), QueryScorer(query, schema.CONTENT))
    highlighter.setTextFragmenter(SimpleFragmenter(length))
    highlighter.setMaxDocCharsToAnalyze(max(len(text), 1) * 2)
    stream = query_analyzer(schema.CONTENT).tokenStream(schema.CONTENT, text)
    fragments = highlighter.getBestTextFragments(stream, text, False, most)
    found = (TextFragment.cast_(fragment) for fragment in fragments if fragment is not None)
    return [fragment.toString() for fragment in found if fragment.getScore() > 0]


def _in_content(leaf: Leaf) -> Iterator[Node]:
    """Yield the nodes that a leaf matches among the words of the content and their base forms."""
    match leaf:
        case Terms(schema.IDENTIFIERS, texts):
            for text in texts:
                yield from (
                    Terms(schema.CONTENT, tuple(terms)) for terms in tokens(schema.CONTENT, text)
                )
        case Pattern(schema.REVERSED, pattern):
            yield Pattern(schema.CONTENT, f"*{pattern.removesuffix('*')[::-1]}", scored=False)
        case Pattern(schema.CONTENT, pattern):
            yield Pattern(schema.CONTENT, pattern, scored=False)
        case Terms(schema.CONTENT) | TermPhrase(schema.CONTENT) | Fuzzy(field=schema.CONTENT):
            yield leaf


def _segment(text: str) -> Iterator[Node]:
    """Yield the nodes in the content for a term of a language without blanks between words."""
    if _PAIR_OF_SYLLABLES.fullmatch(text):
        # Korean words are separated by blanks, and contain the bigrams.
        yield Pattern(schema.CONTENT, f"*{text}*", scored=False)
    elif positions := tokens(schema.CONTENT, text):
        if len(positions) == 1:
            yield Terms(schema.CONTENT, tuple(positions[0]))
        else:
            yield TermPhrase(schema.CONTENT, tuple(map(tuple, positions)))


def _beginning(text: str) -> str:
    """Return the words within the length of a passage; a part of the first if it is longer."""
    if len(text) <= PASSAGE_LENGTH:
        return text
    words = text[:PASSAGE_LENGTH].rsplit(maxsplit=1)
    return words[0] if words else ""
