"""Hits grouped by document, so that one long document does not fill an answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.search.ranking import Ranking, scored
from shared.search.selection import RankedHit, Selection
from shared.search.versions import TextVersions, newest_versions

MOST_OF_A_DOCUMENT: Final = 3
"""Maximum number of hits of a document that are shown together."""

_GROWTH: Final = 8
"""Factor by which the number of hits grows while they are of too few documents."""


@dataclass(frozen=True)
class GroupedHits:
    """The best hits of a document, best first, at most `MOST_OF_A_DOCUMENT`."""

    hits: Sequence[RankedHit]
    more: int | None  # the number of its further hits; None if hits are not grouped
    similar: Sequence[str] = ()  # the ids of the documents with the same text it is shown for

    def scored(self, selection: Selection) -> "GroupedHits":
        """Return the same hits in the order of their scores by words."""
        again = scored(selection, self.hits)
        best_first = sorted(again, key=lambda hit: (-hit.score, hit.doc))
        return replace(self, hits=best_first)


def first_of_documents(
    selection: Selection,
    find: Callable[[int], Ranking],
    documents: int,
    least: int,
    *,
    newest_only: bool,
    keeps_order: bool,
) -> tuple[Ranking, list[TextVersions]]:
    """Find hits of so many documents, or all hits, and return the first of their documents.

    A greater number given to `find` only adds hits at the end; at least the least number of them is
    looked at first. Of several versions of a text only the newest may count, see `newest_versions`.
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
    selection: Selection, find: Callable[[int], Ranking], count: int
) -> tuple[Ranking, Mapping[int, Sequence[str]]]:
    """Find so many hits in the newest version of their text, or all, among others.

    For the number of each of them, the ids of the documents that its own is shown for are returned.
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
    selection: Selection, texts: Sequence[TextVersions], ranking: Ranking, *, is_sorted: bool
) -> list[GroupedHits]:
    """Return the best hits of each of some documents.

    Where the ranking has too few of a document, or is in another order than that of the scores, its
    further ones follow in the order of their scores.
    """
    documents = [text.document for text in texts]
    matches = selection.in_documents(documents, MOST_OF_A_DOCUMENT)
    hits = [] if is_sorted else ranking.hits
    best: dict[str, list[RankedHit]] = {document: [] for document in documents}
    for hit, document in zip(hits, selection.documents(hits), strict=True):
        if document in best:
            best[document].append(hit)
    groups = []
    for text in texts:
        found, ranked = matches.get(text.document), best[text.document]
        known = {hit.doc for hit in ranked}
        further = [hit for hit in found.hits if hit.doc not in known] if found else []
        if ranking.recency and further:
            further = ranking.recency.applied(selection, further)
        shown = [*ranked, *further][:MOST_OF_A_DOCUMENT]
        total = found.total if found else 0
        matching = sum(not hit.is_by_meaning for hit in shown)
        groups.append(GroupedHits(shown, max(0, total - matching), text.similar))
    return groups


def only_by_meaning(selection: Selection, hits: Sequence[RankedHit]) -> set[str]:
    """Return the documents of some hits of which no chunk has a word of the query."""
    by_meaning = {*selection.documents([hit for hit in hits if hit.is_by_meaning])}
    return by_meaning - selection.in_documents(list(by_meaning), 1).keys()
