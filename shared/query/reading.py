"""The first steps: a query as it was typed becomes a tree, and what does not parse plain words."""

from collections.abc import Collection
from dataclasses import dataclass

from shared.errors import QueryParseError
from shared.query.parser import parse
from shared.query.syntax import has_evident_syntax, to_lucene_syntax
from shared.query.tree import Everything, Node
from shared.search_options import SearchRequest


@dataclass(frozen=True)
class ReadQuery:
    """A query as it was understood.

    Attributes:
        classic: the text as Lucene's parser got it.
        tree: what the parser made of it.
        notes: sentences for whoever asked, where the query was not read as it may have been meant.
    """

    classic: str
    tree: Node
    notes: tuple[str, ...] = ()


def read(request: SearchRequest, keys: Collection[str]) -> ReadQuery:
    """Read a query by the rules of its syntax.

    Args:
        request: the query, its syntax and its operator.
        keys: of metadata, which a colon may follow like the name of a field.

    Raises:
        QueryParseError: the text is evidently syntax, but not valid; the message says where.
        QueryError: the query is too large, nested too deeply, or cannot be run.
    """
    text = request.query
    if not text.strip():
        return ReadQuery(text, Everything())
    classic = to_lucene_syntax(text, request.syntax, keys)
    try:
        return ReadQuery(classic, parse(text, classic, request.operator))
    except QueryParseError as error:
        if request.syntax != "auto" or has_evident_syntax(text, keys):
            raise
        plain = to_lucene_syntax(text, "plain")
        note = (
            f"The query was searched as plain text, since it is not valid syntax: {error.reason}."
        )
        return ReadQuery(plain, parse(text, plain, request.operator), (note,))
