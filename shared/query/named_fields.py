"""Names before a colon in a query: metadata, as in ``author:Ann``, and filters.

| name                                   | means                                              |
|----------------------------------------|----------------------------------------------------|
| a key of the metadata                  | values that have the words, in any case            |
| `language`, `filetype`, `ext`, `type`, | a filter: every hit meets it, and no score changes |
| `folder`                               |                                                    |
| `from`, `subject`                      | the sender and the subject of mails                |

A metadata key with the same name as one of the others takes precedence, except `language`, which is
a filter. Only a part outside of parentheses, or alone within them, is a filter; several values of
one field are alternatives.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.model import metadata, schema
from shared.model.document import Scalar
from shared.model.filters import Filter
from shared.model.schema import FOLDER
from shared.query.index_terms import IndexTerms
from shared.query.syntax import is_number
from shared.query.tree import (
    Clauses,
    Everything,
    Expression,
    Fuzzy,
    Leaf,
    Node,
    Occur,
    Phrase,
    Range,
    Terms,
    Weighted,
    Wildcard,
    Word,
    all_of,
    any_of,
    clauses_of,
    escaped,
    together,
    unescaped,
)
from shared.query.values import value_words
from shared.storage.field_names import metadata_fields

Named = Word | Phrase | Wildcard | Fuzzy | Expression | Range
"""Leaves that may follow the name of a field."""

_MAIL: Final = "message/rfc822"
"""Type of mails, whose title is their subject and whose author is their sender."""

_SENDER: Final = "from"

_EXTENSIONS: Final = ("filetype", "ext")
_TYPE: Final = "type"
"""Names for the extension of a file. The last one is common in programs, too, so it is a name only
before an extension that some file has."""

_TYPE_BEFORE: Final = re.compile(rf"(?<![^\s(+\-!]){_TYPE}:([\w.]*)")

ALWAYS_FIELDS: Final = (schema.TITLE, schema.CONTENT, schema.SOURCE_DOCUMENT, schema.ID)
"""Fields that a query may name in every index."""


@dataclass(frozen=True)
class NamedFields:
    """Meanings of the names before a colon in an index."""

    keys: Mapping[str, bool]  # of the metadata, each with true if some of its values are numbers
    filters: Mapping[str, str]  # the names of filters, with the keys that they apply to
    has_mails: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names that may precede a colon, in addition to the fields of every index."""
        return tuple(dict.fromkeys((*self.filters, *self.mail_names, *self.keys)))

    @property
    def mail_names(self) -> tuple[str, ...]:
        """Names with a meaning for mails."""
        if not self.has_mails:
            return ()
        return (metadata.SUBJECT,) if _SENDER in self.keys else (_SENDER, metadata.SUBJECT)

    def on_fields(self, leaf: Leaf, _: Occur) -> Node:
        """Return a leaf that names a field on the field that is meant.

        If the values of a key include numbers, a range of numbers is searched among these, and a
        number both among these and among the texts: a year may be either.
        """
        if not isinstance(leaf, Named) or leaf.field is None:
            return leaf
        if leaf.field.startswith(schema.metadata_field("")):
            return _within_values(leaf)
        if leaf.field in self.mail_names:
            return self._in_mails(leaf, leaf.field)
        if leaf.field in self.filters:
            return _within_values(
                replace(leaf, field=schema.metadata_field(self.filters[leaf.field]))
            )
        return self._in_key(leaf, leaf.field) if leaf.field in self.keys else leaf

    def _in_key(self, leaf: Named, key: str) -> Node:
        as_text = replace(leaf, field=schema.metadata_field(key))
        as_number = replace(leaf, field=schema.number_field(key))
        match leaf:
            case Word(text) if self.keys[key] and is_number(text):
                return any_of(as_text, as_number)
            case Range(low, high) if self.keys[key]:
                bounds = [bound for bound in (low, high) if bound is not None]
                # A range without bounds includes every value, number or text.
                return as_number if bounds and all(map(is_number, bounds)) else as_text
        return _within_values(as_text)

    def _in_mails(self, leaf: Named, name: str) -> Node:
        """Return a node for the sender or subject of mails; a subject may also be a key."""
        if name == _SENDER:
            said = _within_values(replace(leaf, field=schema.metadata_field(metadata.AUTHOR)))
        else:
            said = replace(leaf, field=schema.TITLE)
        in_mails = all_of(said, Terms(schema.metadata_field(metadata.FILE_TYPE), (_MAIL,)))
        return any_of(self._in_key(leaf, name), in_mails) if name in self.keys else in_mails


def named_fields(terms: IndexTerms) -> NamedFields:
    """Return the meanings of the names before a colon in an index, except `type`."""
    existing = terms.fields
    names = (name.removeprefix(schema.metadata_field("")) for name in metadata_fields(existing))
    keys = {key: schema.number_field(key) in existing for key in names}
    filters = {metadata.LANGUAGE: metadata.LANGUAGE} if metadata.LANGUAGE in keys else {}
    if metadata.FILE_EXTENSION in keys:
        filters |= {name: metadata.FILE_EXTENSION for name in _EXTENSIONS if name not in keys}
    if schema.FILE_PATH in keys:
        filters[FOLDER] = schema.FILE_PATH
    mails = terms.frequency(schema.metadata_field(metadata.FILE_TYPE), _MAIL)
    return NamedFields(keys, filters, has_mails=mails > 0)


