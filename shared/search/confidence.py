"""Confidence that a hit answers the query, a number that is comparable across queries."""

import math
from collections.abc import Sequence
from typing import Any, Final

from shared.search.coverage import Evidence

FIRST_HITS: Final = 3
"""Number of hits with the highest scores that decide whether there is an answer: hits further down
often have the right words by chance, and the first hit alone is often not the best one."""

LOW: Final = 0.12
"""Threshold for low confidence: if all of the first hits are below it, there is hardly an answer;
see docs/measured/confidence.md."""

ODDS: Final = 1.9
EXPONENT: Final = 1.7
WHOLE: Final = 2.7
WHOLE_POWER: Final = 12
"""Parameters of the odds that a hit answers: ``ODDS * e ** EXPONENT * exp(WHOLE * e **
WHOLE_POWER)``, where e is its evidence. This is a logistic regression on the logarithm of the
evidence and on a power of it, which matters only if hardly anything is missing.
`benchmarks/confidence.py` fits the first three and ``LOW``; docs/measured/confidence.md
names the data."""


def confidences(evidence: Evidence, hits: Sequence[Any]) -> list[float]:
    """Return the confidence of each hit of a query.

    Args:
        evidence: the evidence of the query.
        hits: hits of the query (``ScoreDoc``).

    Returns:
        For each hit a number from 0 to 1, rounded to three digits.
    """
    found = evidence.of(hits)
    if found is None:
        return [1.0] * len(hits)
    return [round(probability(share), 3) for share in found]


def probability(evidence: float) -> float:
    """Return the probability that a hit answers, from 0 to 1, given its evidence, from 0 to 1."""
    odds = ODDS * evidence**EXPONENT * math.exp(WHOLE * evidence**WHOLE_POWER)
    return odds / (1 + odds)
