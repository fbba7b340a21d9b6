"""Passages of a text that match a query, with the matches highlighted."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from org.apache.lucene.search.highlight import (
    Highlighter,
    QueryScorer,
    SimpleFragmenter,
    SimpleHTMLFormatter,
    TextFragment,
)

from shared.analysis.analyzers import passage_analyzer, tokens
from shared.analysis.detection import languages_of
from shared.analysis.languages import WITH_BIGRAMS
from shared.analysis.transliteration import transliterable, without_digraphs
from shared.model import schema
from shared.model.search_results import MARKS
from shared.query.compiler import Compiler
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
from shared.search.query_parts import Part

MAX_PASSAGES: Final = 3

_KOREAN: Final = "ko"
"""Code of Korean, whose words are separated by blanks and contain the bigrams; in the content,
Chinese and Japanese terms are single characters."""

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

    def __init__(self, wordings: Iterable[Iterable[Part]]) -> None:
        rarities: dict[Node, float] = {}
        self._spellings: dict[str, float] = {}
        for part in chain(*wordings):
            for leaf in chain(*(leaves(way) for way, _ in part.ways)):
                for node in _in_content(leaf):
                    rarities[node] = max(part.rarity, rarities.get(node, 0.0))
                if isinstance(leaf, Terms) and leaf.field == schema.TRANSLITERATED:
                    self._spellings |= dict.fromkeys(leaf.texts, part.rarity)
        words = {text for node in rarities if isinstance(node, Terms) for text in node.texts}
        self._marked = [
            weighted(node, rarity)
            for node, rarity in rarities.items()
            if not _is_covered(node, words)
        ]
        self._query = Compiler().query(any_of(*self._marked))

    def of(self, text: str) -> list[str]:
        """Return the passages of a chunk's content that match best, the best first.

        Returns:
            One to three passages of about 200 characters; the beginning of the text if nothing in
            it matched, for example if only the title did.
        """
        languages = languages_of(text)
        query = self._query_for(text, german="de" in languages)
        found = max((_found(query, text, language) for language in languages or ("",)), key=_marks)
        return [passage.strip() for passage in found] or [_beginning(text)]

    def _query_for(self, text: str, *, german: bool) -> Any:
        """Return the query for a text, with spellings such as Mueller for Müller if indexed."""
        if not self._spellings:
            return self._query
        words = transliterable(dict.fromkeys(text.split()), german=german)
        terms = chain(*tokens(schema.CONTENT, words))
        spelled = {
            term: self._spellings[spelling]
            for term in terms
            if (spelling := without_digraphs(term)) in self._spellings
        }
        if not spelled:
            return self._query
        also = (weighted(Terms(schema.CONTENT, (term,)), spelled[term]) for term in spelled)
        return Compiler().query(any_of(*self._marked, *also))


def _found(query: Any, text: str, language: str) -> list[str]:
    highlighter = Highlighter(SimpleHTMLFormatter(*MARKS), QueryScorer(query, schema.CONTENT))
    highlighter.setTextFragmenter(SimpleFragmenter(PASSAGE_LENGTH))
    highlighter.setMaxDocCharsToAnalyze(max(len(text), 1) * 2)
    stream = passage_analyzer(language).tokenStream(schema.CONTENT, text)
    fragments = highlighter.getBestTextFragments(stream, text, False, MAX_PASSAGES)
    found = (TextFragment.cast_(fragment) for fragment in fragments if fragment is not None)
    return [fragment.toString() for fragment in found if fragment.getScore() > 0]


def _is_covered(node: Node, words: set[str]) -> bool:
    """Check whether all words of a phrase are highlighted individually, which is faster."""
    return isinstance(node, TermPhrase) and words.issuperset(chain(*node.positions))


def _marks(passages: list[str]) -> int:
    return sum(passage.count(MARKS[0]) for passage in passages)


def _in_content(leaf: Leaf) -> Iterator[Node]:
    """Yield the nodes that a leaf matches among the words of the content and their base forms."""
    match leaf:
        case Terms(schema.IDENTIFIERS, texts):
            for text in texts:
                yield from (
                    Terms(schema.CONTENT, tuple(terms)) for terms in tokens(schema.CONTENT, text)
                )
        case Terms(schema.TRANSLITERATED):
            # The words of a text that are indexed this way are only known for each text.
            pass
        case Terms(field, texts) if schema.language_of(field) == _KOREAN:
            yield from map(_korean, texts)
        case Terms(field, texts) if schema.language_of(field) in WITH_BIGRAMS:
            yield from (TermPhrase(schema.CONTENT, tuple(zip(text))) for text in texts)
        case Terms(field, texts) if field.startswith(f"{schema.CONTENT}."):
            yield Terms(schema.CONTENT, texts)
        case Pattern(schema.REVERSED, pattern):
            yield Pattern(schema.CONTENT, f"*{pattern.removesuffix('*')[::-1]}", scored=False)
        case Pattern(schema.CONTENT, pattern):
            yield Pattern(schema.CONTENT, pattern, scored=False)
        case Terms(schema.CONTENT) | TermPhrase(schema.CONTENT) | Fuzzy(field=schema.CONTENT):
            yield leaf


def _korean(text: str) -> Node:
    """Return the node for a Korean term in the content: any word that contains it, or itself."""
    if _PAIR_OF_SYLLABLES.fullmatch(text):
        return Pattern(schema.CONTENT, f"*{text}*", scored=False)
    return Terms(schema.CONTENT, (text,))


def _beginning(text: str) -> str:
    """Return the words within the length of a passage; a part of the first if it is longer."""
    if len(text) <= PASSAGE_LENGTH:
        return text
    words = text[:PASSAGE_LENGTH].rsplit(maxsplit=1)
    return words[0] if words else ""
