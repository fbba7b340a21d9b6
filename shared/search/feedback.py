"""Pseudo-relevance feedback: reordering of hits by the terms that the best ones have in common.

Lucene's ``MoreLikeThis`` chooses the terms by their frequency in the best hits and their rarity, as
in Rocchio 1971, Relevance feedback in information retrieval. They only reorder hits, and never the
first one; the more of the query the best hit has alone, the less they weigh. `topic_terms` weighs
the terms of one text, whose index may be on a cluster, too.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final

from java.util import ArrayList, HashMap
from org.apache.lucene.queries.mlt import MoreLikeThis
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    ConstantScoreQuery,
    QueryRescorer,
    ScoreDoc,
    TopDocs,
    TotalHits,
)

from shared.analysis.analyzers import positions_of, topic_analyzer, writing_analyzer_of
from shared.analysis.detection import language_of
from shared.analysis.languages import UNDETERMINED
from shared.java.cancellation import check, guarded_until_cancelled
from shared.model import schema
from shared.query.compiler import Compiler
from shared.query.index_terms import IndexTerms
from shared.query.lucene_terms import terms_of
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


_BITS: Final = 24
"""Number of bits of a score (``float``, IEEE 754), each of which can represent one part."""


def scored_again(searcher: Any, hits: list[Any], query: Any) -> list[Any]:
    """Return hits (``ScoreDoc``) reordered after the scores of a Lucene query are added."""
    # The class has a static method of this name, too, hence JCC's underscore.
    before = TopDocs(TotalHits(len(hits), TotalHits.Relation.EQUAL_TO), hits)
    again = QueryRescorer.rescore_(searcher, before, query, 1.0, len(hits))
    return [ScoreDoc.cast_(hit) for hit in again.scoreDocs]


def matches(searcher: Any, nodes: Sequence[Node], hits: Sequence[Any]) -> list[list[int]]:
    """Return which of some trees each hit matches.

    Args:
        searcher: a Lucene searcher.
        nodes: trees whose leaves are on fields.
        hits: hits of any query (``ScoreDoc``).

    Returns:
        For each hit the positions of the trees.
    """
    compiler = Compiler(
        terms_of(searcher.getIndexReader()).query, ranks=False, guard=guarded_until_cancelled
    )
    found: dict[int, list[int]] = {hit.doc: [] for hit in hits}
    for begin in range(0, len(nodes), _BITS):
        check()
        builder = BooleanQuery.Builder()
        for bit, node in enumerate(nodes[begin : begin + _BITS]):
            telling = BoostQuery(ConstantScoreQuery(compiler.query(node)), float(1 << bit))
            builder.add(telling, BooleanClause.Occur.SHOULD)
        unscored = [ScoreDoc(doc, 0.0) for doc in found]
        for hit in scored_again(searcher, unscored, builder.build()):
            found[hit.doc] += (begin + bit for bit in _bits(int(hit.score)))
    return [found[hit.doc] for hit in hits]


def _bits(number: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, from 0 for the lowest."""
    while number:
        bit = number.bit_length() - 1
        yield bit
        number -= 1 << bit


_TOPIC_TERMS: Final = 25
"""Number of most significant terms that are used, as in Lucene's ``MoreLikeThis``."""

_CANDIDATES: Final = 100
"""Number of terms that are looked up in the index: the most frequent ones in the text."""

_TOO_COMMON: Final = 0.3
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
        if 0 < frequency <= max(1, _TOO_COMMON * terms.total):
            informative[term] = count * math.log(1 + terms.total / frequency)
    best = sorted(informative.items(), key=lambda item: (-item[1], item[0]))[:_TOPIC_TERMS]
    total = sum(value for _, value in best)
    return any_of(*(weighted(Terms(schema.STEMS, (term,)), value / total) for term, value in best))
