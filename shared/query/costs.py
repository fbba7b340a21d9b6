"""What the patterns and phrases of a query cost on an index, beyond what its words do."""

import re
from typing import Final

from shared.errors import QueryError
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.tree import Expression, Fuzzy, Leaf, Node, Pattern, Range, TermPhrase, leaves

MAX_TERMS_LOOKED_AT: Final = 50_000_000
"""Terms that Lucene looks at for all patterns of a query. It looks at some ten million a second,
and several times: to find the chunks, to count them, and to tell what each has of the query."""

_LETTERS_APART: Final = 16
"""Into how many parts each letter that a pattern begins with divides the terms of an index."""

_FUZZY_SHARE: Final = 8
"""Of how many terms Lucene looks at one to find those that are within two edits."""

_BITS_OF_A_TERM: Final = 8
"""Chunks that count as much as a term: a pattern takes a bit of memory for each chunk."""

_PLAIN_POSITIONS: Final = 40
"""Words of phrases, each field counted, of which a document takes less than some milliseconds."""

_BEGINNING: Final = re.compile(r"(?:\\.|[^\\*?])*", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


def is_costly(tree: Node) -> bool:
    """Whether a query can take long on a large index, other than by the number of its words.

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
    """Refuse patterns that together have Lucene look at very many terms.

    Args:
        tree: the query after all steps.
        terms: those of the index.

    Raises:
        QueryError: it has such patterns.
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
