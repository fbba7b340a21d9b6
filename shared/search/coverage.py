"""Coverage of a query by its hits: how much of it they contain, and in which way."""

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
    """Return hits (``ScoreDoc``) reordered after the scores of a Lucene query are added."""
    # The class has a static method of this name, too, hence JCC's underscore.
    before = TopDocs(TotalHits(len(hits), TotalHits.Relation.EQUAL_TO), hits)
    again = QueryRescorer.rescore_(searcher, before, query, 1.0, len(hits))
    return [ScoreDoc.cast_(hit) for hit in again.scoreDocs]


LOOSE: Final = 0.5
"""Weight of a word found anywhere in the content, relative to one in the title or near its
neighbour; 0.3 to 0.7 work as well."""

ALONE: Final = 0.9
"""Weight of a word found in the content that has no neighbour in the query. No test collection
shows how close such a hit is to the intent; this value keeps it well above others, and below one
with a phrase."""

_MOST_FORMS: Final = 10
"""Maximum number of alternative words, such as compounds, that are searched near others."""

_BITS: Final = 24
"""Number of bits of a score (``float``, IEEE 754), each of which can represent one query."""


class Evidence:
    """Evidence of a query in its hits, in which rare words weigh more.

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
        """Parts of the query, and of the rewritten query; empty if the query matches everything."""
        if self._query.browses:
            return []
        chunks = self._searcher.getIndexReader().maxDoc()
        asked, rewritten = (
            parts_of(clauses, self._query, self._terms, chunks) for clauses in wordings(self._query)
        )
        return [parts for parts in (asked, rewritten) if parts] if asked else []

    def coverage(self, hit: Any) -> float:
        """Return the share of the query that a hit contains, in any position.

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
        """Return the evidence of the query in each hit.

        A word has full weight in the title or near its neighbour of the query, else the weight
        `LOOSE`, and a similar word weighs in proportion to its similarity. Anything other than a
        plain word (a phrase, a pattern, a condition, an identifier) either matches as typed or not
        at all. If the query was rewritten, the wording with the higher evidence counts.

        Args:
            hits: hits of the query (``ScoreDoc``).

        Returns:
            For each hit a number from 0 to 1; None if the query matches everything, or there are no
            hits.
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
        """Return the share of some parts that is in each hit, from 0 to 1."""
        each = list(chain(*wanted))
        matched = _matched(self._searcher, hits, [one.query for one in each])
        total = sum(part.rarity for part in parts)
        return [_share(each, numbers) / total for numbers in matched]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A possible match of a hit.

    Attributes:
        query: a Lucene query.
        counts: the evidence that a match adds, by the number of the part that it belongs to.
    """

    query: Any
    counts: Mapping[int, float]


def _share(wanted: Sequence[_Wanted], matched: Collection[int]) -> float:
    """Return the evidence of a hit, from the best match of each part."""
    best: dict[int, float] = {}
    for number in matched:
        for part, counts in wanted[number].counts.items():
            best[part] = max(counts, best.get(part, 0.0))
    return sum(best.values())


def _words(parts: Sequence[Part], terms: IndexTerms, loose: float) -> Iterator[_Wanted]:
    """Yield the parts one by one; `loose` is the weight of a word found anywhere in the content."""
    for number, part in enumerate(parts):
        alike_by: dict[float, list[Any]] = defaultdict(list)
        for way, alike in part.ways:
            counts = alike if _is_as_asked(way) else alike * loose
            alike_by[counts] += _queries(way, terms)
        for counts, queries in alike_by.items():
            yield _Wanted(_any(queries), {number: counts * part.rarity})


def _pairs(parts: Sequence[Part]) -> Iterator[_Wanted]:
    """Yield the pairs of neighbouring parts, as words near each other."""
    words = [tuple(_words_of_the_content(part)) for part in parts]
    for number, pair in enumerate(islice(pairwise(words), MOST_PAIRS)):
        if all(0 < len(forms) <= _MOST_FORMS for forms in pair):
            near = Compiler().query(TermPhrase(schema.CONTENT, pair, NEAR))
            both = {n: parts[n].rarity * parts[n].most_alike for n in (number, number + 1)}
            yield _Wanted(near, both)


def _matched(searcher: Any, hits: Sequence[Any], queries: Sequence[Any]) -> list[set[int]]:
    """Return the numbers of the queries that each hit matches."""
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
    """Yield the positions of the bits that are set, from 0 for the lowest."""
    while number:
        bit = number.bit_length() - 1
        yield bit
        number -= 1 << bit


def _is_as_asked(way: Node) -> bool:
    """Check whether a match has full weight: it is in the title, or of more than a plain word."""
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
