"""Chunks that are like another one: by their vectors, or by the terms that tell it from others."""

import math
from collections import Counter
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final

from org.apache.lucene.index import Term
from org.apache.lucene.search import ScoreDoc, TermQuery

from shared.analysis.analyzers import analyzer_of, positions_of
from shared.analysis.detection import language_of
from shared.analysis.languages import UNDETERMINED
from shared.errors import ChunkNotFoundError
from shared.model import schema
from shared.model.request import SearchRequest
from shared.model.search_results import SimilarChunk, SimilarChunks
from shared.query.index_terms import IndexTerms
from shared.query.lucene import Compiler
from shared.query.tree import Node, Nothing, Terms, any_of, weighted
from shared.search.lucene_selection import LuceneSelection
from shared.search.selection import Meaning, RankedHit
from shared.semantic.models import missing_library
from shared.semantic.sentence_model import SentenceModel
from shared.storage.chunk_queries import known_value
from shared.storage.commits import Snapshot
from shared.storage.stored_chunks import SHOWN_FIELDS, stored_fields, values_from_lucene

_TERMS: Final = 25
"""Number of most significant terms of a text, as in Lucene's ``MoreLikeThis``."""

_CANDIDATES: Final = 100
"""Number of terms that are looked up in the index: the most frequent ones in the text."""

_LARGEST_SHARE: Final = 0.3
"""Share of the chunks beyond which a term is too common to be significant."""


def similar_chunks(snapshot: Snapshot, chunk_id: str, limit: int) -> SimilarChunks:
    """Return the chunks that are most like another one, the most similar first.

    Raises:
        ChunkNotFoundError: there is no such chunk.
    """
    searcher = snapshot.searcher
    known = known_value(searcher, schema.ID, chunk_id)
    found = searcher.search(TermQuery(Term(schema.ID, schema.keyword(known))), 1).scoreDocs
    if not len(found):
        raise ChunkNotFoundError(chunk_id)
    document = ScoreDoc.cast_(found[0]).doc
    near = None
    if snapshot.model and missing_library() is None:
        near = _by_vector(searcher, document, snapshot.model, limit)
    if near is not None:
        return SimilarChunks(chunk_id, "meaning", _chunks(snapshot, near))
    return SimilarChunks(chunk_id, "words", _chunks(snapshot, _by_terms(snapshot, document, limit)))


def _by_vector(
    searcher: Any, document: int, model: SentenceModel, limit: int
) -> list[tuple[int, float]] | None:
    """Return the nearest chunks and their cosines; None if the chunk has no vector.

    A chunk in a language that the model does not know has none.
    """
    from shared.search.meaning import LEAST, chunk_vector, nearest

    vector = chunk_vector(searcher.getIndexReader(), document)
    if vector is None:
        return None
    near = nearest(Meaning(vector, model.unrelated, 1.0, True, searcher), limit + 1, LEAST)
    return [(other, one.cosine) for other, one in near.items() if other != document][:limit]


def _by_terms(snapshot: Snapshot, document: int, limit: int) -> list[tuple[int, float]]:
    """Return the chunks with the most telling terms of a chunk, relative to the chunk itself."""
    everything = LuceneSelection(snapshot, SearchRequest(""))
    (text,) = everything.contents([RankedHit(document, 1.0, 1.0)])
    tree = topic_terms(text, everything.terms)
    if isinstance(tree, Nothing):
        return []
    query = Compiler(everything.terms).query(tree)
    hits = snapshot.searcher.search(query, limit + 1).scoreDocs
    found = {hit.doc: hit.score for hit in map(ScoreDoc.cast_, hits)}
    best = max(found.values(), default=1.0)
    return [(other, min(1.0, score / best)) for other, score in found.items() if other != document][
        :limit
    ]


def topic_terms(text: str, terms: IndexTerms) -> Node:
    """Return any of the significant terms of a text, weighted by frequency and rarity (tf-idf).

    The weights sum to 1; `Nothing` if there are none.
    """
    analyzer = analyzer_of(schema.STEMS, language_of(text) or UNDETERMINED)
    counts = Counter(term for _, term in positions_of(analyzer, text))
    candidates = nlargest(_CANDIDATES, counts.items(), key=itemgetter(1))
    terms.look_up((schema.STEMS, term) for term, _ in candidates)
    informative = {}
    for term, count in candidates:
        frequency = terms.frequency(schema.STEMS, term)
        if 0 < frequency <= max(1, _LARGEST_SHARE * terms.total):
            informative[term] = count * math.log(1 + terms.total / frequency)
    best = sorted(informative.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
    total = sum(value for _, value in best)
    return any_of(*(weighted(Terms(schema.STEMS, (term,)), value / total) for term, value in best))


def _chunks(snapshot: Snapshot, near: list[tuple[int, float]]) -> list[SimilarChunk]:
    stored = snapshot.searcher.storedFields()
    loaded = stored_fields(*SHOWN_FIELDS)
    return [
        SimilarChunk(
            **values_from_lucene(stored.document(document, loaded), snapshot.folders)[0],
            similarity=round(similarity, 3),
        )
        for document, similarity in near
    ]
