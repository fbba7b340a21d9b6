"""Conversion of filters to trees, whose scores do not count."""

import json
import math
import re
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final, get_args

from shared.errors import FilterError
from shared.model import schema
from shared.model.document import Scalar
from shared.model.filters import Collection, Collections, Filter, FilterOperator, Limits, checked
from shared.model.folders import IndexedFolders
from shared.model.schema import COLLECTION, FOLDER
from shared.query.index_terms import IndexTerms
from shared.query.syntax import is_number
from shared.query.tree import (
    Between,
    Clause,
    Clauses,
    Everything,
    Exists,
    Expression,
    Node,
    Nothing,
    Range,
    Values,
    all_of,
    any_of,
)
from shared.query.values import FILE_FIELD, beginning_with, in_folder
from shared.settings.defaults import MAX_COUNT
from shared.storage.field_names import metadata_field_of
from shared.storage.mapping import metadata_text

_UTC: Final = re.compile(r"(?<=\d)(?:\+00:00|z)$")
_PART_OF_TIME: Final = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d)?)?)?)?)?")
_LAST: Final = "\U0010ffff"
_TEXT_FIELDS: Final = (schema.TITLE, schema.CONTENT)
_FIELDS_OF_CHUNKS: Final = (*schema.KEYWORD_FIELDS, schema.CHUNK_INDEX)
_OPERATORS: Final = get_args(FilterOperator)
_COMPARING: Final = ("eq", "ne", "in", "not_in")


def conditions(
    filters: Sequence[Filter],
    terms: IndexTerms,
    folders: IndexedFolders,
    collections: Collections = MappingProxyType({}),
) -> list[Clause]:
    """Return the clauses that a chunk must match to pass every filter."""
    return [
        Clause(
            in_collections(_named(condition, collections), terms, folders)
            if condition.field == COLLECTION
            else _condition(condition, terms, folders),
            "must_not" if condition.operator in {"ne", "not_in"} else "must",
        )
        for condition in filters
    ]


def in_collections(
    collections: Iterable[Collection], terms: IndexTerms, folders: IndexedFolders
) -> Node:
    """Return a tree for the chunks of any of some collections.

    A collection with a filter on a metadata key that no document has is empty.
    """
    return any_of(*(_in_collection(collection, terms, folders) for collection in collections))


def within(limits: Limits, terms: IndexTerms, folders: IndexedFolders) -> Node:
    """Return a tree for the chunks within some limits."""
    return all_of(*(in_collections(of, terms, folders) for of in limits.each))


def _in_collection(collection: Collection, terms: IndexTerms, folders: IndexedFolders) -> Node:
    for condition in collection.filters:
        is_of_chunks = condition.field in _FIELDS_OF_CHUNKS or _is_on_folders(condition, terms)
        if not is_of_chunks and schema.metadata_field(condition.field) not in terms.fields:
            return Nothing()
    return Clauses(tuple(conditions(collection.filters, terms, folders)))


def _named(condition: Filter, collections: Collections) -> list[Collection]:
    """Return the collections that a filter names."""
    return checked(_names(condition, "names of collections"), collections)


def _names(condition: Filter, kind: str) -> list[str]:
    """Return the values of a filter on something that is compared by its name only."""
    _check(condition)
    if condition.operator not in _COMPARING:
        raise FilterError(
            f"the filter on {condition.field!r} compares with {kind}; it takes no "
            f"{condition.operator!r}"
        )
    return list(map(str, _values(condition)))


def _condition(condition: Filter, terms: IndexTerms, folders: IndexedFolders) -> Node:
    """Return a tree for the chunks with the values of a filter, which it may exclude."""
    if _is_on_folders(condition, terms):
        names = _names(condition, "names or paths of folders")
        return any_of(*(in_folder(name, folders) for name in names))
    field = _resolve(condition.field, terms)
    _check(condition)
    if condition.operator == "exists":
        # Every chunk has an id, but the field has no doc values to check.
        return Exists(field) if field != schema.ID else Everything()
    if field == FILE_FIELD:
        return _files(condition, folders)
    if condition.operator == "range":
        return _range(condition, field, terms)
    return _values_of(condition, field)


def _values_of(condition: Filter, field: str) -> Node:
    """Return a tree for the values of a filter, or for those with a prefix."""
    values = _values(condition)
    if condition.operator == "prefix":
        if not isinstance(values[0], str) or field == schema.CHUNK_INDEX:
            raise FilterError(
                f"the filter on {condition.field!r} needs a text field for its prefix"
            )
        return beginning_with(field, values[0])
    if field == schema.CHUNK_INDEX:
        numbers = (_number(condition, value) for value in values)
        whole = (int(number) for number in numbers if number.is_integer())
        return Values(field, tuple(str(number) for number in whole if abs(number) <= MAX_COUNT))
    return _any_of_texts(field, [metadata_text(value) for value in values])


