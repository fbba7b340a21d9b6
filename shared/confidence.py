"""How far a hit can be trusted to answer: a number that can be compared across queries."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    ConstantScoreQuery,
    ScoreDoc,
)

from shared import schema
from shared.analysis.analyzers import is_function_word
from shared.analysis.languages import WITH_FUNCTION_WORDS
from shared.query.lucene_query import Compiler
from shared.query.pipeline import ParsedQuery
from shared.query.presence import IndexTerms, present, terms_of
from shared.query.tree import Clause, Clauses, Node, Nothing, Terms, Word, leaves, rewrite
from shared.ranking import scored_again

LOW: Final = 0.12
"""An answer whose best hit has less hardly answers; see docs/relevance.md for how often."""

_LEAST_SHARE: Final = 0.05
"""The share of the chunks that a language has for its function words to be known: "sea" is a form
of "to be" in Spanish, which matters only where Spanish may be meant."""

_INTERCEPT: Final = -3.5
_SLOPE: Final = 4.5
"""Logistic regression of relevance on coverage: half of the queries of the Cranfield collection,
and as many questions on other topics, which nothing there answers."""


def confidences(searcher: Any, query: ParsedQuery, hits: Sequence[Any]) -> list[float]:
    """How likely each hit is to answer a query.

    It depends on how many of the words of the query the hit has, the rare ones counting more. Words
    such as "what" and "the" count only where there are no others; a word that no chunk has counts
    as much as the rarest. Of a query that was rewritten, the words of the original or those of the
    rewritten one count, whichever the hit has more of.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        hits: hits of it (``ScoreDoc``).

    Returns:
        For each hit a number from 0 to 1, rounded to three digits.
    """
    terms = terms_of(searcher.getIndexReader())
    chunks = searcher.getIndexReader().maxDoc()
    asked, rewritten = (
        {part: _rarity(part, terms, chunks) for part in _parts(tree, query, terms, chunks)}
        for tree in (query.words, query.rewritten)
    )
    if not hits or query.browses or not asked:
        return [1.0] * len(hits)
    covered = [
        _coverages(searcher, rarities, hits, terms) for rarities in (asked, rewritten) if rarities
    ]
    return [round(_probability(max(of_hit)), 3) for of_hit in zip(*covered, strict=True)]


def _probability(coverage: float) -> float:
    return 1 / (1 + math.exp(-(_INTERCEPT + _SLOPE * coverage)))


def _coverages(
    searcher: Any, rarities: Mapping[Node, float], hits: Sequence[Any], terms: IndexTerms
) -> list[float]:
    """The share of the parts of a query that is in each hit, by their rarity, from 0 to 1."""
    total = sum(rarities.values())
    compiler, builder = Compiler(terms.query), BooleanQuery.Builder()
    for part, rarity in rarities.items():
        found = present(part, terms)
        if not isinstance(found, Nothing):
            alike = ConstantScoreQuery(compiler.query(found))
            builder.add(BoostQuery(alike, rarity / total), BooleanClause.Occur.SHOULD)
    unscored = [ScoreDoc(hit.doc, 0.0) for hit in hits]
    covered = {hit.doc: hit.score for hit in scored_again(searcher, unscored, builder.build())}
    return [covered[hit.doc] for hit in hits]


def _parts(tree: Node, query: ParsedQuery, terms: IndexTerms, chunks: int) -> list[Node]:
    """What a query asks for, part by part on fields; function words only if there is nothing else.

    Nothing is asked for by a query that only tells what must not match.
    """
    clauses = tree.clauses if isinstance(tree, Clauses) else (Clause(tree),)
    wanted = [clause for clause in clauses if clause.occur in {"should", "must"}]
    languages = [
        language
        for language in WITH_FUNCTION_WORDS.keys() & query.languages.keys()
        if terms.chunks(schema.language_field(schema.CONTENT, language)) >= _LEAST_SHARE * chunks
    ]
    telling = [clause for clause in wanted if not _says_nothing(clause.node, languages)]
    nodes = (rewrite(part.node, query.on_fields, part.occur) for part in telling or wanted)
    return [node for node in nodes if not isinstance(node, Nothing)]


def _says_nothing(node: Node, languages: Collection[str]) -> bool:
    return all(
        isinstance(leaf, Word)
        and leaf.field is None
        and any(is_function_word(language, leaf.text) for language in languages)
        for leaf in leaves(node)
    )


def _rarity(node: Node, terms: IndexTerms, chunks: int) -> float:
    """The inverse document frequency of a word, in the form that most chunks have."""
    frequency = max(
        (
            terms.frequency(leaf.field, text)
            for leaf in leaves(node)
            if isinstance(leaf, Terms)
            for text in leaf.texts
        ),
        default=0,
    )
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))
