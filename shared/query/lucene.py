"""Lucene's side of a query: the terms of an index folder, and compilation of a tree to a query."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, Final

from java.util import Arrays
from lucene import JArray
from org.apache.lucene.document import DoubleField, IntPoint
from org.apache.lucene.index import LeafReaderContext, MultiTerms, Term, TermsEnum, TermStates
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    DisjunctionMaxQuery,
    FieldExistsQuery,
    FuzzyQuery,
    IndexSearcher,
    MatchAllDocsQuery,
    MatchNoDocsQuery,
    MultiPhraseQuery,
    MultiTermQuery,
    PhraseQuery,
    PrefixQuery,
    QueryRescorer,
    RegexpQuery,
    ScoreDoc,
    SynonymQuery,
    TermInSetQuery,
    TermQuery,
    TermRangeQuery,
    TopDocs,
    TotalHits,
    WildcardQuery,
)
from org.apache.lucene.util import BytesRef, BytesRefIterator

from shared.errors import QueryParseError
from shared.java.cancellation import check
from shared.model import schema
from shared.query import tree
from shared.query.limits import running
from shared.query.terms import IndexTerms
from shared.storage.commits import cached_per_commit, is_limited
from shared.storage.field_names import all_fields

SCORED_TERMS: Final = 50
"""Number of terms of a pattern that are scored one by one; all others get the same score."""

UNSCORED_VALUE: Final = 0.1  # weight of a value that is not among the rarest

_REMEMBERED_EXPRESSIONS: Final = 64  # since a search needs each several times
_REMEMBERED_AUTOMATA: Final = 4  # since each is asked of several fields in a row
_DETERMINIZE_WORK: Final = 10_000  # Lucene's default (``DEFAULT_DETERMINIZE_WORK_LIMIT``)
_MOST_TERMS: Final = 10_000  # in the cache, with some hundred bytes each
_LONGEST: Final = 200  # in characters; longer terms are not cached
_MOST_FORMS: Final = 20  # terms of a word whose query is cached


@dataclass(frozen=True)
class Compiler:
    """Compiler of trees to Lucene queries, which do not belong to a thread."""

    terms: "LuceneTerms | None" = None  # which have looked up terms already
    ranks: bool = True  # false to leave out parts that only add to scores
    scores: bool = True  # false for conditions, whose scores do not count
    guard: Callable[[Any], Any] | None = None  # makes a phrase stoppable at each document

    def query(self, node: tree.Node) -> Any:
        """Return the query for a tree after the step for words."""
        match node:
            case tree.Terms(field, (text,)):
                known = self.terms and self.terms.query(field, text)
                return known or TermQuery(Term(field, text))
            case tree.Weighted():
                return BoostQuery(self.query(node.node), float(node.weight))
            case tree.Clauses():
                return self._clauses(node)
            case tree.Best():
                return _best(map(self.query, node.nodes))
            case tree.ValueWords() if not self.scores:
                # All values count the same, so that the rarest need not be found.
                return values_with(node, scored=False)
        query = _CONVERSIONS[type(node)](node)
        return self.guard(query) if self.guard and isinstance(node, tree.TermPhrase) else query

    def _clauses(self, node: tree.Clauses) -> Any:
        if not node.clauses:
            return MatchNoDocsQuery()
        builder = BooleanQuery.Builder()
        for part, occur in tree.flat(node, with_ranks=self.ranks):
            builder.add(self._clause(part, occur))
        if all(clause.occur == "must_not" for clause in node.clauses):
            builder.add(MatchAllDocsQuery(), BooleanClause.Occur.MUST)
        return builder.build()

    def _clause(self, node: tree.Node, occur: tree.Occur) -> Any:
        """Return a clause of Lucene; those of words are cached, since words recur."""
        word, _ = tree.unweighted(node)
        if self.terms is None or not isinstance(word, tree.Terms):
            return BooleanClause(self.query(node), _occur(occur))
        key = node, occur
        if (known := self.terms.clauses.get(key)) is None:
            known = BooleanClause(self.query(node), _occur(occur))
            if len(self.terms.clauses) >= _MOST_TERMS:
                self.terms.clauses.clear()
            if len(word.texts) <= _MOST_FORMS and _recur(word.field, word.texts):
                self.terms.clauses[key] = known
        return known


def _recur(field: str, texts: Sequence[str]) -> bool:
    """Check whether other queries may have the same terms, and few bytes are enough for them."""
    # Each document has other fingerprints.
    return field != schema.FINGERPRINT and all(len(text) <= _LONGEST for text in texts)


@cache
def _occur(name: tree.Occur) -> Any:
    # The class has no constants until the virtual machine runs.
    return getattr(BooleanClause.Occur, "SHOULD" if name == "rank" else name.upper())


def _best(queries: Iterable[Any]) -> Any:
    return DisjunctionMaxQuery(Arrays.asList([*queries]), 0.0)


def _synonyms(node: tree.Terms) -> Any:
    builder = SynonymQuery.Builder(node.field)
    for text in node.texts:
        builder.addTerm(Term(node.field, text))
    return builder.build()


_known_synonyms: Final = lru_cache(maxsize=_MOST_TERMS)(_synonyms)


def _phrase(node: tree.TermPhrase) -> Any:
    if all(len(texts) == 1 for texts in node.positions):
        return PhraseQuery(node.slop, node.field, [texts[0] for texts in node.positions])
    builder = MultiPhraseQuery.Builder()
    for texts in node.positions:
        builder.add([Term(node.field, text) for text in texts])
    return builder.setSlop(node.slop).build()


def _pattern(node: tree.Pattern) -> Any:
    prefix, rest = node.beginning
    if rest == "*":
        return PrefixQuery(Term(node.field, prefix), _rewrite(scored=node.scored))
    term = Term(node.field, node.pattern)
    return WildcardQuery(term, _DETERMINIZE_WORK, _rewrite(scored=node.scored))


def _rewrite(*, scored: bool) -> Any:
    """Return how a pattern is scored: by its most useful terms, or all the same."""
    if scored:
        return MultiTermQuery.TopTermsBlendedFreqScoringRewrite(SCORED_TERMS)
    return MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE


def _range(node: tree.Range) -> Any:
    field = node.field or ""
    if schema.is_number_field(field):
        low = number_of(node.low, -math.inf)
        high = number_of(node.high, math.inf)
        # Lucene's range includes both bounds (``DoublePoint.newRangeQuery``).
        return DoubleField.newRangeQuery(
            field,
            low if node.includes_low else math.nextafter(low, math.inf),
            high if node.includes_high else math.nextafter(high, -math.inf),
        )
    return TermRangeQuery.newStringRange(
        field, node.low, node.high, node.includes_low, node.includes_high
    )


def _values(node: tree.Values) -> Any:
    if node.field == schema.CHUNK_INDEX:
        return IntPoint.newSetQuery(node.field, JArray("int")(list(map(int, node.texts))))
    return TermInSetQuery(node.field, Arrays.asList([*map(BytesRef, node.texts)]))


def number_of(bound: str | None, otherwise: float) -> float:
    """Return a bound of a range of numbers."""
    if bound is None:
        return otherwise
    try:
        return float(bound)
    except ValueError as error:
        raise QueryParseError(f"{bound[:80]!r} is not a number") from error


@lru_cache(maxsize=_REMEMBERED_EXPRESSIONS)
def values_with(node: tree.ValueWords, *, scored: bool) -> Any:
    """Return a query for values that contain words; it is cached, since making it takes longest."""
    return RegexpQuery(
        Term(node.field or "", node.pattern),
        *(0, 0, RegexpQuery.DEFAULT_PROVIDER, _DETERMINIZE_WORK, _rewrite(scored=scored)),
    )


def _value_words(node: tree.ValueWords) -> Any:
    scored, rest = (values_with(node, scored=scored) for scored in (True, False))
    return _best([scored, BoostQuery(rest, UNSCORED_VALUE)])


_CONVERSIONS: Final[dict[type, Callable[[Any], Any]]] = {
    tree.Everything: lambda _: MatchAllDocsQuery(),
    tree.Nothing: lambda _: MatchNoDocsQuery(),
    # Words recur; the many compounds with one would fill the memory.
    tree.Terms: lambda node: (_known_synonyms if len(node.texts) <= _MOST_FORMS else _synonyms)(
        node
    ),
    tree.Values: _values,
    tree.Between: lambda node: IntPoint.newRangeQuery(node.field, node.low, node.high),
    tree.Exists: lambda node: FieldExistsQuery(node.field),
    tree.TermPhrase: _phrase,
    tree.Pattern: _pattern,
    tree.Fuzzy: lambda node: FuzzyQuery(Term(node.field, node.text), node.edits, node.prefix),
    tree.ValueWords: _value_words,
    tree.Expression: lambda node: RegexpQuery(Term(node.field, node.pattern)),
    tree.Range: _range,
}


class LuceneTerms(IndexTerms):
    """Cache of the terms and fields of a commit, for the searchers of its reader."""

    def __init__(self, reader: Any) -> None:
        super().__init__()
        self.reader = reader
        self._searcher = IndexSearcher(reader)
        self.clauses: dict[tuple[tree.Node, tree.Occur], Any] = {}  # of words, of Lucene
        self._terms: dict[tuple[str, str], tuple[Any | None, int]] = {}
        self._chunks: dict[str, int] = {}

    def query(self, field: str, text: str) -> Any | None:
        """Return a query for a term with its looked-up states; None if no chunk has it."""
        return (self._terms.get((field, text)) or self._looked_up(field, text))[0]

    def frequency(self, field: str, text: str) -> int:
        return (self._terms.get((field, text)) or self._looked_up(field, text))[1]

    def _looked_up(self, field: str, text: str) -> tuple[Any | None, int]:
        if not self.chunks(field):
            return None, 0
        term = Term(field, text)
        states = TermStates.build(self._searcher, term, True)
        frequency = states.docFreq()
        known = (TermQuery(term, states) if frequency else None, frequency)
        if len(self._terms) >= _MOST_TERMS:
            self._terms.clear()
        if _recur(field, (text,)):
            self._terms[field, text] = known
        return known

    def look_up(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Do nothing: to look one term up takes microseconds."""

    def chunks(self, field: str) -> int:
        if field not in self._chunks:
            self._chunks[field] = self.reader.getDocCount(field)
        return self._chunks[field]

    @cached_property
    def total(self) -> int:
        return int(self.reader.maxDoc())

    @property
    def fields(self) -> frozenset[str]:
        return all_fields(self.reader)

    def dictionary(self, field: str) -> int:
        segments = (LeafReaderContext.cast_(leaf) for leaf in self.reader.leaves())
        terms = (segment.reader().terms(field) for segment in segments)
        return sum(max(0, of.size()) for of in terms if of is not None)

    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        return terms_with_prefix(self.reader, field, prefix)

    def may_begin(self, field: str, prefix: str) -> bool:
        return next(terms_with_prefix(self.reader, field, prefix), None) is not None

    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        # Not DirectSpellChecker, which makes a new automaton for each field and number of edits.
        return self._accepted(field, _fuzzy_automaton(text, edits, beginning))

    def _accepted(self, field: str, automaton: Any) -> dict[str, int]:
        """Return the terms of a field that an automaton accepts, with their frequencies."""
        frequencies: dict[str, int] = {}
        terms = MultiTerms.getTerms(self.reader, field)
        if terms is None:
            return frequencies
        found = TermsEnum.cast_(terms.intersect(automaton, None))
        following = BytesRefIterator.cast_(found)
        while (term := following.next()) is not None:
            check()
            frequencies[term.utf8ToString()] = found.docFreq()
        return frequencies

    def has_value(self, words: tree.ValueWords) -> bool:
        terms = MultiTerms.getTerms(self.reader, words.field or "")
        if terms is None:
            return False
        with running():
            automaton = values_with(words, scored=False).getCompiled()
        found = TermsEnum.cast_(automaton.getTermsEnum(terms))
        return BytesRefIterator.cast_(found).next() is not None


