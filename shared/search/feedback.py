"""Pseudo-relevance feedback: reordering of hits by the terms that the best ones have in common.

Lucene's ``MoreLikeThis`` chooses the terms by their frequency in the best hits and their rarity, as
in Rocchio 1971, Relevance feedback in information retrieval. They only reorder hits, and never the
first one; the more of the query the best hit has alone, the less they weigh. `topic_terms` weighs
the terms of one text, whose index may be on a cluster, too.
"""

import math
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final

from java.util import ArrayList, HashMap
from org.apache.lucene.queries.mlt import MoreLikeThis
from org.apache.lucene.search import QueryRescorer, ScoreDoc, TopDocs, TotalHits

from shared.analysis.analyzers import positions_of, topic_analyzer, writing_analyzer_of
from shared.analysis.detection import language_of
from shared.analysis.languages import UNDETERMINED
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Node, Terms, any_of, weighted
from shared.search.confidence import coverages
from shared.search.selection import RankedHit, Selection

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

_TOPIC_TERMS: Final = 25
"""Number of most significant terms of a text, as in Lucene's ``MoreLikeThis``."""

_CANDIDATES: Final = 100
"""Number of terms that are looked up in the index: the most frequent ones in the text."""


def unanswered(shares: Sequence[float]) -> float:
    """Return how little the best hit is the answer, from 0 if it is, to 1.

    The shares of the query in each of the best hits decide on it.
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


def reordered(
    selection: Selection, searcher: Any, hits: Sequence[RankedHit]
) -> Sequence[RankedHit]:
    """Return the best hits of a query that feedback applies to, those after the first reordered."""
    query = selection.query
    if len(hits) <= _HITS:
        return hits
    lacks = unanswered(coverages(selection, hits[:_HITS]))
    if lacks < _LEAST_UNANSWERED:
        return hits
    shares = {code: by for code, by in query.languages.items() if code != UNDETERMINED}
    weight = query.weights.feedback * lacks
    likely = MoreLikeThis(searcher.getIndexReader())
    likely.setAnalyzer(topic_analyzer(max(shares, key=shares.__getitem__)))
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


def scored_again(searcher: Any, hits: list[Any], query: Any) -> list[Any]:
    """Return hits (``ScoreDoc``) reordered after the scores of a Lucene query are added."""
    # The class has a static method of this name, too, hence JCC's underscore.
    before = TopDocs(TotalHits(len(hits), TotalHits.Relation.EQUAL_TO), hits)
    again = QueryRescorer.rescore_(searcher, before, query, 1.0, len(hits))
    return [ScoreDoc.cast_(hit) for hit in again.scoreDocs]


def topic_terms(text: str, terms: IndexTerms) -> Node:
    """Return any of the significant terms of a text, weighted by frequency and rarity (tf-idf).

    The weights sum to 1; `Nothing` if there are none.
    """
    analyzer = writing_analyzer_of(schema.STEMS, language_of(text) or UNDETERMINED)
    counts = Counter(term for _, term in positions_of(analyzer, text))
    candidates = nlargest(_CANDIDATES, counts.items(), key=itemgetter(1))
    terms.look_up((schema.STEMS, term) for term, _ in candidates)
    informative = {}
    for term, count in candidates:
        frequency = terms.frequency(schema.STEMS, term)
        if 0 < frequency <= max(1, _COMMON * terms.total / 100):
            informative[term] = count * math.log(1 + terms.total / frequency)
    best = sorted(informative.items(), key=lambda item: (-item[1], item[0]))[:_TOPIC_TERMS]
    total = sum(value for _, value in best)
    return any_of(*(weighted(Terms(schema.STEMS, (term,)), value / total) for term, value in best))