def _resolve(name: str, terms: IndexTerms) -> str:
    """Return the field of the index that a filter names."""
    if name in _FIELDS_OF_CHUNKS:
        return name
    if name in _TEXT_FIELDS:
        raise FilterError(f"{name!r} is searched, not filtered; put {name}:WORD into the query")
    return metadata_field_of(name, terms.fields, _FIELDS_OF_CHUNKS)


def _is_on_folders(condition: Filter, terms: IndexTerms) -> bool:
    return condition.field == FOLDER and FILE_FIELD in terms.fields


def _check(condition: Filter) -> None:
    """Refuse a filter that is invalid on any field."""
    if condition.operator not in _OPERATORS:
        raise FilterError(
            f"there is no filter operator {condition.operator!r}; there are "
            + ", ".join(_OPERATORS)
        )
    if isinstance(condition.value, list) and None in condition.value:
        raise FilterError(f"the filter on {condition.field!r} takes a list of values, not of null")
    unused = "value" if condition.operator in ("range", "exists") else "minimum or maximum"
    if any(getattr(condition, name) is not None for name in unused.split(" or ")):
        raise FilterError(
            f"the filter on {condition.field!r} has no use for {unused} with {condition.operator!r}"
        )


def _any_of_texts(field: str, texts: Sequence[str]) -> Node:
    """Return a tree for the values of a field that are one of some texts, in any spelling."""
    spellings = [found for text in texts if (found := schema.any_spelling(text))]
    expressions = (Expression(spelling, field) for spelling in spellings)
    return any_of(Values(field, tuple(map(schema.keyword, texts))), *expressions)


def _files(condition: Filter, folders: IndexedFolders) -> Node:
    """Return a tree for absolute paths, of which the index has the part within a folder."""
    if condition.operator == "range":
        raise FilterError(
            f"the filter on {condition.field!r} takes no range; use prefix for a folder"
        )
    values = [str(value) for value in _values(condition)]
    if condition.operator == "prefix":
        beginnings = (beginning for value in values for beginning in folders.term_prefixes(value))
        return any_of(*(beginning_with(FILE_FIELD, beginning) for beginning in beginnings))
    return _any_of_texts(FILE_FIELD, [term for value in values for term in folders.terms(value)])


def _range(condition: Filter, field: str, terms: IndexTerms) -> Node:
    """Return a tree for numbers, or for texts, whose bounds may look like numbers: 2024."""
    low, high = condition.minimum, condition.maximum
    given = [bound for bound in (low, high) if bound is not None]
    if not given:
        raise FilterError(f"the range on {condition.field!r} needs a minimum or a maximum")
    numbers, is_of_chunks = schema.number_field(condition.field), field == schema.CHUNK_INDEX
    has_numbers = numbers in terms.fields and field not in schema.KEYWORD_FIELDS
    are_texts = all(isinstance(bound, str) for bound in given)
    if not is_of_chunks and (
        not has_numbers or (are_texts and not all(is_number(str(bound)) for bound in given))
    ):
        return Range(_utc(low), _end(_utc(high)), field=field)
    least = -math.inf if low is None else _number(condition, low)
    most = math.inf if high is None else _number(condition, high)
    if not is_of_chunks:
        first_bound, last_bound = (
            None if math.isinf(bound) else repr(bound) for bound in (least, most)
        )
        return Range(first_bound, last_bound, field=numbers)
    first, last = math.ceil(max(least, 0)), math.floor(min(most, MAX_COUNT))
    return Between(field, first, last) if first <= last else Nothing()


def _utc(bound: Scalar | None) -> str | None:
    """Return a bound with UTC spelled as in the index."""
    return bound if bound is None else _UTC.sub("Z", metadata_text(bound))


def _end(bound: str | None) -> str | None:
    """Return the last text that a bound includes: all of a year, month, day or minute."""
    return f"{bound}{_LAST}" if bound is not None and _PART_OF_TIME.fullmatch(bound) else bound


def _values(condition: Filter) -> list[Scalar]:
    value = condition.value
    listed = condition.operator in ("in", "not_in")
    if value is None or isinstance(value, list) != listed or value == []:
        raise FilterError(
            f"the filter on {condition.field!r} needs "
            + ("a list of values" if listed else "one value")
            + f" for {condition.operator!r}, not {json.dumps(value)}"
        )
    return value if isinstance(value, list) else [value]


def _number(condition: Filter, value: Scalar) -> float:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise FilterError(
            f"the filter on {condition.field!r} needs a number, not {str(value)[:80]!r}"
        )
    return number
