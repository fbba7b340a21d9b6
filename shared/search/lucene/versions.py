"""Documents of an index folder with the fingerprints of their texts."""

from collections.abc import Callable, Iterable
from typing import Any

from org.apache.lucene.search import ScoreDoc, Sort

from shared.analysis.fingerprints import Fingerprint
from shared.model import schema
from shared.model.metadata import MODIFIED
from shared.search.lucene.doc_values import documents_of, greatest_values
from shared.search.selection import Fingerprinted
from shared.storage.fingerprints import fingerprints_of
from shared.storage.mapping import stored_fields


def documents_matching(
    searcher: Any,
    query: Any,
    count: int,
    is_wanted: Callable[[Fingerprint], bool] = lambda _: True,
) -> list[Fingerprinted]:
    """Return the documents whose fingerprints are in the chunks that a query matches.

    Args:
        searcher: a Lucene searcher.
        query: the query, see `shared.storage.fingerprints`.
        count: the maximum number of documents to look at, from 1: the first ones of the index.
        is_wanted: chooses among them by their fingerprints.
    """
    hits = searcher.search(query, count, Sort.INDEXORDER).scoreDocs
    return fingerprinted(searcher, [ScoreDoc.cast_(hit).doc for hit in hits], is_wanted)


def fingerprinted(
    searcher: Any,
    chunks: Iterable[int],
    is_wanted: Callable[[Fingerprint], bool] = lambda _: True,
) -> list[Fingerprinted]:
    """Return the documents of some chunks that have fingerprints.

    Args:
        searcher: a Lucene searcher.
        chunks: Lucene's numbers of the chunks; those without a fingerprint are left out.
        is_wanted: chooses among the documents by their fingerprints.
    """
    reader = searcher.getIndexReader()
    every = fingerprints_of(reader, chunks)
    fingerprints = {chunk: found for chunk, found in every.items() if is_wanted(found)}
    documents = documents_of(reader, fingerprints)
    modified = greatest_values(reader, MODIFIED, fingerprints)
    return [
        Fingerprinted(
            documents[chunk], _id(searcher, chunk, documents[chunk]), found, modified.get(chunk)
        )
        for chunk, found in fingerprints.items()
    ]


def _id(searcher: Any, chunk: int, term: str) -> str:
    """Return the id of a document, which may be too long to be its term."""
    if "\0" not in term:
        return term
    stored = searcher.storedFields().document(chunk, stored_fields(schema.SOURCE_DOCUMENT))
    return str(stored.get(schema.SOURCE_DOCUMENT))
