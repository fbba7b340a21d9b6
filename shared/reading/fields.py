"""Fields of an index and their uses."""

import re
from collections.abc import Callable, Iterable, Mapping, Set as AbstractSet
from functools import partial
from itertools import islice
from typing import Final

from org.apache.lucene.search import FieldExistsQuery

from shared.messages import shortened
from shared.model import schema
from shared.model.filters import Collections
from shared.model.index_results import FieldDescription, FieldKind, FieldList
from shared.model.schema import COLLECTION
from shared.reading.terms import example_terms
from shared.storage.commits import Snapshot
from shared.storage.field_names import (
    CHUNK_FIELDS,
    fields_with_terms,
    metadata_fields,
    name_of,
)
from shared.storage.terms import FILE_FIELD

Count = Callable[[str], int]
Examples = Callable[[str], Iterable[str]]

_MAX_EXAMPLES: Final = 3
_MAX_EXAMPLE_CHARACTERS: Final = 80

_MEANINGS: Final[Mapping[str, tuple[FieldKind, str]]] = {
    schema.CONTENT: ("text", "words of the chunks, as written"),
    schema.TITLE: ("text", "words of the document titles"),
    schema.STEMS: (
        "text",
        "stems of the words of titles, headings and chunks",
    ),
    schema.TITLE_STEMS: ("text", "stems of the words of the document titles"),
    schema.PATH: ("text", "words of the names of files and folders"),
    schema.METADATA: ("text", "words of text metadata, such as authors"),
    schema.ID: ("keyword", "ids of chunks"),
    schema.SOURCE_DOCUMENT: ("keyword", "ids of documents"),
    schema.CHUNK_INDEX: ("number", "position of a chunk in its document, from 1"),
}
_NAMED_IN_QUERIES: Final = (schema.CONTENT, schema.TITLE, schema.ID, schema.SOURCE_DOCUMENT)
_FILTERABLE: Final = (schema.ID, schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX)
_SORTABLE: Final = (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX)
_OPTIONAL: Final = (schema.PATH, schema.METADATA)
_TERMS_ONLY: Final = (schema.ID,)
"""Fields without norms and doc values, one of which a `FieldExistsQuery` requires."""


def list_fields(snapshot: Snapshot) -> FieldList:
    """Return the fields of an index; see `shared.reading.searcher.Searcher.fields`."""
    reader = snapshot.reader
    return described_fields(
        fields_with_terms(reader),
        reader.numDocs(),
        partial(_chunk_count, snapshot),
        partial(example_terms, snapshot, count=_MAX_EXAMPLES),
        snapshot.collections,
    )


def described_fields(
    existing: AbstractSet[str],
    total: int,
    count: Count,
    examples: Examples,
    collections: Collections,
) -> FieldList:
    """Return descriptions of the fields of an index.

    Args:
        existing: the fields that have terms.
        total: the number of chunks.
        count: a function that returns the number of chunks that have a field.
        examples: a function that returns some terms of a field.
        collections: the collections that a filter can name.
    """
    descriptions = [
        *(_chunk_field(field, count, examples) for field in CHUNK_FIELDS),
        *(_metadata_field(field, count, examples) for field in metadata_fields(existing)),
    ]
    return FieldList(
        total_chunks=total,
        # After deletions a field may be left without any chunk.
        fields=[
            *([_collection_field(collections, total)] if collections else []),
            *(
                description
                for description in descriptions
                if description.chunks or description.name in _MEANINGS.keys() - _OPTIONAL
            ),
        ],
    )


def _collection_field(collections: Collections, total: int) -> FieldDescription:
    return FieldDescription(
        name=COLLECTION,
        kind="keyword",
        meaning="parts of the index that have a name",
        chunks=total,
        searchable=False,
        query_name=None,
        filterable=True,
        sortable=False,
        facet=True,
        examples=[*islice(collections, _MAX_EXAMPLES)],
    )


def _chunk_field(field: str, count: Count, examples: Examples) -> FieldDescription:
    kind, meaning = _MEANINGS[field]
    return FieldDescription(
        name=field,
        kind=kind,
        meaning=meaning,
        chunks=count(field),
        searchable=field != schema.CHUNK_INDEX,
        query_name=field if field in _NAMED_IN_QUERIES else None,
        filterable=field in _FILTERABLE,
        sortable=field in _SORTABLE,
        facet=False,
        examples=_shortened(examples(field)) if kind == "keyword" else [],
    )


def _metadata_field(field: str, count: Count, examples: Examples) -> FieldDescription:
    name, chunks = name_of(field), count(field)
    numbers = schema.number_field(field.removeprefix(schema.metadata_field("")))
    is_number = chunks > 0 and count(numbers) == chunks
    # Filters, sort orders and facets resolve a name to the field of every chunk first.
    is_unique = name != field
    # The terms of file paths leave out the path of the folder, so nobody can type them.
    searchable = field != FILE_FIELD
    return FieldDescription(
        name=name,
        kind="number" if is_number else "keyword",
        meaning=None,
        chunks=chunks,
        searchable=searchable,
        query_name=_escaped(numbers if is_number else field) if searchable else None,
        filterable=is_unique,
        sortable=is_unique,
        facet=is_unique,
        examples=_shortened(examples(field)),
    )


def _escaped(field: str) -> str:
    """Return a field in query syntax: a metadata key may contain any characters."""
    return re.sub(r"[^\w.-]", r"\\\g<0>", field)


def _chunk_count(snapshot: Snapshot, field: str) -> int:
    """Return the number of chunks that have a field."""
    if field in _TERMS_ONLY:
        reader = snapshot.reader
        # Deleted chunks are counted until their segment is merged.
        return int(min(reader.getDocCount(field), reader.numDocs()))
    return int(snapshot.searcher.count(FieldExistsQuery(field)))


def _shortened(examples: Iterable[str]) -> list[str]:
    return [shortened(text, _MAX_EXAMPLE_CHARACTERS) for text in examples]
