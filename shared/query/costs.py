"""Costs of the patterns and phrases of a query on an index, in addition to those of its words."""

import re
from typing import Final

from shared.errors import QueryError
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.tree import Expression, Fuzzy, Leaf, Node, Pattern, Range, TermPhrase, leaves

MAX_TERMS_LOOKED_AT: Final = 50_000_000
"""Maximum number of terms that Lucene may examine for all patterns of a query. It examines some ten
million per second, several times: to find the chunks, to count them, and to find the parts of the
query in each of them."""

_LETTERS_APART: Final = 16
"""Factor by which each leading letter of a pattern reduces the number of examined terms."""

_FUZZY_SHARE: Final = 8
"""Factor by which Lucene reduces the number of examined terms to find those within two edits."""

_BITS_OF_A_TERM: Final = 8
"""Number of chunks that cost as much as a term: a pattern takes a bit of memory for each chunk."""

_PLAIN_POSITIONS: Final = 40
"""Maximum number of words in phrases, counted per field, for which a document takes only some
milliseconds."""

_BEGINNING: Final = re.compile(r"(?:\\.|[^\\*?])*", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


def is_costly(tree: Node) -> bool:
    """Check whether a query can take long on a large index, apart from the number of its words.

    Args:
        tree: the query after all steps.
    """
    positions = 0
    for leaf in leaves(tree, excluded=True):
        if _looks_at_terms(leaf):
            return True
        if isinstance(leaf, TermPhrase):
            positions += len(leaf.positions)
    return positions > _PLAIN_POSITIONS


def check_patterns(tree: Node, terms: IndexTerms) -> None:
    """Refuse patterns for which Lucene would examine too many terms in total.

    Args:
        tree: the query after all steps.
        terms: the terms of the index.

    Raises:
        QueryError: the patterns exceed `MAX_TERMS_LOOKED_AT`.
    """
    patterns = [leaf for leaf in leaves(tree, excluded=True) if _looks_at_terms(leaf)]
    cost = sum(_cost(pattern, terms) for pattern in patterns)
    if cost > MAX_TERMS_LOOKED_AT:
        raise QueryError(
            "the wildcards, ranges, regular expressions and words with ~ of the query would have "
            f"Lucene look at {cost:,} terms of this index, and {MAX_TERMS_LOOKED_AT:,} are "
            "allowed; use fewer of them, or such that begin with letters"
        )


def _looks_at_terms(leaf: Leaf) -> bool:
    if isinstance(leaf, Range):
        return not schema.is_number_field(leaf.field or "")
    return isinstance(leaf, Pattern | Fuzzy | Expression)


def _cost(leaf: Leaf, terms: IndexTerms) -> int:
    match leaf:
        case Pattern(field, pattern):
            beginning = _BEGINNING.match(pattern)
            letters = _ESCAPE.sub(r"\1", beginning[0]) if beginning else ""
            parts = _LETTERS_APART ** min(len(letters), 8)
        case Fuzzy(field=str(field), prefix=prefix):
            parts = _FUZZY_SHARE * _LETTERS_APART ** min(prefix, 8)
        case Expression(field=str(field)) | Range(field=str(field)):
            parts = 1
        case _:
            return 0
    return terms.dictionary(field) // parts + terms.chunks(field) // _BITS_OF_A_TERM
