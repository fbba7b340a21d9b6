"""Rescoring of hits by Lucene queries, and a test of hits on several queries at once."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

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

from shared.java.cancellation import check, guarded_until_cancelled
from shared.query.compiler import Compiler
from shared.query.lucene_terms import terms_of
from shared.query.tree import Node

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
