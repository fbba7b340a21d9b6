"""The step for words that are common in one language of the index and rare in another.

The German article "die" stands in hardly any English text, which would make it say much of those
in which it does. So a word counts nowhere for more than in the language that has it most often.
"""

import math

from shared.query.presence import IndexTerms
from shared.query.tree import Best, Clause, Clauses, Node, Terms, Weighted, best_of, weighted


def as_rare_as_anywhere(node: Node, terms: IndexTerms) -> Node:
    """A tree in which the forms of a word in several languages count as its most common one.

    Args:
        node: a tree whose leaves are on fields.
        terms: those of the index.
    """
    match node:
        case Weighted():
            return weighted(as_rare_as_anywhere(node.node, terms), node.weight)
        case Clauses():
            parts = (
                Clause(as_rare_as_anywhere(part.node, terms), part.occur) for part in node.clauses
            )
            return Clauses(tuple(parts))
        case Best():
            rarities = {part: _rarity(part, terms) for part in node.nodes}
            least = min(rarities.values())
            return best_of(
                *(
                    weighted(part, least / rarity) if math.isfinite(rarity) else part
                    for part, rarity in rarities.items()
                )
            )
    return node


def _rarity(node: Node, terms: IndexTerms) -> float:
    """The inverse document frequency, as Lucene's ``BM25Similarity`` has it."""
    match node:
        case Weighted():
            return _rarity(node.node, terms)
        case Terms(field, texts):
            frequency = max(terms.frequency(field, text) for text in texts)
            return math.log(1 + (terms.chunks(field) - frequency + 0.5) / (frequency + 0.5))
    return math.inf
