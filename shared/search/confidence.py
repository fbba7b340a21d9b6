"""How far a hit can be trusted to answer: a number that can be compared across queries."""

import math
from collections.abc import Sequence
from typing import Any, Final

from shared.search.coverage import Evidence

FIRST_HITS: Final = 3
"""Hits with the highest scores that decide whether there is an answer: hits further down often have
the right words by chance, and the first hit alone is often not the best one."""

LOW: Final = 0.12
"""Where each of the first hits has less, there is hardly an answer; see docs/confidence.md."""

ODDS: Final = 1.9
EXPONENT: Final = 1.7
WHOLE: Final = 2.7
WHOLE_POWER: Final = 12
"""The odds that a hit answers are ``ODDS * e ** EXPONENT * exp(WHOLE * e ** WHOLE_POWER)``, e being
its evidence: a logistic regression on the logarithm of the evidence and on a power of it, which
tells only where hardly anything is missing. `benchmarks/confidence.py` fits the first three, and
``LOW``; docs/confidence.md tells to what."""


def confidences(evidence: Evidence, hits: Sequence[Any]) -> list[float]:
    """How likely each hit is to answer a query.

    Args:
        evidence: how much of the query a hit has.
        hits: hits of it (``ScoreDoc``).

    Returns:
        For each hit a number from 0 to 1, rounded to three digits.
    """
    found = evidence.of(hits)
    if found is None:
        return [1.0] * len(hits)
    return [round(probability(share), 3) for share in found]


def probability(evidence: float) -> float:
    """How likely a hit answers, from 0 to 1, by its evidence, from 0 to 1."""
    odds = ODDS * evidence**EXPONENT * math.exp(WHOLE * evidence**WHOLE_POWER)
    return odds / (1 + odds)
