"""Pseudo-relevance feedback: what the best hits are about tells which of the others are, too.

The relevance model RM3 (Abdul-Jaleel et al. 2004, UMass at TREC 2004: Novelty and HARD) estimates
from the best hits how likely each term is in a text that answers the query. Here a term also counts
by how rare it is, and the terms only reorder hits: what the query does not find stays unfound.
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
"""The hits that are taken to be good."""

TERMS: Final = 30
"""The terms that tell most about them."""

_FEWEST_WORDS: Final = 3
"""Words of a query that says something of its topic; one word alone has to be there as it is."""

_CANDIDATES: Final = 80
"""Terms that are looked up in the index: the likeliest in the hits."""

_COMMON: Final = 0.3
"""The share of the chunks beyond which a term says nothing."""

_SHORTEST: Final = 2


def topic_words(query: Node) -> int:
    """The number of words of a query, as it was parsed, that is words on a topic; otherwise 0.

    Phrases, conditions and the like are no topic: what they ask for has to be there as it is.
    """
    if not isinstance(query, Clauses) or len(query.clauses) < _FEWEST_WORDS:
        return 0
    return len(query.clauses) if all(map(_is_word, query.clauses)) else 0


def topic_terms(searcher: Any, query: ParsedQuery, hits: Sequence[Any], terms: IndexTerms) -> Node:
    """The terms that the best hits of a query are about.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        hits: its hits (``ScoreDoc``), best first.
        terms: those of the index.

    Returns:
        Any of the terms; together they count as much as all words of the query. `Nothing` where
        the query is not on a topic.
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
    """How likely a term of a language is in a text like the hits, the better ones counting more."""
    stored, loaded = searcher.storedFields(), stored_fields(schema.CONTENT)
    scores = sum(hit.score for hit in hits)
    if not scores:
        # As where all words that were found have the weight 0.
        return {}
    likely: dict[tuple[str, str], float] = defaultdict(float)
    for hit in hits:
        content = stored.document(hit.doc, loaded).get(schema.CONTENT) or ""
        language = _language_of(content, languages)
        if language is None:
            continue
        words = Counter(content.split())
        found = word_terms(schema.language_field(schema.CONTENT, language)).of(words)
        # A Counter takes three times as long for what it does not have yet.
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
    """The first language of a text that its index has, of those whose terms are words."""
    by_word = languages - WITHOUT_BLANKS
    if len(languages) == 1:
        return next(iter(by_word), None)
    return next((language for language in languages_of(content) if language in by_word), None)
