"""Chunks: by id, their neighbours, those of a document, and those that are like another one.

An id that the index does not have gets an error that suggests similar ones.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Final

from shared.analysis.analyzers import analyzer_of, positions_of
from shared.analysis.detection import language_of
from shared.analysis.languages import UNDETERMINED
from shared.errors import ChunkNotFoundError, DocumentNotFoundError
from shared.model import schema, search_results
from shared.model.document import chunk_id as id_of_chunk
from shared.query import tree
from shared.query.terms import IndexTerms
from shared.reading.backend import Backend, Stored, chunks_of, first_of, spelled, value_of
from shared.settings.defaults import MAX_COUNT
from shared.storage.stored_chunks import SHOWN_FIELDS, from_lucene, values_from_lucene

_MAX_SUGGESTIONS: Final = 3

_MAX_MISSPELLED_ID_LENGTH: Final = 200
"""Maximum length of an id that may be misspelled or incomplete, in characters."""

_MAX_EDITS: Final = 2
"""Maximum number of letters by which similar ids differ, at most half of them."""

_CHUNK_ID: Final = re.compile(r"(.+)-chunk-\d+", re.DOTALL)

_TERMS: Final = 25
"""Number of most significant terms of a text, as in Lucene's ``MoreLikeThis``."""

_CANDIDATES: Final = 100
"""Number of terms that are looked up in the index: the most frequent ones in the text."""

_LARGEST_SHARE: Final = 0.3
"""Share of the chunks beyond which a term is too common to be significant."""


def find_chunk(backend: Backend, chunk_id: str) -> search_results.ChunkText:
    """Return the chunk with an id, or raise `ChunkNotFoundError`."""
    chunk = value_of(schema.ID, spelled(backend, schema.ID, chunk_id))
    for stored in backend.stored(chunk, SHOWN_FIELDS, limit=1):
        return from_lucene(stored, backend.folders)
    raise ChunkNotFoundError(chunk_id, _similar_chunk_ids(backend, chunk_id))


def next_chunk(backend: Backend, chunk_id: str) -> search_results.Neighbour:
    here = find_chunk(backend, chunk_id)
    after = _in_order(backend, here.source_document, here.chunk_index + 1, limit=2)
    chunk = after[0] if after else None
    return search_results.Neighbour(chunk, has_next=len(after) > 1, has_previous=True)


def previous_chunk(backend: Backend, chunk_id: str) -> search_results.Neighbour:
    here = find_chunk(backend, chunk_id)
    last, backwards = here.chunk_index - 1, f"-{schema.CHUNK_INDEX}"
    before = _in_order(backend, here.source_document, last=last, limit=2, sort=backwards)
    chunk = before[0] if before else None
    return search_results.Neighbour(chunk, has_next=True, has_previous=len(before) > 1)


def document_chunks(
    backend: Backend, source_document: str, start_index: int, count: int | None
) -> search_results.DocumentChunks:
    """Return chunks of a document in order, or raise `DocumentNotFoundError`."""
    source_document = spelled(backend, schema.SOURCE_DOCUMENT, source_document)
    total = backend.count(chunks_of(source_document))
    if not total:
        raise DocumentNotFoundError(source_document, _similar_ids(backend, source_document))
    limit = total if count is None else min(count, total)
    return search_results.DocumentChunks(
        source_document, total, _in_order(backend, source_document, start_index, limit=limit)
    )


def chunks_of_page(backend: Backend, source_document: str, page: int) -> range:
    """Return the numbers of the chunks with text of a page, from 1; empty if it has none."""
    answer = document_chunks(backend, source_document, 1, 1)
    source_document, total = answer.source_document, answer.total_chunks

    def place(index: int) -> search_results.Citation:
        (chunk,) = _in_order(backend, source_document, index, limit=1)
        return chunk

    # Pages ascend from chunk to chunk, so that few of a long document need to be read.
    numbers = range(1, total + 1)
    first = bisect_left(numbers, page, key=lambda index: place(index).page_end or 0)
    end = bisect_right(numbers, page, lo=first, key=lambda index: place(index).page_start or 0)
    return numbers[first:end]


