"""Sort orders of hits by field."""

from typing import Any

from java.lang import Double
from org.apache.lucene.search import (
    Sort,
    SortedNumericSelector,
    SortedNumericSortField,
    SortedSetSelector,
    SortedSetSortField,
    SortField,
)

from shared.errors import FilterError
from shared.model import schema
from shared.model.request import BY_SCORE
from shared.storage.field_names import all_fields, metadata_field_of


def document_order(*, is_descending: bool = False) -> Any:
    """Return a sort order by document id, then by position in the document."""
    return Sort(_document_order(is_descending=is_descending))


def order_by_text(field: str, *, is_descending: bool) -> Any:
    """Return a sort order by the text values of a field; ties are in document order.

    Args:
        field: a Lucene field of the metadata; chunks without it come last.
        is_descending: true to sort the greatest value first.
    """
    return Sort([_text_field(field, is_descending), *_document_order()])


def order(name: str, reader: Any) -> Any:
    """Return the sort order that a name means; ties are in document order.

    Args:
        name: ``source_document``, ``chunk_index`` or a metadata key; a minus before it reverses the
            order. Of several values, the one that comes first in that order counts. Chunks without
            a value come last. Files are sorted by the prefix of their folder, then by their path.
        reader: the reader to be searched, which knows the fields that exist.

    Raises:
        FilterError: no document has the field.
    """
    key, reverse = name.removeprefix("-"), name.startswith("-")
    if key == BY_SCORE:
        raise FilterError("hits are sorted best first; -score is not an order")
    return Sort([_field(key, reverse, reader), *_document_order()])


def _document_order(*, is_descending: bool = False) -> list[Any]:
    return [
        SortField(schema.SOURCE_DOCUMENT, SortField.Type.STRING, is_descending),
        SortField(schema.CHUNK_INDEX, SortField.Type.INT),
    ]


def _field(key: str, reverse: bool, reader: Any) -> Any:
    if key == schema.SOURCE_DOCUMENT:
        return SortField(key, SortField.Type.STRING, reverse)
    if key == schema.CHUNK_INDEX:
        return SortField(key, SortField.Type.INT, reverse)
    text = metadata_field_of(key, all_fields(reader), (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX))
    number = schema.number_field(key)
    if number in all_fields(reader):
        of_several = SortedNumericSelector.Type.MAX if reverse else SortedNumericSelector.Type.MIN
        field = SortedNumericSortField(number, SortField.Type.DOUBLE, reverse, of_several)
        field.setMissingValue(Double(float("-inf") if reverse else float("inf")))
        return field
    return _text_field(text, reverse)


def _text_field(name: str, reverse: bool) -> Any:
    of_several = SortedSetSelector.Type.MAX if reverse else SortedSetSelector.Type.MIN
    field = SortedSetSortField(name, reverse, of_several)
    # Lucene also reverses the position of missing values.
    field.setMissingValue(SortField.STRING_FIRST if reverse else SortField.STRING_LAST)
    return field
