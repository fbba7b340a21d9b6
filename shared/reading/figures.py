"""Figures of an index: the terms of a field, the fields and their uses, and statistics.

The frequency of a term may include chunks that were replaced or deleted. If there are any, the best
terms are counted again.
"""

import re
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Final

from shared.analysis.analyzers import folded
from shared.java.cancellation import check
from shared.messages import decodable, shortened
from shared.model import index_results as results, metadata, schema
from shared.model.folders import FILE_FIELD, shown
from shared.model.schema import COLLECTION
from shared.query.tree import Everything, Exists, Terms
from shared.reading.backend import FIRST_CHUNK, Backend, first_of
from shared.storage.field_names import (
    CHUNK_FIELDS,
    FILTERABLE,
    SORTABLE,
    field_named,
    metadata_fields,
    name_of,
)

MAX_LISTED_TERMS: Final = 10_000
"""Maximum number of terms that are compared for one answer."""

_MAX_EXAMPLES: Final = 3
_MAX_EXAMPLE_CANDIDATES: Final = 100
_MAX_EXAMPLE_CHARACTERS: Final = 80

_NAMED_IN_QUERIES: Final = (schema.CONTENT, schema.TITLE, schema.ID, schema.SOURCE_DOCUMENT)
_OPTIONAL: Final = (schema.PATH, schema.METADATA)


