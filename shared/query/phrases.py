"""The step for phrases: exact ones first, then those whose words are near each other."""

from shared.query.proximity import NEAR
from shared.query.tree import Clause, Clauses, Leaf, Node, Occur, Phrase, weighted
from shared.weights import DEFAULT_WEIGHTS, Weights


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
