"""The step for fields that the query names: ``author:Ann`` means a key of the metadata."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from shared import schema
from shared.field_names import all_fields, metadata_fields
from shared.query.tree import (
    Expression,
    Fuzzy,
    Leaf,
    Node,
    Occur,
    Phrase,
    Range,
    Wildcard,
    Word,
)

_WITH_FIELD = (Word, Phrase, Wildcard, Fuzzy, Expression, Range)


def metadata_keys(reader: Any) -> dict[str, bool]:
    """The keys of metadata of an index, and whether a key has numbers among its values."""
    names = all_fields(reader)
    keys = (name.removeprefix(schema.metadata_field("")) for name in metadata_fields(names))
    return {key: schema.number_field(key) in names for key in keys}


def on_metadata(keys: dict[str, bool]) -> Callable[[Leaf, Occur], Node]:
    """The step for an index with these keys.

    A word or a range of numbers is looked for among the numbers of a key that has some.
    """

    def change(leaf: Leaf, _: Occur) -> Node:
        if not isinstance(leaf, _WITH_FIELD) or leaf.field is None or leaf.field not in keys:
            return leaf
        is_number = keys[leaf.field] and _is_numeric(leaf)
        field = schema.number_field if is_number else schema.metadata_field
        return replace(leaf, field=field(leaf.field))

    return change


def _is_numeric(leaf: Leaf) -> bool:
    match leaf:
        case Word(text):
            return _is_number(text)
        case Range(low, high):
            return all(bound is None or _is_number(bound) for bound in (low, high))
    return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
