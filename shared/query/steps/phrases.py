"""The step for nearness: words that stand side by side in the query count more where they are near.

It changes the order of hits only: what it adds matches where both words do. To look at positions
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
"""How many moves words that are near each other are from standing side by side."""

_FEWEST_WORDS: Final = 3
"""Words of a phrase that are more than neighbours."""

MOST_PAIRS: Final = 16
"""Pairs that are looked at: a longer text is no phrase."""


def neighbours(node: Node, weights: Weights = DEFAULT_WEIGHTS) -> list[Node]:
    """The pairs of words of a query that stand side by side, as near phrases.

    Args:
        node: the tree as it was parsed.
        weights: what nearness counts for.
    """
    if not weights.proximity or not isinstance(node, Clauses):
        return []
    return [weighted(pair, weights.proximity) for pair in islice(_pairs(node), MOST_PAIRS)]


def whole(node: Node, text: str, weights: Weights = DEFAULT_WEIGHTS) -> Node:
    """A query of words only as a phrase, for who looks for a text by a piece of it.

    Args:
        node: the tree as it was parsed, in which no word is twice.
        text: the query as it was typed.
        weights: what the phrase counts for.

    Returns:
        The phrase; `Nothing` where the query is something else, shorter than three words, which
        are neighbours, or longer than a chunk.
    """
    words = text.split()
    if not weights.whole_phrase or not _FEWEST_WORDS <= len(words) <= WORDS_PER_CHUNK:
        return Nothing()
    if not isinstance(node, Clauses):
        return Nothing()
    wanted = {part for clause in node.clauses for part in _wanted_word(clause).split()}
    # What is left over is an operator or no word; signs around a word alone are of the text.
    if not wanted.issuperset(word.strip('()"') or word for word in words):
        return Nothing()
    return weighted(Phrase(tuple(words)), weights.whole_phrase)


def _wanted_word(clause: Clause) -> str:
    """The text of a word that may or must be anywhere; "" for any other part."""
    # A word that was typed twice counts more, once.
    node = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    if clause.occur == "must_not" or not isinstance(node, Word) or node.field is not None:
        return ""
    return node.text


def with_neighbours(node: Node, pairs: list[Node]) -> Node:
    """A query whose hits have a higher score where pairs of its words are near each other.

    Args:
        node: the tree after all steps.
        pairs: the neighbours after the same steps.
    """
    near = tuple(Clause(pair, "rank") for pair in pairs if not isinstance(pair, Nothing))
    return Clauses((*node.clauses, *near)) if near and isinstance(node, Clauses) else node


def _pairs(node: Clauses) -> Iterator[Node]:
    wanted = (None if clause.occur == "must_not" else clause.node for clause in node.clauses)
    for pair in pairwise(wanted):
        match pair:
            case Word(one, None), Word(other, None):
                yield Phrase((one, other), NEAR)


def near(leaf: Leaf, occur: Occur, weights: Weights = DEFAULT_WEIGHTS) -> Node:
    """Let a phrase of several words match nearby words, too, unless it says how near.

    What must not match is the phrase alone.
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
