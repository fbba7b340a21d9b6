"""Names of the fields of an index, and the Lucene field that a name means.

A metadata key is named by itself: ``author`` means the Lucene field ``metadata.author``. The fields
of every chunk take precedence, so a key with the same name as one of them has its full name only.
"""

from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from typing import Any, Final

from org.apache.lucene.index import FieldInfo, FieldInfos, IndexOptions
from org.apache.lucene.search import FieldExistsQuery, IndexSearcher

from shared.errors import FieldNotFoundError, FilterError
from shared.messages import listed
from shared.model import schema
from shared.model.index_results import FieldKind
from shared.model.metadata import is_of_documents
from shared.storage.commits import cached_per_commit, is_limited

CHUNK_FIELDS: Final[Mapping[str, tuple[FieldKind, str]]] = {
    schema.CONTENT: ("text", "words of the chunks, as written"),
    schema.TITLE: ("text", "words of the document titles"),
    schema.STEMS: ("text", "stems of the words of titles, headings and chunks"),
    schema.TITLE_STEMS: ("text", "stems of the words of the document titles"),
    schema.PATH: ("text", "words of the names of files and folders"),
    schema.METADATA: ("text", "words of text metadata, such as authors"),
    schema.ID: ("keyword", "ids of chunks"),
    schema.SOURCE_DOCUMENT: ("keyword", "ids of documents"),
    schema.CHUNK_INDEX: ("number", "position of a chunk in its document, from 1"),
}
"""Public names of the fields that belong neither to a metadata key nor to a language, each with its
kind and meaning."""

SORTABLE: Final = (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX)
FILTERABLE: Final = (*SORTABLE, schema.ID)
"""Those of them that hits can be sorted by, and that a filter may name."""


@cached_per_commit
def all_fields(reader: Any) -> frozenset[str]:
    """Return all Lucene fields of an index."""
    return frozenset(info.name for info in _infos(reader))


def fields_with_terms(reader: Any) -> set[str]:
    """Return the Lucene fields of an index that have terms."""
    return {info.name for info in _infos(reader) if info.getIndexOptions() != IndexOptions.NONE}


def _infos(reader: Any) -> Iterator[Any]:
    """Yield the fields of an index, of a part of one without those that only other chunks have."""
    searcher = IndexSearcher(reader) if is_limited(reader) else None
    for info in map(FieldInfo.cast_, FieldInfos.getMergedFieldInfos(reader)):
        is_of_metadata = info.name.startswith(schema.metadata_field(""))
        if searcher and is_of_metadata and not searcher.count(FieldExistsQuery(info.name)):
            continue
        yield info


def names_of(existing: AbstractSet[str]) -> list[str]:
    """Return the public names of some Lucene fields."""
    fields = [*(field for field in CHUNK_FIELDS if field in existing), *metadata_fields(existing)]
    return list(map(name_of, fields))


def metadata_fields(existing: AbstractSet[str]) -> list[str]:
    """Return those of some Lucene fields that have the values of a metadata key."""
    return sorted(field for field in existing if field.startswith(schema.metadata_field("")))


def keys_of_documents(fields: Iterable[str]) -> set[str]:
    """Return the metadata keys among some Lucene fields that documents have chosen."""
    prefix = schema.metadata_field("")
    keys = (field.removeprefix(prefix) for field in fields if field.startswith(prefix))
    return set(filter(is_of_documents, keys))


def metadata_field_of(key: str, existing: AbstractSet[str], besides: Iterable[str] = ()) -> str:
    """Return the Lucene field of a metadata key, to filter, count or sort by."""
    field = schema.metadata_field(key)
    if field not in existing:
        prefix = schema.metadata_field("")
        known = [name.removeprefix(prefix) for name in metadata_fields(existing)]
        usable = [*besides, *known]
        problem = (
            f"the field {key!r} cannot be used here"
            if key in CHUNK_FIELDS
            else f"no document has the field {key!r}"
        )
        help_ = f"the fields are {listed(usable)}" if usable else "no document has metadata yet"
        raise FilterError(f"{problem}; {help_}")
    return field


def name_of(field: str) -> str:
    """Return the public name of a Lucene field."""
    key = field.removeprefix(schema.metadata_field(""))
    return field if key in CHUNK_FIELDS else key


def field_named(name: str, existing: AbstractSet[str]) -> str:
    """Return the Lucene field that a name means."""
    if name in CHUNK_FIELDS and name != schema.CHUNK_INDEX:
        return name
    for field in (schema.metadata_field(name), name):
        if field in existing:
            return field
    raise FieldNotFoundError(name, names_of(existing))
