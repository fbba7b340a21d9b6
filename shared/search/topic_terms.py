"""Telling terms of a text, by which texts on the same topic are found."""

import math
from collections import Counter
from heapq import nlargest
from operator import itemgetter
from typing import Final

from shared.analysis.analyzers import positions_of, writing_analyzer_of
from shared.analysis.detection import language_of
from shared.analysis.languages import UNDETERMINED
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.tree import Node, Terms, any_of, weighted

_TERMS: Final = 25
"""Number of most significant terms that are used, as in Lucene's ``MoreLikeThis``."""

_CANDIDATES: Final = 100
"""Number of terms that are looked up in the index: the most frequent ones in the text."""

_COMMON: Final = 0.3
"""Share of the chunks beyond which a term is too common to be significant."""


def topic_terms(text: str, terms: IndexTerms) -> Node:
    """Return the significant terms of a text, each weighted by its frequency and rarity (tf-idf).

    Args:
        text: the content of a chunk.
        terms: the terms of the index.

    Returns:
        A disjunction of the terms, whose weights sum to 1; `Nothing` if there are none.
    """
    analyzer = writing_analyzer_of(schema.STEMS, language_of(text) or UNDETERMINED)
    counts = Counter(term for _, term in positions_of(analyzer, text))
    candidates = nlargest(_CANDIDATES, counts.items(), key=itemgetter(1))
    terms.look_up((schema.STEMS, term) for term, _ in candidates)
    informative = {}
    for term, count in candidates:
        frequency = terms.frequency(schema.STEMS, term)
        if 0 < frequency <= max(1, _COMMON * terms.total):
            informative[term] = count * math.log(1 + terms.total / frequency)
    best = sorted(informative.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
    total = sum(value for _, value in best)
    return any_of(*(weighted(Terms(schema.STEMS, (term,)), value / total) for term, value in best))
