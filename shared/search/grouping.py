"""Hits grouped by document, of which a search shows the newest version of a text.

Grouped, one long document does not fill an answer. An older version of a text is left out only if a
newer one in the same folder matches the query as well: a contract with one party is not hidden by
that with another one, when its name is searched, nor by what somebody sends by mail.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from shared.errors import FilterError
from shared.model import schema
from shared.model.filters import Filter
from shared.model.schema import VERSION_OF
from shared.search.selection import Fingerprinted, RankedHit, Ranking, Selection
from shared.storage.fingerprints import VERSION_RESEMBLANCE, Fingerprint

MOST_OF_A_DOCUMENT: Final = 3  # hits that are shown together
_GROWTH: Final = 8  # factor of the number of hits while they are of too few documents
MOST_VERSIONS: Final = 500  # documents that are compared at a time with those of a page of results
_LEAST_BLOCK: Final = 5  # documents whose versions are looked for at once
_RARE: Final = 50  # documents that have a telling term, at most

_AS_WELL: Final = 0.8
"""Share of the score of a document that a version of it must have to take its place. In versions
with other paragraphs chunks begin elsewhere, which changes their scores a little; a rare word that
is missing takes more."""


@dataclass(frozen=True, slots=True)
class TextVersions:
    """The document that a search shows of the versions of a text, which is the newest of them."""

    document: str  # its name in the selection
    similar: tuple[str, ...] = ()  # the ids of the others, the newest first


def newest_versions(
    selection: Selection, documents: Sequence[str], count: int, *, keeps_order: bool = False
) -> list[TextVersions]:
    """Return the newest version of each of so many of the texts that the found documents have.

    If the order is kept, it stays in its own place among the documents; else it takes that of the
    first version, which matches best.
    """
    by_place = {document: place for place, document in enumerate(documents)}
    waiting = iter(documents)
    taken: set[str] = set()
    later: dict[str, TextVersions] = {}
    found: list[TextVersions] = []
    while (missing := count - len(found)) > 0 and (
        block := [*islice(waiting, max(missing, _LEAST_BLOCK))]
    ):
        new = [document for document in block if document not in taken]
        versions = similar_documents(selection, new)
        others = dict.fromkeys(other.document for of in versions.values() for other in of)
        hits_of = selection.in_documents([*others], 1)
        best = {document: found.hits[0].score for document, found in hits_of.items()}
        for document in block:
            if document in later:
                found.append(later[document])
            if document in taken:
                continue
            together = [
                other
                for other in versions.get(document, ())
                if other.document not in taken
                and _folder(other) == _folder(versions[document][0])
                and _matches_as_well(other.document, document, best, by_place)
            ]
            taken.update((document, *(other.document for other in together)))
            # The first one if none is newer.
            together.sort(key=lambda each: each.modified or "", reverse=True)
            names = [each.document for each in together] or [document]
            text = TextVersions(names[0], tuple(each.id for each in together[1:]))
            if keeps_order and text.document != document:
                later[text.document] = text
            else:
                found.append(text)
    return found[:count]


def _folder(document: Fingerprinted) -> str:
    """Return the folder or the container of a document, whose writers are one another's equals."""
    return document.id.rpartition("/")[0]


def similar_documents(
    selection: Selection, documents: Sequence[str]
) -> Mapping[str, list[Fingerprinted]]:
    """Return the versions of the texts of those documents that have several.

    They begin with the document itself. Neither the query nor the filters of the selection count.
    """
    own = selection.fingerprints(documents)
    terms = _telling_terms(selection, own)
    if not terms:
        return {}
    with_number: dict[int, list[Fingerprinted]] = {}
    for each in own:
        for number in each.fingerprint.leading:
            with_number.setdefault(number, []).append(each)

    def versions_among_own(other: Fingerprint) -> list[Fingerprinted]:
        near = {id(each): each for number in other.leading for each in with_number.get(number, ())}
        return [
            each
            for each in near.values()
            if other.resemblance(each.fingerprint) >= VERSION_RESEMBLANCE
        ]

    # Its own text is found for each document, too.
    most = MOST_VERSIONS + len(own)
    found: dict[str, list[Fingerprinted]] = {each.document: [each] for each in own}
    for other in selection.fingerprints_sharing(
        sorted(terms), most, lambda other: bool(versions_among_own(other))
    ):
        for each in versions_among_own(other.fingerprint):
            if each.document != other.document:
                found[each.document].append(other)
    return {
        document: [itself, *sorted(others, key=lambda other: other.id)]
        for document, (itself, *others) in found.items()
        if others
    }


def _telling_terms(selection: Selection, documents: Sequence[Fingerprinted]) -> set[str]:
    """Return the terms by which to look for versions of documents.

    These are the terms that others have, too. Terms of sentences that many documents have, such as
    a footer, are left out where a document has others.
    """
    terms = selection.terms
    terms.look_up((schema.FINGERPRINT, term) for of in documents for term in of.fingerprint.terms)
    telling: set[str] = set()
    for document in documents:
        known = {
            term: terms.frequency(schema.FINGERPRINT, term) for term in document.fingerprint.terms
        }
        rare = {term for term, documents_with in known.items() if documents_with <= _RARE}
        telling |= {term for term in rare if known[term] > 1}
        if known and not rare:
            telling.add(min(known, key=lambda term: (known[term], term)))
    return telling


def resolved(selection: Selection, filters: Sequence[Filter]) -> tuple[Filter, ...]:
    """Return filters with the ids of documents in place of those whose versions are meant."""
    return tuple(
        _with_ids(selection, each) if each.field == VERSION_OF else each for each in filters
    )


def _with_ids(selection: Selection, condition: Filter) -> Filter:
    values = condition.value if isinstance(condition.value, list) else [condition.value]
    operator = {"eq": "in", "ne": "not_in"}.get(condition.operator, condition.operator)
    is_plain = condition.minimum is None and condition.maximum is None
    if operator not in {"in", "not_in"} or not is_plain or not values or None in values:
        raise FilterError(
            f"the filter on {VERSION_OF!r} takes the id of a document, or several, and no "
            f"{condition.operator!r}"
        )
    ids = [str(value) for value in values]
    versions = similar_documents(selection, [schema.keyword(id_) for id_ in ids])
    others = (other.id for of in versions.values() for other in of)
    return replace(
        condition,
        field=schema.SOURCE_DOCUMENT,
        operator="in" if operator == "in" else "not_in",
        value=[*dict.fromkeys((*ids, *others))],
    )


def _matches_as_well(
    one: str, other: str, best: Mapping[str, float], found: Mapping[str, int]
) -> bool:
    """Check whether a document matches about as well as another one of the same text."""
    if one == other:
        return True
    if other in best:
        return best.get(one, 0.0) >= _AS_WELL * best[other]
    # Both are found by their meaning only.
    return one not in best and one in found


@dataclass(frozen=True)
class GroupedHits:
    """The best hits of a document, best first, at most `MOST_OF_A_DOCUMENT`."""

    hits: Sequence[RankedHit]
    more: int | None  # the number of its further hits; None if hits are not grouped
    similar: Sequence[str] = ()  # the ids of the documents with the same text it is shown for

    def scored(self, selection: Selection) -> "GroupedHits":
        """Return the same hits in the order of their scores by words."""
        again = selection.scored(self.hits)
        return replace(self, hits=sorted(again, key=lambda hit: (-hit.score, hit.doc)))


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
