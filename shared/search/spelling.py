"""Spelling of indexed words in documents, since terms have neither case nor accents."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from org.apache.lucene.index import Term
from org.apache.lucene.search import ScoreDoc, TermQuery

from shared.analysis.analyzers import tokens
from shared.model import schema
from shared.storage.mapping import stored_fields

_CHUNKS: Final = 5
"""Number of chunks that are examined: a word is capitalized at the beginning of a sentence."""

_WORD: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+")

_LETTERS_MORE: Final = 4
"""Maximum difference in length between a word and its term, for example due to combining
accents."""


def as_written(searcher: Any, term: str) -> str:
    """Return the most common spelling of a term of the content or titles in some chunks.

    Args:
        searcher: a Lucene searcher.
        term: a word of letters, folded.

    Returns:
        The word with its case and accents; the term itself if none of the chunks has it.
    """
    found: Counter[str] = Counter()
    for field in (schema.CONTENT, schema.TITLE):
        found.update(_forms(searcher, field, term))
        if found:
            # On a tie the lower-case form is the word itself.
            return max(found, key=lambda form: (found[form], form.islower(), form))
    return term


def _forms(searcher: Any, field: str, term: str) -> Iterator[str]:
    stored = searcher.storedFields()
    for hit in searcher.search(TermQuery(Term(field, term)), _CHUNKS).scoreDocs:
        document = stored.document(ScoreDoc.cast_(hit).doc, stored_fields(field))
        for word in _WORD.findall(document.get(field) or ""):
            if _may_be(word, term) and tokens(field, word) == ((term,),):
                yield word


def _may_be(word: str, term: str) -> bool:
    """Check cheaply whether a word can have a term, since folding it takes far longer."""
    begins_alike = word[0].lower() == term[0] or not word[0].isascii()
    return begins_alike and abs(len(word) - len(term)) <= _LETTERS_MORE
