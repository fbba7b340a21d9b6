"""Step for nearness: neighbouring words of the query weigh more where they are near each other.

It only changes the order of hits: the added parts match only where both words do. Reading positions
takes longer than all the rest, so only the best hits are scored by it (`shared.search.ranking`).
"""

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

from shared.model.chunks import WORDS_PER_CHUNK
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.query.tree import (
    Clause,
    Clauses,
    Leaf,
    Node,
    Nothing,
    Occur,
    Phrase,
    Weighted,
    Word,
    weighted,
)

NEAR: Final = 3
"""Slop of near words: the number of moves that separate them from being adjacent."""

_FEWEST_WORDS: Final = 3
"""Minimum number of words of a phrase that is more than a pair of neighbours."""

MOST_PAIRS: Final = 16
"""Maximum number of pairs: a longer text is not a phrase."""


def neighbours(node: Node, weights: Weights = DEFAULT_WEIGHTS) -> list[Node]:
    """Return the pairs of adjacent words of a query, as near phrases.

    Args:
        node: the tree as parsed.
        weights: the weights of the search.
    """
    if not weights.proximity or not isinstance(node, Clauses):
        return []
    return [weighted(pair, weights.proximity) for pair in islice(_pairs(node), MOST_PAIRS)]


def whole(node: Node, text: str, weights: Weights = DEFAULT_WEIGHTS) -> Node:
    """Return a query of words only as a phrase, for a search by an excerpt of a text.

    Args:
        node: the tree as parsed, in which no word occurs twice.
        text: the query as typed.
        weights: the weights of the search.

    Returns:
        The phrase; `Nothing` if the query is something else, shorter than three words, which are
        neighbours, or longer than a chunk.
    """
    words = text.split()
    if not weights.whole_phrase or not _FEWEST_WORDS <= len(words) <= WORDS_PER_CHUNK:
        return Nothing()
    if not isinstance(node, Clauses):
        return Nothing()
    wanted = {part for clause in node.clauses for part in _wanted_word(clause).split()}
    # The rest would be operators or not words; signs around a word alone belong to the text.
    if not wanted.issuperset(word.strip('()"') or word for word in words):
        return Nothing()
    return weighted(Phrase(tuple(words)), weights.whole_phrase)


def _wanted_word(clause: Clause) -> str:
    """Return the text of a word that may or must be anywhere; "" for any other part."""
    # A word that was typed twice is one clause with a weight.
    node = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    if clause.occur == "must_not" or not isinstance(node, Word) or node.field is not None:
        return ""
    return node.text


def _pairs(node: Clauses) -> Iterator[Node]:
    wanted = (None if clause.occur == "must_not" else clause.node for clause in node.clauses)
    for pair in pairwise(wanted):
        match pair:
            case Word(one, None), Word(other, None):
                yield Phrase((one, other), NEAR)


def near(leaf: Leaf, occur: Occur, weights: Weights = DEFAULT_WEIGHTS) -> Node:
    """Make a phrase of several words also match nearby words, unless it has a slop.

    An excluded phrase is not changed.
    """
    if not isinstance(leaf, Phrase) or leaf.slop or occur == "must_not":
        return leaf
    nearby = Phrase(leaf.words, NEAR, leaf.field)
    return Clauses(
        (
            Clause(weighted(nearby, weights.near_phrase)),
            Clause(weighted(leaf, weights.exact_phrase), "rank"),
        )
    )
