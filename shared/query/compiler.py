"""The last step: compilation of a tree whose leaves are on fields to a Lucene query."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from java.util import ArrayList, Arrays
from lucene import JArray
from org.apache.lucene.document import DoubleField, IntPoint
from org.apache.lucene.index import Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    DisjunctionMaxQuery,
    FieldExistsQuery,
    FuzzyQuery,
    MatchAllDocsQuery,
    MatchNoDocsQuery,
    MultiPhraseQuery,
    MultiTermQuery,
    PhraseQuery,
    PrefixQuery,
    RegexpQuery,
    SynonymQuery,
    TermInSetQuery,
    TermQuery,
    TermRangeQuery,
    WildcardQuery,
)
from org.apache.lucene.util import BytesRef

from shared.errors import QueryParseError
from shared.model import schema
from shared.query.tree import (
    Best,
    Between,
    Clauses,
    Everything,
    Exists,
    Expression,
    Fuzzy,
    Node,
    Nothing,
    Occur,
    Pattern,
    Range,
    TermPhrase,
    Terms,
    Values,
    Weighted,
    flat,
)
from shared.query.values import ValueWords

SCORED_TERMS: Final = 50
"""Number of terms of a pattern that are scored one by one; all others get the same score."""


_REMEMBERED_EXPRESSIONS: Final = 64
"""Number of regular expressions that are cached: a search needs each several times."""

UNSCORED_VALUE: Final = 0.1
"""Weight of a value that is not among the rarest."""

TermQueryOf = Callable[[str, str], Any | None]
"""Function that returns the query for a field and a term; None if no chunk has it."""


@dataclass(frozen=True)
class Compiler:
    """Compiler of trees to Lucene queries, which do not belong to a thread.

    Attributes:
        term_query: a function that has looked up terms already; None to make new queries.
        ranks: true to include parts that only add to scores.
        scores: false for conditions, whose scores do not count.
        guard: a function that makes a phrase stoppable at each document
            (`shared.java.cancellation`).
    """

    term_query: TermQueryOf | None = None
    ranks: bool = True
    scores: bool = True
    guard: Callable[[Any], Any] | None = None

    def query(self, node: Node) -> Any:
        """Return the query for a tree after the step for words.

        Raises:
            QueryParseError: a bound of a range of numbers is not a number.
        """
        match node:
            case Terms(field, (text,)):
                known = self.term_query and self.term_query(field, text)
                return known or TermQuery(Term(field, text))
            case TermPhrase() if self.guard:
                return self.guard(_phrase(node))
            case Weighted():
                return BoostQuery(self.query(node.node), float(node.weight))
            case Clauses():
                return self._clauses(node)
            case Best():
                queries = ArrayList()
                for part in node.nodes:
                    queries.add(self.query(part))
                return DisjunctionMaxQuery(queries, 0.0)
        convert = _CONVERSIONS[type(node)] if self.scores else _CONDITIONS[type(node)]
        return convert(node)

    def _clauses(self, node: Clauses) -> Any:
        if not node.clauses:
            return MatchNoDocsQuery()
        builder = BooleanQuery.Builder()
        for part, occur in flat(node, with_ranks=self.ranks):
            builder.add(self.query(part), _occur(occur))
        if all(clause.occur == "must_not" for clause in node.clauses):
            builder.add(MatchAllDocsQuery(), BooleanClause.Occur.MUST)
        return builder.build()


@cache
def _occur(name: Occur) -> Any:
    # The class has no constants until the virtual machine runs.
    return getattr(BooleanClause.Occur, "SHOULD" if name == "rank" else name.upper())


def _synonyms(node: Terms) -> Any:
    builder = SynonymQuery.Builder(node.field)
    for text in node.texts:
        builder.addTerm(Term(node.field, text))
    return builder.build()


def _phrase(node: TermPhrase) -> Any:
    if all(len(texts) == 1 for texts in node.positions):
        return PhraseQuery(node.slop, node.field, [texts[0] for texts in node.positions])
    builder = MultiPhraseQuery.Builder()
    for texts in node.positions:
        builder.add([Term(node.field, text) for text in texts])
    return builder.setSlop(node.slop).build()


def _pattern(node: Pattern) -> Any:
    rewrite = (
        MultiTermQuery.TopTermsBlendedFreqScoringRewrite(SCORED_TERMS)
        if node.scored
        else MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE
    )
    if prefix := _PREFIX.fullmatch(node.pattern):
        return PrefixQuery(Term(node.field, _ESCAPED.sub(r"\1", prefix[1])), rewrite)
    limit = _DETERMINIZE_WORK
    return WildcardQuery(Term(node.field, node.pattern), limit, rewrite)


_PREFIX: Final = re.compile(r"((?:[^\\*?]|\\.)*)\*", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)

_DETERMINIZE_WORK: Final = 10_000
"""Maximum work to determinize an automaton, Lucene's default
(``Operations.DEFAULT_DETERMINIZE_WORK_LIMIT``)."""


def _range(node: Range) -> Any:
    field = node.field or ""
    if schema.is_number_field(field):
        low = _number(node.low, -math.inf)
        high = _number(node.high, math.inf)
        # Lucene's range includes both bounds (``DoublePoint.newRangeQuery``).
        return DoubleField.newRangeQuery(
            field,
            low if node.includes_low else math.nextafter(low, math.inf),
            high if node.includes_high else math.nextafter(high, -math.inf),
        )
    return TermRangeQuery.newStringRange(
        field, node.low, node.high, node.includes_low, node.includes_high
    )


def _values(node: Values) -> Any:
    if node.field == schema.CHUNK_INDEX:
        return IntPoint.newSetQuery(node.field, JArray("int")(list(map(int, node.texts))))
    return TermInSetQuery(node.field, Arrays.asList([*map(BytesRef, node.texts)]))


def _number(bound: str | None, otherwise: float) -> float:
    if bound is None:
        return otherwise
    try:
        return float(bound)
    except ValueError as error:
        raise QueryParseError(f"{bound[:80]!r} is not a number") from error


@lru_cache(maxsize=_REMEMBERED_EXPRESSIONS)
def values_with(node: ValueWords, *, scored: bool) -> Any:
    """Return a query for values that contain words; it is cached, since making it takes longest.

    Args:
        node: the words.
        scored: true to score the rarest values higher than others, false to match all with the same
            score.
    """
    rewrite = (
        MultiTermQuery.TopTermsBlendedFreqScoringRewrite(SCORED_TERMS)
        if scored
        else MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE
    )
    return RegexpQuery(
        Term(node.field or "", node.pattern),
        *(0, 0, RegexpQuery.DEFAULT_PROVIDER, _DETERMINIZE_WORK, rewrite),
    )


def _value_words(node: ValueWords) -> Any:
    scored, rest = (values_with(node, scored=scored) for scored in (True, False))
    either = Arrays.asList([scored, BoostQuery(rest, UNSCORED_VALUE)])
    return DisjunctionMaxQuery(either, 0.0)


_CONVERSIONS: Final[dict[type, Callable[[Any], Any]]] = {
    Everything: lambda _: MatchAllDocsQuery(),
    Nothing: lambda _: MatchNoDocsQuery(),
    Terms: _synonyms,
    Values: _values,
    Between: lambda node: IntPoint.newRangeQuery(node.field, node.low, node.high),
    Exists: lambda node: FieldExistsQuery(node.field),
    TermPhrase: _phrase,
    Pattern: _pattern,
    Fuzzy: lambda node: FuzzyQuery(Term(node.field, node.text), node.edits, node.prefix),
    ValueWords: _value_words,
    Expression: lambda node: RegexpQuery(Term(node.field, node.pattern)),
    Range: _range,
}

_CONDITIONS: Final = {
    **_CONVERSIONS,
    # All values count the same, so that the rarest need not be found.
    ValueWords: lambda node: values_with(node, scored=False),
}
