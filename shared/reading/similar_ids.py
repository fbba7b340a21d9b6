"""Suggestions for ids that the index does not have."""

import re
from itertools import islice
from typing import Any, Final

from org.apache.lucene.index import Term
from org.apache.lucene.search import RegexpQuery
from org.apache.lucene.search.spell import DirectSpellChecker, SuggestMode

from shared.model import schema
from shared.model.chunks import chunk_id
from shared.storage.chunk_queries import document_query, first_chunks

_MAX_SUGGESTIONS: Final = 3
"""Maximum number of suggested ids."""

_MAX_SIMILAR_TERMS: Final = 20
"""Maximum number of similar terms that are examined: some may belong to deleted documents."""

_MAX_MISSPELLED_ID_LENGTH: Final = 200
"""Maximum length of an id that may be misspelled or incomplete, in characters."""

_MIN_SIMILARITY: Final = 0.5
"""Minimum similarity of two ids, from 0 to 1; Lucene's default
(``DirectSpellChecker.accuracy``)."""

_CHUNK_ID: Final = re.compile(r"(.+)-chunk-\d+", re.DOTALL)


def similar_document_ids(searcher: Any, source_document: str) -> list[str]:
    """Return at most three document ids similar to one that does not exist.

    Letters may be wrong, a part of a path or the extension may be missing, case is ignored, and it
    may be the id of a chunk.

    Args:
        searcher: a Lucene searcher.
        source_document: the id.
    """
    chunk = _CHUNK_ID.fullmatch(source_document)
    if chunk and _chunk_count(searcher, chunk[1]):
        return [chunk[1]]
    if not source_document.strip() or len(source_document) > _MAX_MISSPELLED_ID_LENGTH:
        return []
    checker = DirectSpellChecker()
    checker.setMinQueryLength(1)
    checker.setLowerCaseTerms(False)
    checker.setAccuracy(_MIN_SIMILARITY)
    term = Term(schema.SOURCE_DOCUMENT, source_document)
    reader, mode = searcher.getIndexReader(), SuggestMode.SUGGEST_ALWAYS
    similar = checker.suggestSimilar(term, _MAX_SIMILAR_TERMS, reader, mode)
    names = (str(word.string) for word in similar)
    # Terms of deleted documents stay until segments merge.
    suggestions = [
        *islice((name for name in names if _chunk_count(searcher, name)), _MAX_SUGGESTIONS)
    ]
    return suggestions or _containing(searcher, source_document)


def similar_chunk_ids(searcher: Any, wanted: str) -> list[str]:
    """Return at most three chunk ids similar to one that does not exist.

    Args:
        searcher: a Lucene searcher.
        wanted: the id.
    """
    chunk = _CHUNK_ID.fullmatch(wanted)
    document = chunk[1] if chunk else wanted
    count = _chunk_count(searcher, document)
    if not count:
        return [chunk_id(near, 1) for near in similar_document_ids(searcher, document)]
    return [chunk_id(document, number) for number in sorted({1, count})]


def _chunk_count(searcher: Any, source_document: str) -> int:
    return int(searcher.count(document_query(source_document)))


def _containing(searcher: Any, part: str) -> list[str]:
    """Return document ids that contain a text, ignoring case."""
    name = part.replace("\\", "/").rsplit("/", 1)[-1] or part
    pattern = f".*{''.join(map(_either_case, name))}.*"
    query = first_chunks(RegexpQuery(Term(schema.SOURCE_DOCUMENT, pattern)))
    stored = searcher.storedFields()
    return [
        str(stored.document(hit.doc).get(schema.SOURCE_DOCUMENT))
        for hit in searcher.search(query, _MAX_SUGGESTIONS).scoreDocs
    ]


def _either_case(character: str) -> str:
    """Return a Lucene regular expression for a character in either case."""
    if not character.isalnum():
        return f"\\{character}"
    cases = sorted(
        {case for case in (character, character.lower(), character.upper()) if len(case) == 1}
    )
    return f"[{''.join(cases)}]" if len(cases) > 1 else character