def with_type(fields: NamedFields, text: str, terms: IndexTerms) -> NamedFields:
    """Return the same fields, with `type` if it precedes only extensions of files in a query."""
    values = _TYPE_BEFORE.findall(text)
    if not values or _TYPE in fields.keys or metadata.FILE_EXTENSION not in fields.keys:
        return fields
    field = schema.metadata_field(metadata.FILE_EXTENSION)
    if not all(terms.frequency(field, value.lower()) for value in values):
        return fields
    return replace(fields, filters={**fields.filters, _TYPE: metadata.FILE_EXTENSION})


def _within_values(leaf: Named) -> Node:
    """Return a leaf for words within values; leaves other than words are returned unchanged."""
    match leaf:
        case Word(text):
            pattern = escaped(text)
        case Phrase(words):
            pattern = escaped(" ".join(words))
        case Wildcard(pattern):
            pass
        case _:
            return leaf
    return value_words(leaf.field or "", pattern) or leaf


_OTHER_EXTENSIONS: Final = {
    "excel": ("xlsx",),
    "htm": ("htm", "html"),
    "html": ("htm", "html"),
    "mail": ("eml",),
    "email": ("eml",),
    "markdown": ("markdown", "md"),
    "md": ("markdown", "md"),
    "powerpoint": ("pptx",),
    "text": ("txt",),
    "word": ("docx",),
    "yaml": ("yaml", "yml"),
    "yml": ("yaml", "yml"),
}
"""Extensions that a name stands for, if they differ from the name itself."""


def take_filters(tree: Node, fields: NamedFields) -> tuple[Node, tuple[Filter, ...]]:
    """Remove the filters from a query; `Everything` is left if it has nothing else."""
    if not fields.filters:
        return tree, ()
    wanted: dict[str, list[Scalar]] = defaultdict(list)
    unwanted: dict[str, list[Scalar]] = defaultdict(list)
    left = []
    for clause in clauses_of(tree):
        named = _named(clause.node, fields)
        if named is None:
            left.append(clause)
            continue
        name, values = named
        conditions = unwanted if clause.occur == "must_not" else wanted
        for value in values:
            field, meant = _meant(fields.filters[name] if name != FOLDER else FOLDER, value)
            conditions[field] += meant
    if not wanted and not unwanted:
        return tree, ()
    filters = (
        *(Filter(field, "in", values) for field, values in wanted.items()),
        *(Filter(field, "not_in", values) for field, values in unwanted.items()),
    )
    return together(left) if left else Everything(), filters


def shown(conditions: Sequence[Filter]) -> str:
    """Return filters in a notation like Lucene's syntax, in which ``#`` precedes a filter."""
    return " ".join(
        f"{'-' if condition.operator == 'not_in' else '#'}{condition.field}:{_shown(condition)}"
        for condition in conditions
    )


def _shown(condition: Filter) -> str:
    values = condition.value if isinstance(condition.value, list) else [condition.value]
    return str(values[0]) if len(values) == 1 else f"({' '.join(map(str, values))})"


def _named(node: Node, fields: NamedFields) -> tuple[str, list[str]] | None:
    """Return the name and values of a part that is a filter; None for any other part."""
    match node:
        case Weighted(part):
            return _named(part, fields)
        case Clauses(clauses) if all(clause.occur == "should" for clause in clauses):
            parts = [_named(clause.node, fields) for clause in clauses]
            names = {part[0] if part else None for part in parts}
            name = names.pop() if len(names) == 1 else None
            return (
                None
                if name is None
                else (name, [value for part in parts if part for value in part[1]])
            )
        case Word() | Phrase() | Wildcard() | Expression() if node.field in fields.filters:
            value = _value(node)
            return None if value is None or node.field is None else (node.field, [value])
    return None


def _value(leaf: Word | Phrase | Wildcard | Expression) -> str | None:
    """Return the value of a filter; None for a leaf that is more than a value."""
    match leaf:
        case Word(text):
            return text
        case Phrase(words):
            return " ".join(words)
        case Wildcard(pattern) if leaf.field == FOLDER:
            return unescaped(pattern)
        case Expression(path) if leaf.field == FOLDER:
            # The parser reads a path between slashes as a regular expression.
            return f"/{path}/"
    return None


def _meant(field: str, value: str) -> tuple[str, list[str]]:
    """Return the field and values of a filter: an extension, a type, a language, a folder."""
    if field == FOLDER:
        return field, [value]
    folded = value.lower()
    if field == metadata.FILE_EXTENSION and "/" in value:
        return metadata.FILE_TYPE, [folded]
    if field == metadata.FILE_EXTENSION:
        folded = folded.removeprefix(".")
        return field, list(_OTHER_EXTENSIONS.get(folded, (folded,)))
    return field, [folded]
