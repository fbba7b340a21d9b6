"""Pseudo-relevance feedback: reordering of hits by the terms of the best ones.

The relevance model RM3 (Abdul-Jaleel et al. 2004, UMass at TREC 2004: Novelty and HARD) estimates
from the best hits the likelihood of each term in a text that answers the query. Here terms are also
weighted by their rarity, and they only reorder hits; they do not add any.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence, Set as AbstractSet
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final

from shared.analysis.detection import languages_of
from shared.analysis.languages import WITHOUT_BLANKS
from shared.analysis.word_terms import word_terms
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.pipeline import ParsedQuery
from shared.query.tree import (
    Clause,
    Clauses,
    Node,
    Nothing,
    Terms,
    Weighted,
    Word,
    any_of,
    weighted,
)
from shared.storage.mapping import stored_fields

HITS: Final = 5
"""Number of best hits that are assumed to be relevant."""

TERMS: Final = 30
"""Number of most significant terms that are used."""

_FEWEST_WORDS: Final = 3
"""Minimum number of words of a query on a topic; a single word has to match as it is."""

_CANDIDATES: Final = 80
"""Number of terms that are looked up in the index: the most likely ones in the hits."""

_COMMON: Final = 0.3
"""Share of the chunks beyond which a term is too common to be significant."""

_SHORTEST: Final = 2


def topic_words(query: Node) -> int:
    """Return the number of words of a parsed query if it consists of words only, otherwise 0.

    Phrases, conditions and other parts do not describe a topic: they have to match as they are.
    """
    if not isinstance(query, Clauses) or len(query.clauses) < _FEWEST_WORDS:
        return 0
    return len(query.clauses) if all(map(_is_word, query.clauses)) else 0


def topic_terms(searcher: Any, query: ParsedQuery, hits: Sequence[Any], terms: IndexTerms) -> Node:
    """Return the significant terms of the best hits of a query.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        hits: its hits (``ScoreDoc``), best first.
        terms: the terms of the index.

    Returns:
        A disjunction of the terms; together they have the weight of all words of the query.
        `Nothing` if the query is not on a topic.
    """
    words = topic_words(query.parsed)
    if not words:
        return Nothing()
    informative: dict[tuple[str, str], float] = {}
    likely = _likely_terms(searcher, hits[:HITS], query.languages.keys())
    likeliest = nlargest(_CANDIDATES, likely.items(), key=itemgetter(1))
    for (language, text), likelihood in likeliest:
        field = schema.language_field(schema.CONTENT, language)
        frequency, chunks = terms.frequency(field, text), terms.chunks(field)
        if 0 < frequency <= max(1, _COMMON * chunks):
            informative[language, text] = likelihood * math.log(1 + chunks / frequency)
    best = sorted(informative.items(), key=lambda item: (-item[1], item[0]))[:TERMS]
    total = sum(value for _, value in best)
    if not total:
        return Nothing()
    return any_of(
        *(
            weighted(
                Terms(schema.language_field(schema.CONTENT, language), (text,)),
                words * value / total * query.languages[language],
            )
            for (language, text), value in best
        )
    )


def _is_word(clause: Clause) -> bool:
    node = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    return clause.occur == "should" and isinstance(node, Word) and node.field is None


def _likely_terms(
    searcher: Any, hits: Sequence[Any], languages: AbstractSet[str]
) -> dict[tuple[str, str], float]:
    """Return the likelihood of terms by language in texts like the hits, weighted by score."""
    stored, loaded = searcher.storedFields(), stored_fields(schema.CONTENT)
    scores = sum(hit.score for hit in hits)
    if not scores:
        # For example if all words that were found have the weight 0.
        return {}
    likely: dict[tuple[str, str], float] = defaultdict(float)
    for hit in hits:
        content = stored.document(hit.doc, loaded).get(schema.CONTENT) or ""
        language = _language_of(content, languages)
        if language is None:
            continue
        words = Counter(content.split())
        found = word_terms(schema.language_field(schema.CONTENT, language)).of(words)
        # A Counter takes three times as long for missing keys.
        frequencies: dict[str, int] = defaultdict(int)
        for word, texts in found.items():
            for text in texts:
                frequencies[text] += words[word]
        share = hit.score / scores / sum(frequencies.values()) if frequencies else 0.0
        for text, frequency in frequencies.items():
            if len(text) >= _SHORTEST:
                likely[language, text] += share * frequency
    return likely


def _language_of(content: str, languages: AbstractSet[str]) -> str | None:
    """Return the first language of a text that is in the index and has words as terms."""
    by_word = languages - WITHOUT_BLANKS
    if len(languages) == 1:
        return next(iter(by_word), None)
    return next((language for language in languages_of(content) if language in by_word), None)
