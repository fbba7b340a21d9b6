"""Hits grouped by document, so that one long document does not fill an answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar

from shared.search.ranking import Ranking, Recency, scored
from shared.search.selection import RankedHit, Selection
from shared.search.versions import TextVersions, newest_versions

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
        similar: the ids of the documents with the same text that it is shown for.
    """

    hits: Sequence[RankedHit]
    more: int | None
    similar: Sequence[str] = ()

    def scored(self, selection: Selection) -> "GroupedHits":
        """Return the same hits in the order of their scores by words."""
        again = scored(selection, self.hits)
        best_first = sorted(again, key=lambda hit: (-hit.score, hit.doc))
        return replace(self, hits=best_first)


def first_of_documents(
    selection: Selection,
    find: Callable[[int], _Hits],
    documents: int,
    least: int,
    *,
    newest_only: bool = False,
    keeps_order: bool = False,
) -> tuple[_Hits, list[TextVersions]]:
    """Return as many of the first hits as it takes for a number of documents.

    Args:
        selection: the selection that the hits are of.
        find: returns so many of the first hits; a greater number only adds hits at the end.
        documents: the number of different documents.
        least: the number of hits to look at first.
        newest_only: true if only the newest of several versions of a text counts.
        keeps_order: as for `newest_versions`.

    Returns:
        Hits of so many documents, or all of them, and the first of their documents in order.
    """
    count = max(least, documents)
    while True:
        found = find(count)
        names = list(dict.fromkeys(selection.documents(found.hits)))
        is_all = len(found.hits) < count or selection.is_stopped
        if is_all or len(names) >= documents:
            texts = (
                newest_versions(selection, names, documents, keeps_order=keeps_order)
                if newest_only
                else [TextVersions(name) for name in names[:documents]]
            )
            if is_all or len(texts) == documents:
                return found, texts
        count *= _GROWTH


def first_of_newest(
    selection: Selection, find: Callable[[int], _Hits], count: int
) -> tuple[_Hits, Mapping[int, Sequence[str]]]:
    """Return as many of the first hits as it takes for a number of them in newest versions.

    Args:
        selection: the selection that the hits are of.
        find: as for `first_of_documents`.
        count: the number of hits in the newest version of their text.

    Returns:
        So many hits in newest versions, or all of them, among others. For the number of each of
        these hits, the ids of the documents that its own is shown for.
    """
    wanted = count
    while True:
        found = find(wanted)
        names = selection.documents(found.hits)
        texts = newest_versions(selection, list(dict.fromkeys(names)), len(names))
        similar = {text.document: text.similar for text in texts}
        shown = {
            hit.doc: similar[name]
            for hit, name in zip(found.hits, names, strict=True)
            if name in similar
        }
        if len(found.hits) < wanted or selection.is_stopped or len(shown) >= count:
            return found, shown
        wanted *= _GROWTH


def by_score(
    selection: Selection, ranking: Ranking, groups: Sequence[GroupedHits]
) -> list[GroupedHits]:
    """Return groups in the order of the scores that their best hits have in a ranking.

    The newest version of a text may have another score than the version with whose place it is
    shown, and none of its hits may be among the best.
    """
    known = {hit.doc for hit in ranking.hits}
    is_by_words = ranking.fusion is None and ranking.recency is None
    scored_alike = [
        group.scored(selection)
        if is_by_words and group.similar and known.isdisjoint(hit.doc for hit in group.hits)
        else group
        for group in groups
    ]
    # A search that was stopped may have found no hit of a document.
    return sorted(scored_alike, key=lambda group: -group.hits[0].score if group.hits else 0.0)


def in_groups(
    selection: Selection,
    texts: Sequence[TextVersions],
    hits: Sequence[RankedHit],
    recency: Recency | None = None,
) -> list[GroupedHits]:
    """Return the best hits of each of some documents.

    Args:
        selection: the selection that the hits are of.
        texts: the documents, each with those that it is shown for.
        hits: the best hits of all documents, best first. Where they have too few of a document,
            its further ones follow in the order of their scores.
        recency: how the scores of the hits fell with the age of their document.
    """
    documents = [text.document for text in texts]
    matches = selection.in_documents(documents, MOST_OF_A_DOCUMENT)
    best: dict[str, list[RankedHit]] = {document: [] for document in documents}
    for hit, document in zip(hits, selection.documents(hits), strict=True):
        if document in best:
            best[document].append(hit)
    groups = []
    for text in texts:
        found, ranked = matches.get(text.document), best[text.document]
        known = {hit.doc for hit in ranked}
        further = [hit for hit in found.hits if hit.doc not in known] if found else []
        if recency and further:
            further = recency.applied(selection, further)
        shown = [*ranked, *further][:MOST_OF_A_DOCUMENT]
        total = found.total if found else 0
        matching = sum(not hit.is_by_meaning for hit in shown)
        groups.append(GroupedHits(shown, max(0, total - matching), text.similar))
    return groups


def only_by_meaning(selection: Selection, hits: Sequence[RankedHit]) -> set[str]:
    """Return the documents of some hits of which no chunk has a word of the query."""
    by_meaning = {*selection.documents([hit for hit in hits if hit.is_by_meaning])}
    return by_meaning - selection.in_documents(list(by_meaning), 1).keys()
