"""Ranking of hits by words, by meaning and by age.

Vectors rank texts that say the same in other words; they know no names, numbers and rare words. So
a query with anything but words, or in another language than the model's, is ranked by its words
only, and one with a digit or a name mostly.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from shared.analysis.detection import VOTING, detect_language
from shared.analysis.languages import function_words_in
from shared.model.request import BY_SCORE, SearchRequest
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Clause, clauses_of, plain_word
from shared.search.selection import Found, Meaning, RankedHit, Selection
from shared.semantic.sentence_model import SentenceModel
from shared.storage.commits import Snapshot

if TYPE_CHECKING:
    from shared.search.meaning import Fusion

RECENT_HITS: Final = 1_000  # that are ordered by their age, too; those after them stay after them

_SECONDS_OF_A_DAY: Final = 86_400

_UNKNOWN_AGE: Final = 1.0  # half-lives of a document without a date: neither preferred nor buried

_MOST_WITH_IDENTIFIERS: Final = 0.05
"""Greatest weight of the meaning of a query with an identifier."""

_IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)\S+")
"""A word with letters and digits, such as B-17: vectors hardly tell it from B-18."""


@dataclass(frozen=True)
class Recency:
    """How scores fall with the age of a document.

    A score is multiplied by ``0.5 ** (age / half_life)``. All scores fall alike as time passes, so
    the order of the hits does not depend on when the search is made.
    """

    half_life: float  # in days
    now: datetime

    def factors(self, selection: Selection, hits: Sequence[RankedHit]) -> list[float]:
        """Return for each hit the factor of its score, from 0 to 1."""
        dates = map(_date, selection.modified(hits))
        # A date in the future has no age.
        days = (
            None if date is None else (self.now - date).total_seconds() / _SECONDS_OF_A_DAY
            for date in dates
        )
        return [
            0.5 ** (_UNKNOWN_AGE if age is None else max(0.0, age) / self.half_life) for age in days
        ]

    def applied(self, selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
        """Return the hits in the order of their scores times their factors."""
        factors = self.factors(selection, hits)
        aged = [
            replace(hit, score=hit.score * factor)
            for hit, factor in zip(hits, factors, strict=True)
        ]
        first = sorted(aged[:RECENT_HITS], key=lambda hit: -hit.score)
        return [*first, *aged[RECENT_HITS:]]


def recency(half_life: float | None) -> Recency | None:
    return None if half_life is None else Recency(half_life, datetime.now(UTC))


def _date(text: str | None) -> datetime | None:
    """Return the beginning of an ISO 8601 date, a month or a year; None if it is none."""
    if text is None:
        return None
    for rest in ("", "-01", "-01-01"):
        try:
            date = datetime.fromisoformat(text + rest)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


@dataclass(frozen=True)
class Ranking:
    """Hits in order, best first unless a request asks for another order."""

    found: Found  # the hits by words, with their number
    hits: Sequence[RankedHit]
    best: Sequence[RankedHit]  # the first ones by their scores, whatever the order
    fusion: "Fusion | None" = None  # how meaning took part in the scores; None if it did not
    recency: Recency | None = None  # how scores fall with the age of a document, if they do


def best_first(
    selection: Selection,
    count: int,
    meaning: Meaning | None = None,
    recency: Recency | None = None,
) -> Ranking:
    """Find so many of the best hits; a greater count only adds hits at the end."""
    if recency is not None:
        ranking = best_first(selection, max(count, RECENT_HITS), meaning)
        aged = recency.applied(selection, ranking.hits)[:count]
        return replace(ranking, hits=aged, best=aged, recency=recency)
    if meaning is None:
        found = selection.best(count)
        return Ranking(found, found.hits, found.hits)
    # NumPy is imported only where meaning takes part.
    from shared.search.meaning import RESCORED, fused, nearest_only

    if meaning.alone:
        near = nearest_only(meaning, count)
        return Ranking(Found(near, len(near), is_exact=True), near, near)
    found = selection.best(max(count, RESCORED))
    every, fusion = fused(selection, meaning, found.hits)
    hits = every[:count]
    return Ranking(found, hits, hits, fusion)


def scored(selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
    unscored = [replace(hit, score=0.0, words=0.0) for hit in hits]
    again = selection.scored_again(unscored, selection.query.tree)
    scores = {hit.doc: hit for hit in again}
    return [scores[hit.doc] for hit in hits]


def meaning_of(snapshot: Snapshot, query: ParsedQuery, request: SearchRequest) -> Meaning | None:
    model, encoder, searcher = snapshot.model, snapshot.encoder, snapshot.searcher
    if request.search == "words" or model is None or encoder is None or not query.parts:
        return None
    if request.search == "meaning":
        vector = encoder.vector(model, request.query)
        if vector is None:
            return None
        return Meaning(vector, model.unrelated, 1.0, True, searcher, alone=True)
    clauses = clauses_of(query.telling)
    most = _most(clauses) if _is_known_language(request.query, model) else 0.0
    vector = encoder.vector(model, request.query) if most else None
    if vector is None:
        return None
    adds = all(clause.occur == "should" for clause in clauses) and request.sort == BY_SCORE
    return Meaning(vector, model.unrelated, most, adds, searcher)


def _most(clauses: Sequence[Clause]) -> float:
    """Return the greatest weight that the meaning of some parts of a query may have.

    It is 0 unless all are words that a chunk may have in any field, and not all are identifiers.
    """
    plain = [plain_word(clause) for clause in clauses if clause.occur != "must_not"]
    identifiers = [word is None or bool(_IDENTIFIER.fullmatch(word)) for word in plain]
    if None in plain or all(identifiers):
        return 0.0
    return _MOST_WITH_IDENTIFIERS if any(identifiers) else 1.0


def _is_known_language(text: str, model: SentenceModel) -> bool:
    """Check whether a query may be in a language of the model."""
    if not model.languages:
        return True
    detected = detect_language(text)
    if detected is not None:
        return model.knows(detected)
    # In short queries function words tell.
    words = text.lower().split()
    known, others = VOTING.intersection(model.languages), VOTING.difference(model.languages)
    return _function_words(words, known) >= _function_words(words, others)


def _function_words(words: Sequence[str], languages: Iterable[str]) -> int:
    """Return the greatest number of words that are function words of one of some languages."""
    known = [sum(code in function_words_in(word) for word in words) for code in languages]
    return max(known, default=0)
