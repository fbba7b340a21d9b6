"""The step for phrases: exact ones first, then those whose words are near each other."""

from shared.query import weights
from shared.query.tree import Clause, Clauses, Leaf, Node, Occur, Phrase, weighted


def near(leaf: Leaf, occur: Occur) -> Node:
    """Let a phrase of several words match nearby words, too, unless it says how near.

    What must not match is the phrase alone.
    """
    if not isinstance(leaf, Phrase) or leaf.slop or occur == "must_not":
        return leaf
    nearby = Phrase(leaf.words, weights.NEAR, leaf.field)
    return Clauses(
        (
            Clause(weighted(nearby, weights.NEAR_PHRASE)),
            Clause(weighted(leaf, weights.EXACT_PHRASE), "rank"),
        )
    )
