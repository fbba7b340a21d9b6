"""Names before a colon in a query: metadata, as in ``author:Ann``, and filters.

| name                                   | means                                              |
|----------------------------------------|----------------------------------------------------|
| a key of the metadata                  | values that have the words, in any case            |
| `language`, `filetype`, `ext`, `type`, | a filter: every hit meets it, and no score changes |
| `folder`                               |                                                    |
| `from`, `subject`                      | the sender and the subject of mails                |

A metadata key with the same name as one of the others takes precedence, except `language`, which is
a filter. Only a part outside of parentheses, or alone within them, is a filter; several values of
one field are alternatives. Notes say which names, values and folders may not be what was meant.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from shared.analysis.analyzers import tokens
from shared.messages import is_plain_word, shortened
from shared.model import metadata, schema
from shared.model.document import Scalar
from shared.model.filters import Filter, FilterOperator
from shared.model.request import SearchRequest
from shared.model.schema import FOLDER
from shared.query.filters import value_words
from shared.query.syntax import NamedText, is_number, named_texts
from shared.query.terms import IndexTerms
from shared.query.tree import (
    Clauses,
    Everything,
    Expression,
    Fuzzy,
    Node,
    Nothing,
    Occur,
    Phrase,
    Range,
    Terms,
    ValueWords,
    Weighted,
    Wildcard,
    Word,
    all_of,
    any_of,
    clauses_of,
    escaped,
    leaves,
    rewrite,
    together,
    unescaped,
)
from shared.storage.field_names import metadata_fields
from shared.storage.mapping import metadata_text

Named = Word | Phrase | Wildcard | Fuzzy | Expression | Range
"""Leaves that may follow the name of a field."""

_MAIL: Final = "message/rfc822"  # whose title is its subject and whose author is its sender

_SENDER: Final = "from"

_EXTENSIONS: Final = ("filetype", "ext")
_TYPE: Final = "type"
"""Names for the extension of a file. The last one is common in programs, too, so it is a name only
before an extension that some file has."""

_TYPE_BEFORE: Final = re.compile(rf"(?<![^\s(+\-!]){_TYPE}:([\w.]*)")

_ALWAYS: Final = (schema.TITLE, schema.CONTENT, schema.SOURCE_DOCUMENT, schema.ID)
"""Fields that a query may name in every index."""

_MOST_NAMES: Final = 30  # in a note
_MOST_NOTES: Final = 3  # of each kind
_MOST_VALUES: Final = 10  # in a note
_MOST_EXAMINED: Final = 1_000  # values of a field, some of which are not shown
_LONGEST: Final = 40  # characters of a name in a note


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

    def on_fields(self, leaf: Node, _: Occur) -> Node:
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


def fields_before(text: str, terms: IndexTerms) -> NamedFields:
    """Return the meanings of the names before a colon in a query.

    One of them is `type`, if it precedes only extensions that some file has.
    """
    fields = terms.once(_named_fields)
    values = _TYPE_BEFORE.findall(text)
    if not values or _TYPE in fields.keys or metadata.FILE_EXTENSION not in fields.keys:
        return fields
    field = schema.metadata_field(metadata.FILE_EXTENSION)
    if not all(terms.frequency(field, value.lower()) for value in values):
        return fields
    return replace(fields, filters={**fields.filters, _TYPE: metadata.FILE_EXTENSION})


def _named_fields(terms: IndexTerms) -> NamedFields:
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


def unknown_names(
    request: SearchRequest, fields: NamedFields, terms: IndexTerms
) -> list[NamedText]:
    """Return the names before a colon that are not fields, unless some chunk has the whole word."""
    if request.syntax == "lucene":
        return []
    return [
        named
        for named in named_texts(request.query, request.syntax, fields.names)
        if not terms.frequency(schema.CONTENT, "".join(token.text for token in tokens(named.text)))
    ]


def on_named_fields(
    tree: Node, unknown: Sequence[str], fields: NamedFields, terms: IndexTerms
) -> tuple[Node, Sequence[Filter], list[str]]:
    """Return a parsed query with its names resolved, the filters that it had, and notes on both."""
    notes = [*_notes_on_names(unknown, fields), *_notes_on_tree(tree, fields, terms)]
    tree, filters = _take_filters(tree, fields)
    notes += notes_on_values(filters, terms)
    return rewrite(tree, fields.on_fields) or Nothing(), filters, notes


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


def _take_filters(tree: Node, fields: NamedFields) -> tuple[Node, tuple[Filter, ...]]:
    """Remove the filters from a query; `Everything` is left if it has nothing else."""
    if not fields.filters:
        return tree, ()
    found: dict[tuple[FilterOperator, str], list[Scalar]] = defaultdict(list)
    left = []
    for clause in clauses_of(tree):
        named = _named(clause.node, fields)
        if named is None:
            left.append(clause)
            continue
        name, values = named
        operator: FilterOperator = "not_in" if clause.occur == "must_not" else "in"
        for value in values:
            field, meant = _meant(fields.filters[name] if name != FOLDER else FOLDER, value)
            found[operator, field] += meant
    if not found:
        return tree, ()
    in_order = sorted(found.items(), key=lambda item: item[0][0])
    filters = tuple(Filter(field, operator, values) for (operator, field), values in in_order)
    return together(left) if left else Everything(), filters


def shown_filters(conditions: Sequence[Filter]) -> str:
    """Return filters in a notation like Lucene's syntax, in which ``#`` precedes a filter."""
    shown = []
    for condition in conditions:
        values = condition.value if isinstance(condition.value, list) else [condition.value]
        sign = "-" if condition.operator == "not_in" else "#"
        texts = " ".join(map(str, values))
        shown.append(f"{sign}{condition.field}:{f'({texts})' if len(values) > 1 else texts}")
    return " ".join(shown)