def suggest_terms(backend: Backend, name: str, prefix: str, limit: int) -> results.TermList:
    """Return terms with a prefix; see `shared.reading.searcher.Searcher.suggest_terms`."""
    field, folders = field_named(name, backend.fields), backend.folders
    valid = schema.keyword_prefix(prefix)
    spelled = valid if schema.is_keyword_field(field) else folded(valid.strip())
    if not spelled:
        notice = (
            "The prefix has no characters that the index keeps, so no terms match; give another "
            "prefix, or none."
        )
        return results.TermList(name, spelled, [], False, notice)
    beginnings = folders.term_prefixes(spelled) if field == FILE_FIELD else [spelled]
    found = [backend.most_frequent(field, of, MAX_LISTED_TERMS) for of in beginnings]
    complete = all(some.is_whole for some in found)
    pairs = dict(pair for some in found for pair in some.terms)
    candidates = sorted(
        # The prefix of a folder in the index may begin like a path.
        (pair for pair in pairs.items() if shown(field, pair[0], folders).startswith(spelled)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    terms = _term_counts(backend, field, candidates, limit)
    notice = "More terms have this prefix than were compared; give a longer prefix."
    return results.TermList(name, spelled, terms, complete, None if complete else notice)


def top_terms(backend: Backend, name: str, limit: int, min_length: int) -> results.TermList:
    """Return the most frequent terms; see `shared.reading.searcher.Searcher.top_terms`."""
    field = field_named(name, backend.fields)
    # More than requested: some are too short, have no chunk left, or tie with the last one.
    found = backend.most_frequent(field, "", max(limit, MAX_LISTED_TERMS))
    candidates = (pair for pair in found.terms if len(pair[0]) >= min_length)
    terms = _term_counts(backend, field, candidates, limit)
    complete = found.is_whole or (found.is_ranked and len(terms) == limit)
    notice = "Not all terms were compared; give a prefix to find rarer ones."
    return results.TermList(name, "", terms, complete, None if complete else notice)


def _term_counts(
    backend: Backend, field: str, candidates: Iterable[tuple[str, int]], limit: int
) -> list[results.TermCount]:
    """Return the best of some terms, which come with the highest frequency first."""
    best: Iterable[tuple[str, int]] = candidates
    if backend.has_deletions:
        best = _counted(backend, field, candidates, limit)
    return [
        results.TermCount(shown(field, term, backend.folders), count)
        for term, count in islice(best, limit)
    ]


def _counted(
    backend: Backend,
    field: str,
    candidates: Iterable[tuple[str, int]],
    limit: int,
    *,
    of_documents: bool = False,
) -> list[tuple[str, int]]:
    """Return the best of some terms, counting the chunks, or the documents, that are there."""
    best: list[tuple[int, str]] = []
    for term, frequency in candidates:
        check()
        # The frequency is an upper bound of a term's chunks.
        if len(best) >= limit and frequency <= -best[limit - 1][0]:
            break
        chunks = Terms(field, (term,))
        if count := backend.count(first_of(chunks) if of_documents else chunks):
            insort(best, (-count, term))
    return [(term, -rank) for rank, term in best[:limit]]


def list_fields(backend: Backend) -> results.FieldList:
    """Return the fields of an index; see `shared.reading.searcher.Searcher.fields`."""
    existing, total = backend.fields, backend.count(Everything())
    described = [
        *(_chunk_field(backend, field, total) for field in CHUNK_FIELDS),
        *(_metadata_field(backend, field) for field in metadata_fields(existing)),
    ]
    always = CHUNK_FIELDS.keys() - _OPTIONAL
    # After deletions a field may be left without any chunk.
    present = (field for field in described if field.chunks or field.name in always)
    return results.FieldList(total, [*_collection_field(backend, total), *present])


def _collection_field(backend: Backend, total: int) -> Iterator[results.FieldDescription]:
    if backend.collections:
        yield results.FieldDescription(
            name=COLLECTION,
            kind="keyword",
            meaning="parts of the index that have a name",
            chunks=total,
            searchable=False,
            query_name=None,
            filterable=True,
            sortable=False,
            facet=True,
            examples=[*islice(backend.collections, _MAX_EXAMPLES)],
        )


def _chunk_field(backend: Backend, field: str, total: int) -> results.FieldDescription:
    kind, meaning = CHUNK_FIELDS[field]
    return results.FieldDescription(
        name=field,
        kind=kind,
        meaning=meaning,
        # Every chunk has an id, whose field has no doc values that could be looked at.
        chunks=total if field == schema.ID else backend.count(Exists(field)),
        searchable=field != schema.CHUNK_INDEX,
        query_name=field if field in _NAMED_IN_QUERIES else None,
        filterable=field in FILTERABLE,
        sortable=field in SORTABLE,
        facet=False,
        examples=_examples(backend, field) if kind == "keyword" else [],
    )


def _metadata_field(backend: Backend, field: str) -> results.FieldDescription:
    name, chunks = name_of(field), backend.count(Exists(field))
    numbers = schema.number_field(field.removeprefix(schema.metadata_field("")))
    is_number = chunks > 0 and backend.count(Exists(numbers)) == chunks
    # Filters, sort orders and facets resolve a name to the field of every chunk first.
    is_unique = name != field
    # The terms of file paths leave out the path of the folder, so nobody can type them.
    searchable = field != FILE_FIELD
    return results.FieldDescription(
        name=name,
        kind="number" if is_number else "keyword",
        meaning=None,
        chunks=chunks,
        searchable=searchable,
        query_name=_escaped(numbers if is_number else field) if searchable else None,
        filterable=is_unique,
        sortable=is_unique,
        facet=is_unique,
        examples=_examples(backend, field),
    )


def _escaped(field: str) -> str:
    """Return a field in query syntax: a metadata key may contain any characters."""
    return re.sub(r"[^\w.-]", r"\\\g<0>", field)


def _examples(backend: Backend, field: str) -> list[str]:
    # Of many the first ones: to look for the most frequent would take seconds in a large index.
    first = islice(backend.terms.beginning_with(field, ""), _MAX_EXAMPLE_CANDIDATES)
    candidates = sorted(first, key=lambda pair: (-pair[1], pair[0]))
    found = _term_counts(backend, field, candidates, _MAX_EXAMPLES)
    return [shortened(of.term, _MAX_EXAMPLE_CHARACTERS) for of in found]


def statistics(backend: Backend) -> results.IndexStatistics:
    """Return the statistics of a commit; those of a part say nothing of the rest."""
    return results.IndexStatistics(
        path=str(backend.path),
        documents=backend.count(FIRST_CHUNK),
        chunks=backend.count(Everything()),
        languages=_documents_by(metadata.LANGUAGE, backend),
        formats=_documents_by(metadata.FILE_EXTENSION, backend),
        folders={decodable(str(folder.path)): folder.prefix for folder in backend.folders},
        **asdict(backend.figures()),
    )


def _documents_by(key: str, backend: Backend) -> dict[str, int]:
    """Return the number of documents by value of a metadata key, the most frequent first."""
    field = schema.metadata_field(key)
    terms = backend.most_frequent(field, "", MAX_LISTED_TERMS).terms
    return dict(_counted(backend, field, terms, MAX_LISTED_TERMS, of_documents=True))
