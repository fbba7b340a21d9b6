"""Confidence that a hit answers the query, a number that is comparable across queries."""

import math
from collections.abc import Sequence
from typing import Final

from shared.query.pipeline import ParsedQuery, Part
from shared.query.tree import Nothing
from shared.search.selection import Nearness, RankedHit, Selection

FIRST_HITS: Final = 3
"""Number of hits with the highest scores that decide whether there is an answer: hits further down
often have the right words by chance, and the first hit alone is often not the best one."""

LOW: Final = 0.22
"""Threshold for low confidence: if all of the first hits are below it, there is hardly an answer;
see docs/measured/confidence.md."""

_LIKELY: Final = 0.5
"""Minimum confidence of a hit shown as likely, which answers the query more often than not."""

ODDS: Final = 1.5
EXPONENT: Final = 1.5
WHOLE: Final = 1.5
WHOLE_POWER: Final = 12
"""Parameters of the odds that a hit answers: ``ODDS * e ** EXPONENT * exp(WHOLE * c **
WHOLE_POWER)``, where e is its evidence and c the share of the query that it contains. This is a
logistic regression on the logarithm of the evidence and on a power of the share, which matters only
if hardly anything is missing. `benchmarks/confidence.py` of commit fc9e918b fitted the first three
and ``LOW``; docs/measured/confidence.md names the data."""

NEAR: Final = (-2.3, 5.2, 0.6, 3.1)
"""Parameters a, b, c and d of the odds of a hit whose nearness n in meaning is known: ``exp(a + b *
(n - m) + c * u + d * s ** WHOLE_POWER)``, where m is the nearness that chance alone would give, u
is how unusual its cosine is for the model, and s the share of the query's words in it.
docs/measured/semantic.md names the data."""

_MOST_CERTAIN: Final = 4.6
"""Logarithm of the greatest odds, 99 to 1: that much is never known of a text."""


def confidence_word(confidence: float) -> str:
    if confidence >= _LIKELY:
        return "likely"
    return "possible" if confidence >= LOW else "unlikely"


def confidences(selection: Selection, query: ParsedQuery, hits: Sequence[RankedHit]) -> list[float]:
    """Return the confidence of each hit of a query, from 0 to 1; 1 if nothing is asked for."""
    if not query.parts:
        return [1.0] * len(hits)
    return [
        round(
            probability(*pair) if hit.near is None else probability_near(hit.near, pair[1]),
            3,
        )
        for pair, hit in zip(evidence(selection, query, hits), hits, strict=True)
    ]


def evidence(
    selection: Selection, query: ParsedQuery, hits: Sequence[RankedHit]
) -> Sequence[tuple[float, float]]:
    """Return the evidence of each hit, from 0 and seldom above 1, and the share of the query in it.

    For words the evidence is the mean of the share, and of the score relative to the rarity of the
    words. Anything else, such as a phrase, a pattern or a condition, either matches as it was typed
    or not at all. The rewritten query counts if a hit contains more of it. The query has parts.
    """
    shares = coverages(selection, hits)
    total = sum(part.rarity for part in query.parts)
    found = shares
    if total and all(part.is_word for part in query.parts):
        found = [(share + hit.words / total) / 2 for share, hit in zip(shares, hits, strict=True)]
    if query.rewritten:
        others = _shares(selection, query.rewritten, hits)
        found, shares = list(map(max, found, others)), list(map(max, shares, others))
    return list(zip(found, shares, strict=True))


def probability(evidence: float, share: float) -> float:
    """Return the probability that a hit answers, from its evidence and its share of the query."""
    odds: float = ODDS * max(0.0, evidence) ** EXPONENT * math.exp(WHOLE * share**WHOLE_POWER)
    return odds / (1 + odds)


def probability_near(near: Nearness, share: float) -> float:
    """Return the probability that a hit answers, from its nearness and its share of the query."""
    a, b, c, d = NEAR
    beyond_chance = near.value - near.by_chance
    log_odds = a + b * beyond_chance + c * near.unusual + d * share**WHOLE_POWER
    odds = math.exp(min(log_odds, _MOST_CERTAIN))
    return odds / (1 + odds)


def coverages(selection: Selection, hits: Sequence[RankedHit]) -> list[float]:
    """Return the share of its query that each hit of a selection contains, in any position.

    Rare words add more to it. It is from 0 to 1, and 1 if there are no parts.
    """
    known = selection.shares
    missing = [hit for hit in hits if hit.doc not in known]
    shares = _shares(selection, selection.query.parts, missing)
    known.update(zip([hit.doc for hit in missing], shares, strict=True))
    return [known[hit.doc] for hit in hits]


def _shares(selection: Selection, parts: Sequence[Part], hits: Sequence[RankedHit]) -> list[float]:
    total = sum(part.rarity for part in parts)
    if not total or not hits:
        return [1.0] * len(hits)
    there = [part for part in parts if not isinstance(part.found, Nothing)]
    values = [part.rarity * part.alike for part in there]
    matches = selection.matches([part.found for part in there], hits)
    return [sum(map(values.__getitem__, matched)) / total for matched in matches]
