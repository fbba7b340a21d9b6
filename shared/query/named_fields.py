"""The step for fields that the query names: ``author:Ann`` means a key of the metadata."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from shared import schema
from shared.field_names import all_fields, metadata_fields
from shared.number_syntax import is_number
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
    any_of,
)

_WITH_FIELD: Final = (Word, Phrase, Wildcard, Fuzzy, Expression, Range)


def metadata_keys(reader: Any) -> dict[str, bool]:
    """The keys of metadata of an index, and whether a key has numbers among its values."""
    names = all_fields(reader)
    keys = (name.removeprefix(schema.metadata_field("")) for name in metadata_fields(names))
    return {key: schema.number_field(key) in names for key in keys}


def on_metadata(keys: dict[str, bool]) -> Callable[[Leaf, Occur], Node]:
    """The step for an index with these keys.

    Of a key that has numbers, a range of numbers is looked for among them, and a number among them
    and among the texts: a year may be either.
    """

    def change(leaf: Leaf, _: Occur) -> Node:
        if not isinstance(leaf, _WITH_FIELD) or leaf.field is None or leaf.field not in keys:
            return leaf
        as_text = replace(leaf, field=schema.metadata_field(leaf.field))
        as_number = replace(leaf, field=schema.number_field(leaf.field))
        match leaf:
            case Word(text) if keys[leaf.field] and is_number(text):
                return any_of(as_text, as_number)
            case Range(low, high) if keys[leaf.field]:
                bounds = [bound for bound in (low, high) if bound is not None]
                # Whatever has a value, number or text, is in a range without bounds.
                return as_number if bounds and all(map(is_number, bounds)) else as_text
        return as_text

    return change
