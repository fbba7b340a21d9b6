"""Hits grouped by document, so that one long document does not fill an answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from shared.search.meaning.ranked_hit import RankedHit
from shared.search.ranking import Ranking, scored
from shared.search.recency import Recency
from shared.search.selection import Selection

MOST_OF_A_DOCUMENT: Final = 3
"""Maximum number of hits of a document that are shown together."""

_GROWTH: Final = 8
"""Factor by which the number of hits grows while they are of too few documents."""


class _WithHits(Protocol):
    @property
    def hits(self) -> Sequence[RankedHit]: ...


_Hits = TypeVar("_Hits", bound=_WithHits)


@dataclass(frozen=True)
class GroupedHits:
    """The best hits of a document.

    Attributes:
        hits: the hits, best first, at most `MOST_OF_A_DOCUMENT`.
        more: the number of its further hits; None if hits are not grouped.
    """

    hits: Sequence[RankedHit]
    more: int | None

    def scored(self, selection: Selection, ranking: Ranking) -> "GroupedHits":
        """Return the same hits in the order of the scores that they have in a ranking."""
        again = scored(selection, ranking, self.hits)
        return GroupedHits(sorted(again, key=lambda hit: (-hit.score, hit.doc)), self.more)


def first_of_documents(
    selection: Selection, find: Callable[[int], _Hits], documents: int, least: int
) -> _Hits:
    """Return as many of the first hits as it takes for a number of documents.

    Args:
        selection: the selection that the hits are of.
        find: returns so many of the first hits; a greater number only adds hits at the end.
        documents: the number of different documents.
        least: the number of hits to look at first.

    Returns:
        Hits of so many documents, or all of them.
    """
    count = max(least, documents)
    while True:
        found = find(count)
        is_all = len(found.hits) < count or selection.is_stopped
        if is_all or len(set(selection.documents(found.hits))) >= documents:
            return found
        count *= _GROWTH


def in_groups(
    selection: Selection,
    documents: Sequence[str],
    hits: Sequence[RankedHit],
    recency: Recency | None = None,
) -> list[GroupedHits]:
    """Return the best hits of each of some documents.

    Args:
        selection: the selection that the hits are of.
        documents: the documents, as the selection names them.
        hits: the best hits of all documents, best first. Where they have too few of a document,
            its further ones follow in the order of their scores.
        recency: how the scores of the hits fell with the age of their document.
    """
    matches = selection.in_documents(documents, MOST_OF_A_DOCUMENT)
    best: dict[str, list[RankedHit]] = {document: [] for document in documents}
    for hit, document in zip(hits, selection.documents(hits), strict=True):
        if document in best:
            best[document].append(hit)
    groups = []
    for document, ranked in best.items():
        found = matches.get(document)
        known = {hit.doc for hit in ranked}
        further = [hit for hit in found.hits if hit.doc not in known] if found else []
        if recency and further:
            further = recency.applied(selection, further)
        shown = [*ranked, *further][:MOST_OF_A_DOCUMENT]
        total = found.total if found else 0
        matching = sum(not hit.is_by_meaning for hit in shown)
        groups.append(GroupedHits(shown, max(0, total - matching)))
    return groups


def only_by_meaning(selection: Selection, hits: Sequence[RankedHit]) -> set[str]:
    """Return the documents of some hits of which no chunk has a word of the query."""
    by_meaning = {*selection.documents([hit for hit in hits if hit.is_by_meaning])}
    return by_meaning - selection.in_documents(list(by_meaning), 1).keys()