class LiveTerms(LuceneTerms):
    """Terms of a part of an index: only those of chunks that are not deleted, and counted there.

    Otherwise suggestions and explanations would tell which words the rest of the index has.
    """

    def __init__(self, reader: Any) -> None:
        super().__init__(reader)
        self._live: dict[tuple[str, str], int] = {}

    def frequency(self, field: str, text: str) -> int:
        if not super().frequency(field, text):
            return 0
        key = (field, text)
        if key not in self._live:
            if len(self._live) >= _MOST_TERMS:
                self._live.clear()
            self._live[key] = int(self._searcher.count(TermQuery(Term(field, text))))
        return self._live[key]

    def query(self, field: str, text: str) -> Any | None:
        return super().query(field, text) if self.frequency(field, text) else None

    @cached_property
    def total(self) -> int:
        return int(self.reader.numDocs())

    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        for text, _ in super().beginning_with(field, prefix):
            if frequency := self.frequency(field, text):
                yield text, frequency

    def has_value(self, words: tree.ValueWords) -> bool:
        with running():
            query = values_with(words, scored=False)
        return super().has_value(words) and bool(self._searcher.count(query))

    def _accepted(self, field: str, automaton: Any) -> dict[str, int]:
        accepted = super()._accepted(field, automaton)
        counts = ((text, self.frequency(field, text)) for text in accepted)
        return {text: count for text, count in counts if count}


