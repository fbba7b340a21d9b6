"""Spelling of indexed words in documents, since terms have neither case nor accents."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from shared.analysis.analyzers import tokens
from shared.model import schema
from shared.search.selection import Selection

TEXTS_OF_A_WORD: Final = 5
"""Number of chunks that are examined: a word is capitalized at the beginning of a sentence."""

_WORD: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+")

_LETTERS_MORE: Final = 4
"""Maximum difference in length between a word and its term, for example due to combining
accents."""


def as_written(selection: Selection, term: str) -> str:
    """Return the most common spelling of a term of the content or titles in some chunks.

    Args:
        selection: any selection of chunks of the index.
        term: a word of letters, folded.

    Returns:
        The word with its case and accents; the term itself if none of the chunks has it.
    """
    found: Counter[str] = Counter()
    for field in (schema.CONTENT, schema.TITLE):
        found.update(_forms(selection, field, term))
        if found:
            # On a tie the lower-case form is the word itself.
            return max(found, key=lambda form: (found[form], form.islower(), form))
    return term


def _forms(selection: Selection, field: str, term: str) -> Iterator[str]:
    for text in selection.texts_with(field, term, TEXTS_OF_A_WORD):
        for word in _WORD.findall(text):
            if _may_be(word, term) and [token.text for token in tokens(word)] == [term]:
                yield word


def _may_be(word: str, term: str) -> bool:
    """Check cheaply whether a word can have a term, since folding it takes far longer."""
    begins_alike = word[0].lower() == term[0] or not word[0].isascii()
    return begins_alike and abs(len(word) - len(term)) <= _LETTERS_MORE
