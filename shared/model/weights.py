"""Weights of matches by field and kind, the one table of ranking.

Scores are BM25 (Robertson et al. 1994, as in Lucene's ``BM25Similarity``) times these weights,
summed over the fields; of the language fields only the best counts. docs/measured/relevance.md
shows the effect of each weight.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of a search; 0 switches a kind of match off."""

    stems: float = 1.0
    title_stems: float = 0.3
    irregular: float = 0.3
    exact: float = 0.15
    content: float = 1.0
    title: float = 0.3
    path: float = 1.0
    metadata: float = 0.15
    part: float = 0.7
    short_part: float = 0.4
    row: float = 0.3
    joined: float = 0.7
    digits: float = 8.0
    exact_phrase: float = 1.0
    near_phrase: float = 0.5
    whole: float = 2.0
    feedback: float = 0.5
    language: float = 1.5
    similar: float = 1.0
    compound: float = 0.5
    pattern: float = 0.1
    rewritten: float = 0.5
    k1: float = 1.2
    b: float = 0.75


DEFAULT_WEIGHTS = Weights()
