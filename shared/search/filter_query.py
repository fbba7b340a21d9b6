"""Conversion of filters to Lucene queries that do not affect scores."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from java.util import Arrays
from lucene import JArray
from org.apache.lucene.document import DoubleField, IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    FieldExistsQuery,
    MatchAllDocsQuery,
    MatchNoDocsQuery,
    PrefixQuery,
    TermInSetQuery,
    TermRangeQuery,
)
from org.apache.lucene.util import BytesRef

from shared.errors import FilterError
from shared.model import schema
from shared.model.document import Scalar
from shared.model.filters import FOLDER, Filter, FilterOperator
from shared.model.folders import IndexedFolders
from shared.query.steps.folder_filter import FILE_FIELD, in_folder
from shared.query.syntax import is_number
from shared.settings.defaults import MAX_COUNT
from shared.storage.commits import Snapshot
from shared.storage.field_names import all_fields, metadata_field_of
from shared.storage.mapping import metadata_text

_UTC: Final = re.compile(r"(?<=\d)(?:\+00:00|z)$")
_PART_OF_TIME: Final = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d)?)?)?)?)?")
_LAST: Final = "\U0010ffff"
_TEXT_FIELDS: Final = (schema.TITLE, schema.CONTENT)
_FIELDS_OF_CHUNKS: Final = (*schema.KEYWORD_FIELDS, schema.CHUNK_INDEX)


def filtered(query: Any, filters: Sequence[Filter], snapshot: Snapshot) -> Any:
    """Return a query restricted to the chunks that pass every filter.

    Args:
        query: a Lucene query; its scores are unchanged.
        filters: the filters, all of which must match.
        snapshot: the commit to be searched.

    Raises:
        FilterError: a field or a value does not fit.
    """
    if not filters:
        return query
    builder = BooleanQuery.Builder().add(query, BooleanClause.Occur.MUST)
    for condition in filters:
        occur = (
            BooleanClause.Occur.MUST_NOT
            if condition.operator in ("ne", "not_in")
            else BooleanClause.Occur.FILTER
        )
        builder.add(_condition(condition, snapshot), occur)
    return builder.build()


def _resolve(name: str, reader: Any) -> str:
    """Return the Lucene field that a filter names."""
    if name in _FIELDS_OF_CHUNKS:
        return name
    if name in _TEXT_FIELDS:
        raise FilterError(f"{name!r} is searched, not filtered; put {name}:WORD into the query")
    return metadata_field_of(name, reader, _FIELDS_OF_CHUNKS)


def _condition(condition: Filter, snapshot: Snapshot) -> Any:
    reader, folders = snapshot.reader, snapshot.folders
    if _is_on_folders(condition, reader):
        return _in_folders(condition, folders)
    field = _resolve(condition.field, reader)
    _check(condition)
    if field == FILE_FIELD and condition.operator != "exists":
        return _files(condition, folders)
    if condition.operator == "range":
        has_numbers = _has_numbers(condition, field, reader)
        condition = _in_numbers(condition) if has_numbers else _in_words(condition)
    return _CONDITIONS[condition.operator](condition, field)


def _is_on_folders(condition: Filter, reader: Any) -> bool:
    existing = all_fields(reader)
    is_key = schema.metadata_field(condition.field) in existing
    return condition.field == FOLDER and not is_key and FILE_FIELD in existing


def _in_folders(condition: Filter, folders: IndexedFolders) -> Any:
    """Return a query for the folders that contain a file, by their names or paths."""
    _check(condition)
    if condition.operator not in ("eq", "ne", "in", "not_in"):
        raise FilterError(
            f"the filter on {FOLDER!r} compares with names or paths of folders; it takes no "
            f"{condition.operator!r}"
        )
    builder = BooleanQuery.Builder()
    for value in _values(condition):
        builder.add(in_folder(str(value), folders), BooleanClause.Occur.SHOULD)
    return builder.build()


def _check(condition: Filter) -> None:
    """Refuse a filter that is invalid on any field.

    Raises:
        FilterError: the operator is unknown, or does not accept a given argument.
    """
    if condition.operator not in _CONDITIONS:
        raise FilterError(
            f"there is no filter operator {condition.operator!r}; there are "
            + ", ".join(_CONDITIONS)
        )
    if isinstance(condition.value, list) and None in condition.value:
        raise FilterError(f"the filter on {condition.field!r} takes a list of values, not of null")
    unused = "value" if condition.operator in ("range", "exists") else "minimum or maximum"
    if any(getattr(condition, name) is not None for name in unused.split(" or ")):
        raise FilterError(
            f"the filter on {condition.field!r} has no use for {unused} with {condition.operator!r}"
        )


def _has_numbers(condition: Filter, field: str, reader: Any) -> bool:
    """Check whether any value of a field is a number."""
    if field in schema.KEYWORD_FIELDS:
        return False
    return field == schema.CHUNK_INDEX or schema.number_field(condition.field) in all_fields(reader)


def _in_numbers(condition: Filter) -> Filter:
    """Return a range of numbers, if all bounds given as text are numbers."""
    bounds = (condition.minimum, condition.maximum)
    if not all(is_number(bound) for bound in bounds if isinstance(bound, str)):
        return condition
    least, most = (float(bound) if isinstance(bound, str) else bound for bound in bounds)
    return replace(condition, minimum=least, maximum=most)


def _in_words(condition: Filter) -> Filter:
    """Return a range of texts; a bound may look like a number, such as the year 2024."""
    least, most = (
        bound if bound is None else metadata_text(bound)
        for bound in (condition.minimum, condition.maximum)
    )
    return replace(condition, minimum=least, maximum=most)


def _one_of(condition: Filter, field: str) -> Any:
    if field == schema.CHUNK_INDEX:
        numbers = [_number(condition, value) for value in _values(condition)]
        whole = [int(number) for number in numbers if number.is_integer()]
        return IntPoint.newSetQuery(field, JArray("int")([n for n in whole if abs(n) <= MAX_COUNT]))
    terms = [BytesRef(schema.keyword(metadata_text(value))) for value in _values(condition)]
    return TermInSetQuery(field, Arrays.asList(terms))


def _prefix(condition: Filter, field: str) -> Any:
    (value,) = _values(condition)
    if not isinstance(value, str) or field == schema.CHUNK_INDEX:
        raise FilterError(f"the filter on {condition.field!r} needs a text field for its prefix")
    return PrefixQuery(Term(field, schema.keyword_prefix(value)))


def _files(condition: Filter, folders: IndexedFolders) -> Any:
    """Return a query for absolute paths, of which the index has the part within a folder."""
    if condition.operator == "range":
        raise FilterError(
            f"the filter on {condition.field!r} takes no range; use prefix for a folder"
        )
    builder = BooleanQuery.Builder()
    for value in map(str, _values(condition)):
        if condition.operator == "prefix":
            for beginning in folders.term_prefixes(value):
                term = Term(FILE_FIELD, schema.keyword_prefix(beginning))
                builder.add(PrefixQuery(term), BooleanClause.Occur.SHOULD)
        else:
            terms = [BytesRef(schema.keyword(term)) for term in folders.terms(value)]
            builder.add(
                TermInSetQuery(FILE_FIELD, Arrays.asList(terms)), BooleanClause.Occur.SHOULD
            )
    return builder.build()


def _exists(_: Filter, field: str) -> Any:
    # Every chunk has an id, but the field has no doc values to check.
    return FieldExistsQuery(field) if field != schema.ID else MatchAllDocsQuery()


def _range(condition: Filter, field: str) -> Any:
    low, high = condition.minimum, condition.maximum
    bounds = [bound for bound in (low, high) if bound is not None]
    if not bounds:
        raise FilterError(f"the range on {condition.field!r} needs a minimum or a maximum")
    if field != schema.CHUNK_INDEX and all(isinstance(bound, str) for bound in bounds):
        return TermRangeQuery.newStringRange(field, _utc(low), _end(_utc(high)), True, True)
    least = float("-inf") if low is None else _number(condition, low)
    most = float("inf") if high is None else _number(condition, high)
    if field != schema.CHUNK_INDEX:
        return DoubleField.newRangeQuery(schema.number_field(condition.field), least, most)
    first, last = math.ceil(max(least, 0)), math.floor(min(most, MAX_COUNT))
    return IntPoint.newRangeQuery(field, first, last) if first <= last else MatchNoDocsQuery()


def _utc(bound: Scalar | None) -> str | None:
    """Return a bound with UTC spelled as in the index."""
    return bound if bound is None else _UTC.sub("Z", str(bound))


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


_CONDITIONS: Final[dict[FilterOperator, Callable[[Filter, str], Any]]] = {
    "eq": _one_of,
    "ne": _one_of,
    "in": _one_of,
    "not_in": _one_of,
    "range": _range,
    "exists": _exists,
    "prefix": _prefix,
}
