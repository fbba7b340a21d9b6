"""How far a hit can be trusted to answer: a number that can be compared across queries."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    ConstantScoreQuery,
    ScoreDoc,
)

from shared.analysis.analyzers import is_function_word
from shared.query.lucene_query import Compiler
from shared.query.pipeline import ParsedQuery
from shared.query.presence import IndexTerms, present, terms_of
from shared.query.tree import Clause, Clauses, Node, Nothing, Terms, Word, leaves, rewrite
from shared.ranking import scored_again

LOW: Final = 0.12
"""An answer whose best hit has less hardly answers; see docs/relevance.md for how often."""

_INTERCEPT: Final = -3.5
_SLOPE: Final = 4.5
"""Logistic regression of relevance on coverage: half of the queries of the Cranfield collection,
and as many questions on other topics, which nothing there answers."""


def confidences(searcher: Any, query: ParsedQuery, hits: Sequence[Any]) -> list[float]:
    """How likely each hit is to answer a query.

    It depends on how many of the words of the query the hit has, the rare ones counting more. Words
    such as "what" and "the" count only where there are no others; a word that no chunk has counts
    as much as the rarest.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        hits: hits of it (``ScoreDoc``).

    Returns:
        For each hit a number from 0 to 1, rounded to three digits.
    """
    if not hits or query.browses:
        return [1.0] * len(hits)
    return [round(_probability(covered), 3) for covered in _coverages(searcher, query, hits)]


def _probability(coverage: float) -> float:
    return 1 / (1 + math.exp(-(_INTERCEPT + _SLOPE * coverage)))


def _coverages(searcher: Any, query: ParsedQuery, hits: Sequence[Any]) -> list[float]:
    """The share of a query that is in each hit, from 0 to 1."""
    terms = terms_of(searcher)
    chunks = searcher.getIndexReader().maxDoc()
    parts = list(_parts(query))
    parts = [part for part in parts if not part.is_function_word] or parts
    rarities = {part.node: _rarity(part.node, terms, chunks) for part in parts}
    total = sum(rarities.values())
    compiler, builder = Compiler(terms.query), BooleanQuery.Builder()
    for node, rarity in rarities.items():
        found = present(node, terms)
        if not isinstance(found, Nothing):
            alike = ConstantScoreQuery(compiler.query(found))
            builder.add(BoostQuery(alike, rarity / total), BooleanClause.Occur.SHOULD)
    unscored = [ScoreDoc(hit.doc, 0.0) for hit in hits]
    covered = {hit.doc: hit.score for hit in scored_again(searcher, unscored, builder.build())}
    return [covered[hit.doc] for hit in hits]


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands between two blanks of a query, on fields, and whether it is a word like "the"."""

    node: Node
    is_function_word: bool


def _parts(query: ParsedQuery) -> Iterator[_Part]:
    """The parts of a query that may or must match."""
    tree = query.words
    for clause in tree.clauses if isinstance(tree, Clauses) else (Clause(tree),):
        if clause.occur in {"should", "must"}:
            node = rewrite(clause.node, query.on_fields, clause.occur)
            if not isinstance(node, Nothing):
                yield _Part(node, all(map(_is_function_word, leaves(clause.node))))


def _is_function_word(leaf: Node) -> bool:
    return isinstance(leaf, Word) and leaf.field is None and is_function_word(leaf.text)


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
