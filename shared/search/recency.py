"""Recency: scores that halve with the age of a document, where somebody asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from shared.model.metadata import MODIFIED
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.selection import Selection

RECENT_HITS: Final = 1_000
"""Number of hits that are ordered by their age, too; those after them stay after them."""

_SECONDS_OF_A_DAY: Final = 86_400

_UNKNOWN_AGE: Final = 1.0
"""Age of a document without a date, in half-lives: neither preferred to dated ones nor buried."""


@dataclass(frozen=True)
class Recency:
    """How scores fall with the age of a document.

    A score is multiplied by ``0.5 ** (age / half_life)``. All scores fall alike as time passes, so
    the order of the hits does not depend on when the search is made.

    Attributes:
        half_life: the age at which a score is halved, in days.
        now: the time from which ages are counted.
    """

    half_life: float
    now: datetime

    def factors(self, selection: Selection, hits: Sequence[RankedHit]) -> list[float]:
        """Return for each hit the factor of its score, from 0 to 1."""
        dates = map(_date, selection.values(MODIFIED, hits))
        return [0.5 ** (_UNKNOWN_AGE if date is None else self._age(date)) for date in dates]

    def applied(self, selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
        """Return the hits in the order of their scores times their factors."""
        factors = self.factors(selection, hits)
        aged = [
            replace(hit, score=hit.score * factor)
            for hit, factor in zip(hits, factors, strict=True)
        ]
        first = sorted(aged[:RECENT_HITS], key=lambda hit: -hit.score)
        return [*first, *aged[RECENT_HITS:]]

    def _age(self, date: datetime) -> float:
        """Return the age of a date in half-lives; a date in the future has none."""
        days = (self.now - date).total_seconds() / _SECONDS_OF_A_DAY
        return max(0.0, days) / self.half_life


def recency(half_life: float | None) -> Recency | None:
    """Return the recency now for a half-life in days; None without one."""
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
