"""Coverage of a query by its hits: how much of it they contain, rare words weighing more."""

from collections.abc import Sequence

from shared.query.parts import Part
from shared.query.tree import Nothing
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.selection import Selection


def coverages(
    selection: Selection, parts: Sequence[Part], hits: Sequence[RankedHit]
) -> list[float]:
    """Return the share of a query that each hit contains, in any position.

    Args:
        selection: the selection that the hits are of.
        parts: the parts of the query.
        hits: some of its hits.

    Returns:
        For each hit a number from 0 to 1; 1 if there are no parts.
    """
    total = sum(part.rarity for part in parts)
    if not total or not hits:
        return [1.0] * len(hits)
    there = [part for part in parts if not isinstance(part.found, Nothing)]
    return [
        sum(there[number].rarity * there[number].alike for number in matched) / total
        for matched in selection.matches([part.found for part in there], hits)
    ]
