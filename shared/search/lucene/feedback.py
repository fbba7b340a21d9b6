"""Pseudo-relevance feedback: reordering of hits by the terms that the best ones have in common.

Lucene's ``MoreLikeThis`` chooses the terms by their frequency in the best hits and their rarity, as
in Rocchio 1971, Relevance feedback in information retrieval. They only reorder hits, and never the
first one; the more of the query the best hit has alone, the less they weigh.
"""

from collections.abc import Sequence
from typing import Any, Final

from java.util import ArrayList, HashMap
from org.apache.lucene.queries.mlt import MoreLikeThis
from org.apache.lucene.search import ScoreDoc

from shared.analysis.analyzers import topic_analyzer
from shared.analysis.languages import UNDETERMINED
from shared.model import schema
from shared.query.pipeline import ParsedQuery
from shared.search.confidence import coverages
from shared.search.lucene.rescoring import scored_again
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.selection import Selection

REORDERED: Final = 50
"""Number of hits that are reordered."""

_HITS: Final = 4
"""Number of best hits that are assumed to be relevant."""

_TERMS: Final = 10
"""Number of most significant terms that are used."""

_FEWEST_PARTS: Final = 5
"""Minimum number of words of a query on a topic; few words have to match as they are."""

_LEAST_UNANSWERED: Final = 0.5
"""How little the best hit must be the answer for others to be reordered."""

_MEAN_SUM: Final = 18.0
"""Sum of the weights that Lucene gives ten terms, the least of which has 1, on the mean."""

_LEAST_OCCURRENCES: Final = 2
"""Minimum number of times that a term occurs in them."""

_COMMON: Final = 30
"""Share of the chunks in per cent beyond which a term is too common to be significant."""

_ANSWERED: Final = 0.6
"""Share of a query in its best hit beyond which feedback weighs less."""

_STANDS_OUT: Final = 0.3
"""Difference between the share in the best hit and in the next ones, from which on the best hit is
the answer."""


def unanswered(shares: Sequence[float]) -> float:
    """Return how little the best hit is the answer, from 0 if it is, to 1.

    Args:
        shares: the share of the query in each of the best hits, from 0 to 1.
    """
    best, *others = shares
    lacks = (1 - best) / (1 - _ANSWERED)
    mean = sum(others) / len(others) if others else best
    return max(0.0, min(1.0, max(lacks, 1 - (best - mean) / _STANDS_OUT)))


def applies(query: ParsedQuery) -> bool:
    """Check whether feedback reorders hits of a query: one of several words on a topic."""
    has_language = any(code != UNDETERMINED for code in query.languages)
    weight = query.weights.feedback
    return has_language and query.is_plain and len(query.parts) >= _FEWEST_PARTS and weight > 0


def reordered(selection: Selection, searcher: Any, hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Return the hits of a query with those after the first one reordered.

    Args:
        selection: the selection that the hits are of; feedback applies to its query.
        searcher: its Lucene searcher.
        hits: the best hits, best first.
    """
    query = selection.query
    languages = {code: by for code, by in query.languages.items() if code != UNDETERMINED}
    if len(hits) <= _HITS:
        return list(hits)
    lacks = unanswered(coverages(selection, hits[:_HITS]))
    if lacks < _LEAST_UNANSWERED:
        return list(hits)
    weight = query.weights.feedback * lacks
    likely = MoreLikeThis(searcher.getIndexReader())
    likely.setAnalyzer(topic_analyzer(max(languages, key=languages.__getitem__)))
    likely.setFieldNames([schema.STEMS])
    likely.setMinTermFreq(_LEAST_OCCURRENCES)
    likely.setMinDocFreq(1)
    likely.setMaxDocFreqPct(_COMMON)
    likely.setMaxQueryTerms(_TERMS)
    likely.setBoost(True)
    likely.setBoostFactor(float(weight * len(query.parts) / _MEAN_SUM))
    texts = ArrayList()
    for text in selection.contents(hits[:_HITS]):
        texts.add(text)
    of_fields = HashMap()
    of_fields.put(schema.STEMS, texts)
    first, *others = hits[:REORDERED]
    words = {hit.doc: hit.words for hit in others}
    again = scored_again(
        searcher, [ScoreDoc(hit.doc, hit.score) for hit in others], likely.like(of_fields)
    )
    moved = (RankedHit(hit.doc, min(hit.score, first.score), words[hit.doc]) for hit in again)
    return [first, *moved, *hits[REORDERED:]]