@cached_per_commit
def terms_of(reader: Any) -> LuceneTerms:
    """Return the terms of an index, with a cache that all queries on the same commit share."""
    return LiveTerms(reader) if is_limited(reader) else LuceneTerms(reader)


@lru_cache(maxsize=_REMEMBERED_AUTOMATA)
def _fuzzy_automaton(text: str, edits: int, beginning: int) -> Any:
    return FuzzyQuery.getFuzzyAutomaton(text, edits, beginning, True)


def scored_again(searcher: Any, hits: list[Any], query: Any) -> list[Any]:
    """Return hits (``ScoreDoc``) reordered after the scores of a Lucene query are added."""
    # The class has a static method of this name, too, hence JCC's underscore.
    before = TopDocs(TotalHits(len(hits), TotalHits.Relation.EQUAL_TO), hits)
    again = QueryRescorer.rescore_(searcher, before, query, 1.0, len(hits))
    return [ScoreDoc.cast_(hit) for hit in again.scoreDocs]


def terms_with_prefix(
    reader: Any, field: str, prefix: str, *, start: str = ""
) -> Iterator[tuple[str, int]]:
    """Yield terms in alphabetical order, each with its document frequency."""
    terms = MultiTerms.getTerms(reader, field)
    if terms is None:
        return
    # This looks the first term up in each segment and iterates over all segments in parallel.
    found = TermsEnum.cast_(terms.iterator())
    if found.seekCeil(BytesRef(max(prefix, start))) == TermsEnum.SeekStatus.END:
        return
    following = BytesRefIterator.cast_(found)
    term = found.term()
    while term is not None:
        text = term.utf8ToString()
        if not text.startswith(prefix):
            return
        yield text, found.docFreq()
        term = following.next()
