"""How much of what a query asks for is in a hit, and how."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
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
from shared.model import schema
from shared.query.compiler import Compiler
from shared.query.index_terms import IndexTerms, terms_of
from shared.query.pipeline import ParsedQuery
from shared.query.steps.phrases import MOST_PAIRS, NEAR
from shared.query.tree import Node, TermPhrase, Terms
from shared.search.query_parts import Part, parts_of, wordings


def scored_again(searcher: Any, hits: list[Any], query: Any) -> list[Any]:
    """Hits (``ScoreDoc``) in the order of their scores with those of a query of Lucene added."""
    # The class has a method of this name, too, hence JCC's underscore.
    before = TopDocs(TotalHits(len(hits), TotalHits.Relation.EQUAL_TO), hits)
    again = QueryRescorer.rescore_(searcher, before, query, 1.0, len(hits))
    return [ScoreDoc.cast_(hit) for hit in again.scoreDocs]


LOOSE: Final = 0.5
"""What a word counts for that is somewhere in the content, where 1 is one in the title or near its
neighbour; 0.3 to 0.7 do as well."""

ALONE: Final = 0.9
"""The same of a word that has no neighbour in the query. No collection tells how near it comes to
what was meant; this leaves the hit well above others, and below one with a phrase."""

_MOST_FORMS: Final = 10
"""Words that one may stand for, such as compounds, to be looked for near others."""

_BITS: Final = 24
"""Bits of a score (``float``, IEEE 754), each of which can tell of one query."""


class Evidence:
    """How much of what a query asks for is in its hits, the rare words counting more.

    Args:
        searcher: a Lucene searcher.
        query: the query after all steps.
    """

    def __init__(self, searcher: Any, query: ParsedQuery) -> None:
        self._searcher = searcher
        self._query = query
        self._terms = terms_of(searcher.getIndexReader())

    @cached_property
    def wordings(self) -> list[list[Part]]:
        """The parts of the query, and of the same in other words; none if nothing is asked."""
        if self._query.browses:
            return []
        chunks = self._searcher.getIndexReader().maxDoc()
        asked, rewritten = (
            parts_of(clauses, self._query, self._terms, chunks) for clauses in wordings(self._query)
        )
        return [parts for parts in (asked, rewritten) if parts] if asked else []

    def coverage(self, hit: Any) -> float:
        """How much of the query a hit has, wherever it stands.

        Args:
            hit: a hit of the query (``ScoreDoc``).

        Returns:
            From 0 to 1.
        """
        found = (
            self._shares([hit], parts, _words(parts, self._terms, 1.0)) for parts in self.wordings
        )
        return max((share for (share,) in found), default=0.0)

    def of(self, hits: Sequence[Any]) -> list[float] | None:
        """How much hits have of the query, and how.

        A word counts wholly in the title, or near the word that is its neighbour in the query, else
        by half, and a similar word in proportion to how alike it is. What is more than a plain word
        (a phrase, a pattern, a condition, a name with signs) is there as it was asked for, or not
        at all. Of a query that was rewritten, the wording counts that the hit has more of.

        Args:
            hits: hits of the query (``ScoreDoc``).

        Returns:
            For each hit a number from 0 to 1; None where nothing is asked for, or nothing was
            found.
        """
        if not hits or not self.wordings:
            return None
        shares = []
        for parts in self.wordings:
            loose = ALONE if len(parts) == 1 else LOOSE
            words = _words(parts, self._terms, loose)
            shares.append(self._shares(hits, parts, words, _pairs(parts)))
        return [max(of_hit) for of_hit in zip(*shares, strict=True)]

    def _shares(
        self, hits: Sequence[Any], parts: Sequence[Part], *wanted: Iterable["_Wanted"]
    ) -> list[float]:
        """How much of some parts is in each hit, from 0 to 1."""
        each = list(chain(*wanted))
        matched = _matched(self._searcher, hits, [one.query for one in each])
        total = sum(part.rarity for part in parts)
        return [_share(each, numbers) / total for numbers in matched]


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


def _words(parts: Sequence[Part], terms: IndexTerms, loose: float) -> Iterator[_Wanted]:
    """The parts one by one; `loose` is what a word counts for that is somewhere in the content."""
    for number, part in enumerate(parts):
        alike_by: dict[float, list[Any]] = defaultdict(list)
        for way, alike in part.ways:
            counts = alike if _is_as_asked(way) else alike * loose
            alike_by[counts] += _queries(way, terms)
        for counts, queries in alike_by.items():
            yield _Wanted(_any(queries), {number: counts * part.rarity})


def _pairs(parts: Sequence[Part]) -> Iterator[_Wanted]:
    """The parts that stand side by side, near each other."""
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
        check()
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
        yield Compiler(terms.query, guard=guarded_until_cancelled).query(way)


def _any(queries: Sequence[Any]) -> Any:
    if len(queries) == 1:
        return queries[0]
    builder = BooleanQuery.Builder()
    for query in queries:
        builder.add(query, BooleanClause.Occur.SHOULD)
    return builder.build()
