"""The parts of a text that match a query, with marks that show where."""

from typing import Any, Final

from org.apache.lucene.analysis import Analyzer
from org.apache.lucene.search.highlight import (
    Highlighter,
    QueryScorer,
    SimpleFragmenter,
    SimpleHTMLFormatter,
)

from shared import schema
from shared.results import MARKS

MAX_PASSAGES: Final = 3

PASSAGE_LENGTH: Final = 200
"""Characters that a passage is about long; it ends with a whole word."""


def passages(query: Any, text: str, analyzer: Analyzer) -> list[str]:
    """The parts of a text that match a query best, the best first.

    Args:
        query: the query that found the text.
        text: the content of a chunk.
        analyzer: the analyzer that the index was written with.

    Returns:
        One to three passages of about 200 characters; the beginning of the text where nothing in
        it matched, as when only the title did.
    """
    highlighter = Highlighter(SimpleHTMLFormatter(*MARKS), QueryScorer(query, schema.CONTENT))
    highlighter.setTextFragmenter(SimpleFragmenter(PASSAGE_LENGTH))
    highlighter.setMaxDocCharsToAnalyze(max(len(text), 1) * 2)
    tokens = analyzer.tokenStream(schema.CONTENT, text)
    found = highlighter.getBestFragments(tokens, text, MAX_PASSAGES)
    return [passage.strip() for passage in found] or [_beginning(text)]


def _beginning(text: str) -> str:
    """The words within the length of a passage; a part of the first if it is longer."""
    if len(text) <= PASSAGE_LENGTH:
        return text
    words = text[:PASSAGE_LENGTH].rsplit(maxsplit=1)
    return words[0] if words else ""
