"""How much of what a query asks for is in a hit, and how."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    ConstantScoreQuery,
    ScoreDoc,
)

from shared import schema
from shared.query.lucene_query import Compiler
from shared.query.parts import Part, parts_of, wordings
from shared.query.pipeline import ParsedQuery
from shared.query.presence import IndexTerms, terms_of
from shared.query.proximity import NEAR
from shared.query.tree import Node, TermPhrase, Terms
from shared.ranking import scored_again

LOOSE: Final = 0.5
"""What a word counts for that is somewhere in the content, where 1 is one in the title or near its
neighbour; 0.3 to 0.7 do as well."""

ALONE: Final = 0.9
"""The same of a word that has no neighbour in the query. No collection tells how near it comes to
what was meant; this leaves the hit well above others, and below one with a phrase."""

MOST_PAIRS: Final = 16
"""Pairs of words that are looked for near each other: a longer text is no phrase."""

_MOST_FORMS: Final = 10
"""Words that one may stand for, such as compounds, to be looked for near others."""

_BITS: Final = 24
"""Bits of a score (``float``, IEEE 754), each of which can tell of one query."""


def evidence(searcher: Any, query: ParsedQuery, hits: Sequence[Any]) -> list[float] | None:
    """How much of what a query asks for is in each hit, the rare words counting more.

    A word counts wholly in the title, or near the word that is its neighbour in the query, else by
    half, and a similar word in proportion to how alike it is. What is more than a plain word (a
    phrase, a pattern, a condition, a name with signs) is there as it was asked for, or not at all.
    Of a query that was rewritten, the wording counts that the hit has more of.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
        hits: hits of it (``ScoreDoc``).

    Returns:
        For each hit a number from 0 to 1; None where nothing is asked for, or nothing was found.
    """
    if not hits or query.browses:
        return None
    reader = searcher.getIndexReader()
    terms = terms_of(reader)
    asked, rewritten = (
        parts_of(clauses, query, terms, reader.maxDoc()) for clauses in wordings(query)
    )
    if not asked:
        return None
    shares = [_shares(searcher, hits, parts, terms) for parts in (asked, rewritten) if parts]
    return [max(of_hit) for of_hit in zip(*shares, strict=True)]


def _shares(
    searcher: Any, hits: Sequence[Any], parts: Sequence[Part], terms: IndexTerms
) -> list[float]:
    """How much of some parts is in each hit, from 0 to 1."""
    wanted = list(_wanted(parts, terms))
    matched = _matched(searcher, hits, [each.query for each in wanted])
    total = sum(part.rarity for part in parts)
    return [_share(wanted, numbers) / total for numbers in matched]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a hit may match.

    Attributes:
        query: a query of Lucene.
        counts: what a match adds to the evidence, by the number of the part that it is of.
    """

    query: Any
    counts: Mapping[int, float]


def _share(wanted: Sequence[_Wanted], matched: Collection[int]) -> float:
    """What a hit has of the parts, the best match of each."""
    best: dict[int, float] = {}
    for number in matched:
        for part, counts in wanted[number].counts.items():
            best[part] = max(counts, best.get(part, 0.0))
    return sum(best.values())


def _wanted(parts: Sequence[Part], terms: IndexTerms) -> Iterator[_Wanted]:
    loose = ALONE if len(parts) == 1 else LOOSE
    for number, part in enumerate(parts):
        alike_by: dict[float, list[Any]] = defaultdict(list)
        for way, alike in part.ways:
            counts = alike if _is_as_asked(way) else alike * loose
            alike_by[counts] += _queries(way, terms)
        for counts, queries in alike_by.items():
            yield _Wanted(_any(queries), {number: counts * part.rarity})
    words = [tuple(_words_of_the_content(part)) for part in parts]
    for number, pair in enumerate(islice(pairwise(words), MOST_PAIRS)):
        if all(0 < len(forms) <= _MOST_FORMS for forms in pair):
            near = Compiler().query(TermPhrase(schema.CONTENT, pair, NEAR))
            both = {n: parts[n].rarity * parts[n].most_alike for n in (number, number + 1)}
            yield _Wanted(near, both)


def _matched(searcher: Any, hits: Sequence[Any], queries: Sequence[Any]) -> list[set[int]]:
    """The numbers of the queries that each hit matches."""
    found: dict[int, set[int]] = {hit.doc: set() for hit in hits}
    for begin in range(0, len(queries), _BITS):
        builder = BooleanQuery.Builder()
        for bit, query in enumerate(queries[begin : begin + _BITS]):
            telling = BoostQuery(ConstantScoreQuery(query), float(1 << bit))
            builder.add(telling, BooleanClause.Occur.SHOULD)
        unscored = [ScoreDoc(doc, 0.0) for doc in found]
        for hit in scored_again(searcher, unscored, builder.build()):
            found[hit.doc].update(begin + bit for bit in _bits(int(hit.score)))
    return [found[hit.doc] for hit in hits]


def _bits(number: int) -> Iterator[int]:
    """The places of the bits that are set, the lowest being 0."""
    while number:
        bit = number.bit_length() - 1
        yield bit
        number -= 1 << bit


def _is_as_asked(way: Node) -> bool:
    """Whether a match is as good as can be: in the title, or of more than a plain word."""
    if not isinstance(way, Terms):
        return True
    if way.field == schema.IDENTIFIERS:
        return not all(map(str.isalnum, way.texts))
    return way.field != schema.METADATA and not way.field.startswith(schema.CONTENT)


def _words_of_the_content(part: Part) -> Iterator[str]:
    for way, _ in part.ways:
        if isinstance(way, Terms) and way.field == schema.CONTENT:
            yield from way.texts


def _queries(way: Node, terms: IndexTerms) -> Iterator[Any]:
    if isinstance(way, Terms):
        yield from (terms.query(way.field, text) for text in way.texts)
    else:
        yield Compiler(terms.query).query(way)


def _any(queries: Sequence[Any]) -> Any:
    if len(queries) == 1:
        return queries[0]
    builder = BooleanQuery.Builder()
    for query in queries:
        builder.add(query, BooleanClause.Occur.SHOULD)
    return builder.build()