def _named(node: Node, fields: NamedFields) -> tuple[str, list[str]] | None:
    """Return the name and values of a part that is a filter; None for any other part."""
    match node:
        case Weighted(part):
            return _named(part, fields)
        case Clauses(clauses) if all(clause.occur == "should" for clause in clauses):
            parts = [_named(clause.node, fields) for clause in clauses]
            known = [part for part in parts if part is not None]
            names = {name for name, _ in known}
            if len(known) < len(parts) or len(names) != 1:
                return None
            return names.pop(), [value for _, values in known for value in values]
        case Word() | Phrase() | Wildcard() | Expression() if node.field in fields.filters:
            value = _value(node)
            return None if value is None or node.field is None else (node.field, [value])
    return None


def _value(leaf: Word | Phrase | Wildcard | Expression) -> str | None:
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


def notes_on_folders(filters: Sequence[Filter], is_empty: Callable[[str], bool]) -> Iterator[str]:
    """Yield notes on folders in the query that contain no file of the index."""
    for condition in filters:
        if condition.field == FOLDER and isinstance(condition.value, list):
            missing = filter(is_empty, map(str, condition.value))
            for name in islice(missing, _MOST_NOTES):
                yield f"No file of the index lies in a folder {_brief(name)!r}."


def _notes_on_names(unknown: Sequence[str], fields: NamedFields) -> Iterator[str]:
    """Yield a note on names before a colon that are not fields, with the existing fields."""
    names = list(dict.fromkeys(unknown))[:_MOST_NOTES]
    if not names:
        return
    shown = " and ".join(repr(_brief(name)) for name in names)
    is_one = len(names) == 1
    yield (
        f"{shown} {'is not a field' if is_one else 'are not fields'} of this index, so "
        f"{'it was' if is_one else 'they were'} searched as text. {_existing(fields)}"
    )


def _notes_on_tree(tree: Node, fields: NamedFields, terms: IndexTerms) -> Iterator[str]:
    named = [leaf for leaf in leaves(tree) if isinstance(leaf, Named) and leaf.field]
    known = {*fields.names, *_ALWAYS, *terms.fields}
    unknown = [leaf.field for leaf in named if leaf.field and leaf.field not in known]
    yield from _notes_on_names(unknown, fields)
    on_fields = (
        fields.on_fields(leaf, "should") for leaf in named if leaf.field not in fields.filters
    )
    words = (node for node in on_fields if isinstance(node, ValueWords))
    missing = (node for node in words if not terms.has_value(node))
    for node in islice(missing, _MOST_NOTES):
        name = (node.field or "").removeprefix(schema.metadata_field(""))
        yield f"No document has {_brief(node.words)!r} in its {name}."


def notes_on_values(filters: Iterable[Filter], terms: IndexTerms) -> Iterator[str]:
    """Yield notes on filters by values that no document has, with some that there are."""
    for condition in filters:
        field = schema.metadata_field(condition.field)
        is_by_value = condition.operator in ("eq", "in") and field in terms.fields
        if not is_by_value or condition.field in (FOLDER, schema.FILE_PATH):
            continue
        values = condition.value if isinstance(condition.value, list) else [condition.value]
        texts = [metadata_text(value) for value in values if value is not None]
        if any(schema.any_spelling(text) or terms.frequency(field, text) for text in texts):
            continue
        known = islice(terms.beginning_with(field, ""), _MOST_EXAMINED)
        words = (_brief(term) for term, _ in known if is_plain_word(term))
        existing = [*islice(words, _MOST_VALUES + 1)]
        more = " …" if len(existing) > _MOST_VALUES else ""
        there_are = f"; there are {', '.join(existing[:_MOST_VALUES])}{more}" if existing else ""
        yield f"No document has the {condition.field} {_brief(texts[0])!r}{there_are}."


def _existing(fields: NamedFields) -> str:
    # Fields that describe the file but hardly help to find it come last.
    names = sorted(
        (name for name in (*_ALWAYS, *fields.names) if is_plain_word(name)),
        key=metadata.ONLY_WITH_DOCUMENTS.__contains__,
    )
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"The fields are {', '.join(map(_brief, names[:_MOST_NAMES]))}{more}."


def _brief(text: str) -> str:
    return shortened(text, _LONGEST)
