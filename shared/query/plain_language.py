"""The first steps: parsing of a typed query into a tree, with plain words as a fallback."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shared.analysis.analyzers import tokens
from shared.errors import QueryParseError
from shared.model import schema
from shared.model.filters import Filter
from shared.model.request import SearchRequest, Syntax
from shared.query import field_notes
from shared.query.index_terms import IndexTerms, terms_of
from shared.query.parser import parse
from shared.query.steps.metadata_fields import named_fields, with_type
from shared.query.steps.metadata_filters import take_filters
from shared.query.syntax import NamedText, has_evident_syntax, named_texts, to_lucene_syntax
from shared.query.tree import Everything, Node, rewrite


@dataclass(frozen=True)
class ReadQuery:
    """A query as parsed.

    Attributes:
        classic: the text that Lucene's parser got.
        tree: the parsed tree, with named fields resolved.
        filters: the filters in the query.
        notes: sentences for the user about parts that may not be interpreted as intended.
    """

    classic: str
    tree: Node
    filters: Sequence[Filter] = ()
    notes: tuple[str, ...] = ()


def read(request: SearchRequest, reader: Any) -> ReadQuery:
    """Parse a query by the rules of its syntax.

    Args:
        request: the query, its syntax and its operator.
        reader: the reader of the index, which knows the fields that exist.

    Raises:
        QueryParseError: the text is evidently syntax, but not valid; the message names the
            position.
        QueryError: the query is too large, nested too deeply, or cannot be run.
    """
    text = request.query
    if not text.strip():
        return ReadQuery(text, Everything())
    if ":" not in text:
        classic, tree, notes = _parsed(request, request.syntax, ())
        return ReadQuery(classic, tree, (), tuple(notes))
    fields = with_type(named_fields(reader), text, reader)
    unknown = list(_unknown_names(request, fields.names, terms_of(reader)))
    apart = {named.colon for named in unknown if named.is_one_word}
    classic, tree, notes = _parsed(request, request.syntax, fields.names, apart)
    if request.syntax != "plain":
        notes += field_notes.on_names([named.name for named in unknown], fields)
    notes += field_notes.on_tree(tree, fields, reader)
    tree, filters = take_filters(tree, fields)
    notes += field_notes.on_filters(filters, reader)
    return ReadQuery(classic, rewrite(tree, fields.on_fields), filters, tuple(notes))


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


def _unknown_names(
    request: SearchRequest, names: Collection[str], terms: IndexTerms
) -> Iterator[NamedText]:
    """Yield the names before a colon that are not fields, unless the whole word is in the index."""
    if request.syntax == "lucene":
        return
    for named in named_texts(request.query, request.syntax, names):
        found = tokens(schema.IDENTIFIERS, named.text)
        if not found or not terms.frequency(schema.IDENTIFIERS, found[0][0]):
            yield named
