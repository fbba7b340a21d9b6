"""The first steps: a typed query becomes a tree and filters, or plain words if it is not valid.

Notes say which names, values and folders in the query may not be what was meant.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from shared.analysis.analyzers import tokens
from shared.errors import QueryParseError
from shared.messages import is_plain_word, shortened
from shared.model import metadata, schema
from shared.model.filters import Filter
from shared.model.request import SearchRequest, Syntax
from shared.model.schema import FOLDER
from shared.query.index_terms import IndexTerms
from shared.query.named_fields import (
    ALWAYS_FIELDS,
    Named,
    NamedFields,
    named_fields,
    take_filters,
    with_type,
)
from shared.query.on_fields import as_typed
from shared.query.parser import parse
from shared.query.syntax import (
    NamedText,
    excluded_words,
    has_evident_syntax,
    named_texts,
    to_lucene_syntax,
)
from shared.query.tree import Everything, Node, Nothing, leaves, rewrite
from shared.query.values import ValueWords

_MOST_NAMES: Final = 30
_MOST_NOTES: Final = 3
_MOST_VALUES: Final = 10
_LONGEST: Final = 40
"""Maximum numbers of names, of notes of each kind and of values in a note, and maximum length of a
name, in characters."""


@dataclass(frozen=True)
class ReadQuery:
    """A query as parsed."""

    classic: str  # the text that Lucene's parser got
    tree: Node  # with named fields resolved
    filters: Sequence[Filter] = ()  # those in the query
    notes: tuple[str, ...] = ()  # sentences on parts that may not be interpreted as intended


def read(request: SearchRequest, terms: IndexTerms) -> ReadQuery:
    """Parse a query by the rules of its syntax."""
    request = _with_options(request, terms)
    text = request.query
    if not text.strip():
        return ReadQuery(text, Everything())
    if ":" not in text:
        classic, tree, notes = _parsed(request, request.syntax, ())
        notes += _notes_on_exclusions(request, notes)
        return ReadQuery(classic, tree, (), tuple(notes))
    fields = with_type(terms.once(named_fields), text, terms)
    unknown = list(_unknown_names(request, fields.names, terms))
    apart = {named.colon for named in unknown if named.is_one_word}
    classic, tree, notes = _parsed(request, request.syntax, fields.names, apart)
    notes += _notes_on_exclusions(request, notes)
    if request.syntax != "plain":
        notes += _notes_on_names([named.name for named in unknown], fields)
    notes += _notes_on_tree(tree, fields, terms)
    tree, filters = take_filters(tree, fields)
    notes += _notes_on_filters(filters, terms)
    on_fields = rewrite(tree, fields.on_fields) or Nothing()
    return ReadQuery(classic, on_fields, filters, tuple(notes))


def _with_options(request: SearchRequest, terms: IndexTerms) -> SearchRequest:
    """Return a request in which options of a command line that some chunk has are escaped."""
    text = request.query
    for word in excluded_words(text, request.syntax):
        option = "".join(token.text for token in tokens(as_typed(f"-{word}")))
        if terms.frequency(schema.CONTENT, option):
            text = text.replace(f"-{word}", f"\\-{word}", 1)
    return request if text == request.query else replace(request, query=text)


def notes_on_folders(filters: Sequence[Filter], is_empty: Callable[[str], bool]) -> Iterator[str]:
    """Yield notes on folders in the query that contain no file of the index."""
    for condition in filters:
        if condition.field == FOLDER and isinstance(condition.value, list):
            missing = filter(is_empty, map(str, condition.value))
            for name in islice(missing, _MOST_NOTES):
                yield f"No file of the index lies in a folder {_brief(name)!r}."


def _parsed(
    request: SearchRequest, syntax: Syntax, names: Collection[str], apart: Collection[int] = ()
) -> tuple[str, Node, list[str]]:
    """Return a query in Lucene's syntax, its tree, and a note if plain text was the fallback."""
    text = request.query
    classic = to_lucene_syntax(text, syntax, names, apart)
    try:
        return classic, parse(text, classic, request.operator), []
    except QueryParseError as error:
        if syntax != "auto" or has_evident_syntax(text, names):
            raise
        note = f"The query was searched as plain text, since it is not valid: {error.reason}."
    classic, tree, _ = _parsed(request, "plain", names, apart)
    return classic, tree, [note]


def _notes_on_exclusions(request: SearchRequest, notes: Sequence[str]) -> Iterator[str]:
    """Yield a note on words that a minus has excluded, which may have been meant as text.

    With a note so far, the query was searched as plain text.
    """
    words = [] if notes else excluded_words(request.query, request.syntax)
    if words:
        shown = " and ".join(repr(_brief(f"-{word}")) for word in words[:_MOST_NOTES])
        yield f"{shown} excluded chunks; in quotes, it is searched as text."


def _unknown_names(
    request: SearchRequest, names: Collection[str], terms: IndexTerms
) -> Iterator[NamedText]:
    """Yield the names before a colon that are not fields, unless the whole word is in the index."""
    if request.syntax == "lucene":
        return
    for named in named_texts(request.query, request.syntax, names):
        whole = "".join(token.text for token in tokens(named.text))
        if not terms.frequency(schema.CONTENT, whole):
            yield named


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
    """Yield notes on conditions that no document meets."""
    named = [leaf for leaf in leaves(tree) if isinstance(leaf, Named) and leaf.field]
    known = {*fields.names, *ALWAYS_FIELDS, *terms.fields}
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


def _notes_on_filters(filters: Sequence[Filter], terms: IndexTerms) -> Iterator[str]:
    """Yield notes on filters in the query with values that no document has."""
    for condition in filters:
        if condition.field == FOLDER or condition.operator != "in":
            continue
        field = schema.metadata_field(condition.field)
        values = condition.value if isinstance(condition.value, list) else [condition.value]
        if any(terms.frequency(field, str(value)) for value in values):
            continue
        known = terms.beginning_with(field, "")
        words = (term for term, _ in known if is_plain_word(term))
        existing = [*islice(words, _MOST_VALUES + 1)]
        more = " …" if len(existing) > _MOST_VALUES else ""
        yield (
            f"No document has the {condition.field} {_brief(str(values[0]))!r}; there are "
            f"{', '.join(map(_brief, existing[:_MOST_VALUES]))}{more}."
        )


def _existing(fields: NamedFields) -> str:
    """Return a sentence with the fields that a query may name."""
    # Fields that describe the file but hardly help to find it come last.
    names = sorted(
        (name for name in (*ALWAYS_FIELDS, *fields.names) if is_plain_word(name)),
        key=metadata.ONLY_WITH_DOCUMENTS.__contains__,
    )
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"The fields are {', '.join(map(_brief, names[:_MOST_NAMES]))}{more}."


def _brief(text: str) -> str:
    return shortened(text, _LONGEST)
