"""Pseudo-relevance feedback: reordering of hits by the terms of the best ones.

The relevance model RM3 (Abdul-Jaleel et al. 2004, UMass at TREC 2004: Novelty and HARD) estimates
from the best hits the likelihood of each term in a text that answers the query. Here terms are also
weighted by their rarity, and they only reorder hits; they do not add any.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Final

from shared.analysis.languages import UNDETERMINED, WITHOUT_BLANKS
from shared.analysis.stems import stems
from shared.analysis.stop_words import WITH_FUNCTION_WORDS, function_words
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.tree import (
    Clause,
    Clauses,
    Node,
    Terms,
    Weighted,
    Word,
    any_of,
    weighted,
)
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.selection import Selection

HITS: Final = 5
"""Number of best hits that are assumed to be relevant."""

TERMS: Final = 10
"""Number of most significant terms that are used."""

_FEWEST_WORDS: Final = 3
"""Minimum number of words of a query on a topic; a single word has to match as it is."""

_SMOOTHING: Final = 200
"""Number of words that are added to the length of a hit, so that short texts do not dictate the
terms."""

_POWER: Final = 4
"""Exponent of the scores by which the hits are weighted."""

_WORDS: Final = 250
"""Number of words whose stems are looked up: the most likely ones in the hits."""

_CANDIDATES: Final = 40
"""Number of terms that are looked up in the index: the most likely ones in the hits."""

_COMMON: Final = 0.3
"""Share of the chunks beyond which a term is too common to be significant."""

_SHORTEST: Final = 2
_PUNCTUATION: Final = "()[]{}<>,;:.!?\"'`*"

ANSWERED: Final = 0.6
"""Share of a query in its best hit beyond which feedback weighs less; if the hit has all of it,
hits with merely common terms must not outrank it."""

_STANDS_OUT: Final = 0.3
"""Difference between the share in the best hit and in the next ones, from which on the best hit is
the answer."""


def topic_words(query: Node) -> int:
    """Return the number of words of a query if it consists of words only, otherwise 0.

    Phrases, conditions and other parts do not describe a topic: they have to match as they are.

    Args:
        query: the tree as parsed, without function words.
    """
    if not isinstance(query, Clauses) or len(query.clauses) < _FEWEST_WORDS:
        return 0
    return len(query.clauses) if all(map(_is_word, query.clauses)) else 0


def unanswered(shares: Sequence[float]) -> float:
    """Return the weight of feedback, from 0 if the best hit is the answer, to 1.

    Args:
        shares: the share of the query in each of the best hits, from 0 to 1.
    """
    best, *others = shares
    lacks = (1 - best) / (1 - ANSWERED)
    mean = sum(others) / len(others) if others else best
    return max(0.0, min(1.0, max(lacks, 1 - (best - mean) / _STANDS_OUT)))


def topic_terms(selection: Selection, hits: Sequence[RankedHit]) -> Node:
    """Return the significant terms of the best hits of a query.

    Args:
        selection: the selection that the hits are of.
        hits: hits of a query, best first; the terms are of the first ones, and may score all.

    Returns:
        A disjunction of the terms, whose weights sum to 1; `Nothing` if there are none.
    """
    terms = selection.terms
    likely = _likely_terms(selection, hits[:HITS])
    informative: dict[tuple[str, ...], float] = {}
    most = _COMMON * terms.total
    candidates = [
        (_alternatives(stem, terms), likelihood)
        for stem, likelihood in nlargest(_CANDIDATES, likely.items(), key=itemgetter(1))
    ]
    selection.expect([Terms(schema.STEMS, texts) for texts, _ in candidates], hits)
    for texts, likelihood in candidates:
        there = {text: count for text in texts if (count := terms.frequency(schema.STEMS, text))}
        frequency = sum(there.values())
        if 0 < frequency <= max(1, most):
            informative[tuple(there)] = likelihood * math.log(1 + terms.total / frequency)
    best = sorted(informative.items(), key=lambda item: (-item[1], item[0]))[:TERMS]
    total = sum(value for _, value in best)
    return any_of(*(weighted(Terms(schema.STEMS, texts), value / total) for texts, value in best))


def _alternatives(stem: str, terms: IndexTerms) -> tuple[str, ...]:
    """Return the terms for a stem.

    Texts of an unknown language have the same stems under a code of their own.
    """
    if UNDETERMINED not in terms.languages:
        return (stem,)
    return stem, f"{UNDETERMINED}:{stem.partition(':')[2]}"


def _is_word(clause: Clause) -> bool:
    node = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    return clause.occur == "should" and isinstance(node, Word) and node.field is None


def _likely_terms(selection: Selection, hits: Sequence[RankedHit]) -> dict[str, float]:
    """Return the likelihood of terms in texts like the hits, weighted by score."""
    best = max((hit.score for hit in hits), default=0.0)
    if best <= 0:
        # For example if all words that were found have the weight 0.
        return {}
    words: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    texts: dict[tuple[str, ...], str] = {}
    known = zip(hits, _languages(selection, hits), selection.contents(hits), strict=True)
    for hit, languages, content in known:
        texts.setdefault(languages, content)
        found = content.lower().split()
        share = (hit.score / best) ** _POWER / (len(found) + _SMOOTHING)
        likely = words[languages]
        for word in found:
            likely[word.strip(_PUNCTUATION)] += share
    stemmed: dict[str, float] = defaultdict(float)
    for languages, likely in words.items():
        for code in WITH_FUNCTION_WORDS.intersection(languages):
            for word in likely.keys() & function_words(code):
                del likely[word]
        most = dict(nlargest(_WORDS, likely.items(), key=itemgetter(1)))
        for word, found_terms in stems(languages, most, texts[languages]).items():
            for text in found_terms:
                if len(text.partition(":")[2]) >= _SHORTEST:
                    stemmed[text] += most[word]
    return stemmed


def _languages(selection: Selection, hits: Sequence[RankedHit]) -> list[tuple[str, ...]]:
    """Return the languages of each hit in which words have blanks between them."""
    languages = selection.terms.languages
    codes = [code for code in languages if code not in WITHOUT_BLANKS]
    if len(languages) == 1:
        return [tuple(codes)] * len(hits)
    fields = [Terms(schema.LANGUAGES, (code,)) for code in codes]
    return [
        tuple(codes[number] for number in matched) for matched in selection.matches(fields, hits)
    ]