def _in_order(
    backend: Backend,
    source_document: str,
    first: int = 1,
    last: int = MAX_COUNT,
    *,
    limit: int,
    sort: str = schema.CHUNK_INDEX,
) -> list[search_results.ChunkText]:
    """Return at most `limit` chunks with numbers from `first` to `last`, inclusive."""
    if first > MAX_COUNT:
        return []
    chunks = tree.all_of(chunks_of(source_document), tree.Between(schema.CHUNK_INDEX, first, last))
    found = backend.stored(chunks, SHOWN_FIELDS, sort, limit=limit)
    return [from_lucene(stored, backend.folders) for stored in found]


def _similar_ids(backend: Backend, wanted: str) -> list[str]:
    """Return a few document ids similar to one that does not exist.

    Letters may be wrong, a part of a path or the extension may be missing, case is ignored, and it
    may be the id of a chunk.
    """
    chunk = _CHUNK_ID.fullmatch(wanted)
    if chunk and backend.count(chunks_of(chunk[1])):
        return [chunk[1]]
    if not wanted.strip() or len(wanted) > _MAX_MISSPELLED_ID_LENGTH:
        return []
    edits = min(_MAX_EDITS, len(wanted) // 2)
    name = wanted.replace("\\", "/").rsplit("/", 1)[-1] or wanted
    containing = f".*{''.join(map(_either_case, name))}.*"
    for similar in (
        tree.Fuzzy(wanted, edits, field=schema.SOURCE_DOCUMENT),
        tree.Expression(containing, schema.SOURCE_DOCUMENT),
    ):
        found = backend.scored(first_of(similar), _MAX_SUGGESTIONS)
        if found:
            return [from_lucene(stored, backend.folders).source_document for stored, _ in found]
    return []


def _similar_chunk_ids(backend: Backend, wanted: str) -> list[str]:
    chunk = _CHUNK_ID.fullmatch(wanted)
    document = chunk[1] if chunk else wanted
    count = backend.count(chunks_of(document))
    if not count:
        return [id_of_chunk(near, 1) for near in _similar_ids(backend, document)]
    return [id_of_chunk(document, number) for number in sorted({1, count})]


def _either_case(character: str) -> str:
    """Return a regular expression for a character in either case."""
    if not character.isalnum():
        return f"\\{character}"
    cases = sorted(
        {case for case in (character, character.lower(), character.upper()) if len(case) == 1}
    )
    return f"[{''.join(cases)}]" if len(cases) > 1 else character


def similar_chunks(backend: Backend, chunk_id: str, limit: int) -> search_results.SimilarChunks:
    """Return the chunks that are most like another one, by their vectors or else by their terms.

    Only the terms that tell it from others count, relative to the chunk itself.
    """
    chunk = find_chunk(backend, chunk_id)
    near = backend.nearest(chunk.id, limit)
    if near is not None:
        return search_results.SimilarChunks(chunk_id, "meaning", _similar(backend, near))
    topic = _topic_terms(chunk.content, backend.terms)
    by_terms = [] if isinstance(topic, tree.Nothing) else backend.scored(topic, limit + 1)
    best = max((score for _, score in by_terms), default=1.0)
    relative = [(stored, min(1.0, score / best)) for stored, score in by_terms]
    others = [other for other in _similar(backend, relative) if other.id != chunk.id]
    return search_results.SimilarChunks(chunk_id, "words", others[:limit])


def _similar(
    backend: Backend, near: Sequence[tuple[Stored, float]]
) -> list[search_results.SimilarChunk]:
    return [
        search_results.SimilarChunk(
            **values_from_lucene(stored, backend.folders)[0], similarity=round(similarity, 3)
        )
        for stored, similarity in near
    ]


def _topic_terms(text: str, terms: IndexTerms) -> tree.Node:
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
    return tree.any_of(
        *(tree.weighted(tree.Terms(schema.STEMS, (term,)), value / total) for term, value in best)
    )
