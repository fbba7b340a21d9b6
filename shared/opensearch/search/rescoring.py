"""Scores of hits by further trees, so that they are scored again without another request."""

from collections.abc import Mapping
from struct import Struct
from typing import Final

from shared.query.tree import Clauses, Node, Nothing, Weighted, any_of
from shared.search.meaning.ranked_hit import RankedHit

_FLOAT: Final = Struct("f")


class KnownScores:
    """Scores of hits by trees, as the cluster has told them.

    The score of a weighted tree, or of a sum of trees, follows from those of its parts.
    """

    def __init__(self) -> None:
        self._scores: dict[Node, dict[int, float]] = {}

    def note(self, tree: Node, scores: Mapping[int, float]) -> None:
        """Remember the scores of some hits by a tree; 0 for a hit that it does not match."""
        self._scores.setdefault(tree, {}).update(scores)

    def score(self, tree: Node, hit: int) -> float | None:
        """Return the score of a hit by a tree; None if it is not known."""
        if (found := self._scores.get(tree, {}).get(hit)) is not None:
            return found
        match tree:
            case Nothing():
                return 0.0
            case Weighted():
                known = self.score(tree.node, hit)
                return None if known is None else tree.weight * known
            case Clauses() if all(clause.occur == "should" for clause in tree.clauses):
                nodes = [clause.node for clause in tree.clauses]
                # The first two may be known together only: the query, and what scores it again.
                together = self._scores.get(any_of(*nodes[:2]), {}).get(hit)
                rest = nodes if together is None else nodes[2:]
                parts = [self.score(node, hit) for node in rest]
                if None in parts:
                    return None
                return (together or 0.0) + sum(part for part in parts if part is not None)
        return None


def plus(hit: RankedHit, score: float) -> RankedHit:
    """Return a hit with a score added to its own, with the precision that Lucene's scores have."""
    added = _single(hit.score + _single(score))
    return RankedHit(hit.doc, added, added)


def _single(score: float) -> float:
    """Return a score with the precision that it has in Lucene; JSON shortens it."""
    found: float = _FLOAT.unpack(_FLOAT.pack(score))[0]
    return found
