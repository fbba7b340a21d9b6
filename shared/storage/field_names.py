"""Which fields an index has, and which of them a name means.

A key of the metadata goes by itself: ``author`` means the Lucene field ``metadata.author``. The
fields of every chunk come first, so a key that is called like one of them has its full name only.
"""

from collections.abc import Iterable, Set as AbstractSet
from difflib import get_close_matches
from typing import Any, Final

from org.apache.lucene.index import FieldInfo, FieldInfos, IndexOptions

from shared.errors import FieldNotFoundError, FilterError
from shared.model import schema
from shared.storage.commits import remembered

OF_CHUNKS: Final = (
    schema.CONTENT,
    schema.TITLE,
    schema.IDENTIFIERS,
    schema.METADATA,
    schema.ID,
    schema.SOURCE_DOCUMENT,
    schema.CHUNK_INDEX,
)
"""Fields that have nothing to do with a key or a language, as people know them."""

_LONGEST_NAME: Final = 256
"""Characters of a name that may be a slip of the keyboard."""


@remembered
def all_fields(reader: Any) -> frozenset[str]:
    """The Lucene fields of an index, whatever they hold."""
    infos = map(FieldInfo.cast_, FieldInfos.getMergedFieldInfos(reader))
    return frozenset(info.name for info in infos)


def fields_with_terms(reader: Any) -> set[str]:
    """The Lucene fields of an index that have terms."""
    infos = map(FieldInfo.cast_, FieldInfos.getMergedFieldInfos(reader))
    return {info.name for info in infos if info.getIndexOptions() != IndexOptions.NONE}


def names_with_terms(reader: Any) -> list[str]:
    """The names of the fields of an index that have terms, as people know them."""
    existing = fields_with_terms(reader)
    fields = [
        *(field for field in OF_CHUNKS if field in existing),
        *metadata_fields(existing),
        *language_fields(existing),
    ]
    return list(map(name_of, fields))


def metadata_fields(existing: AbstractSet[str]) -> list[str]:
    """The fields, of some Lucene fields, that hold the values of a key of the metadata."""
    return sorted(field for field in existing if field.startswith(schema.metadata_field("")))


def language_fields(existing: AbstractSet[str]) -> list[str]:
    """The fields, of some Lucene fields, that hold words in the base forms of a language."""
    return sorted(field for field in existing if schema.language_of(field))


def metadata_field_of(key: str, reader: Any, besides: Iterable[str] = ()) -> str:
    """The Lucene field of a key of the metadata, to filter, count or sort by.

    Args:
        key: such as ``author``.
        reader: the reader to be searched, which knows the fields that exist.
        besides: fields that serve the same purpose and are no metadata, for the message.

    Raises:
        FilterError: no document has it, or it is no metadata; the message lists what could be
            used.
    """
    existing, field = all_fields(reader), schema.metadata_field(key)
    if field not in existing:
        prefix = schema.metadata_field("")
        known = [name.removeprefix(prefix) for name in metadata_fields(existing)]
        usable = [*besides, *known[:50]]
        problem = (
            f"the field {key!r} cannot be used here"
            if key in OF_CHUNKS
            else f"no document has the field {key!r}"
        )
        help_ = f"the fields are {', '.join(usable)}" if usable else "none has metadata yet"
        raise FilterError(f"{problem}; {help_}")
    return field


def name_of(field: str) -> str:
    """The name by which people know a Lucene field."""
    key = field.removeprefix(schema.metadata_field(""))
    return field if key in OF_CHUNKS else key


def field_with_terms(name: str, reader: Any) -> str:
    """The Lucene field that a name means.

    Args:
        name: a key of the metadata, or the name of the field itself.
        reader: the reader to be searched, which knows the fields that exist.

    Raises:
        FieldNotFoundError: there is none with terms; the message lists those there are.
    """
    existing = fields_with_terms(reader)
    if name in OF_CHUNKS and name != schema.CHUNK_INDEX:
        return name
    for field in (schema.metadata_field(name), name):
        if field in existing:
            return field
    known = names_with_terms(reader)
    raise FieldNotFoundError(name, known, get_close_matches(name[:_LONGEST_NAME], known, n=1))
