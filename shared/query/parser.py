"""The first steps: a typed query becomes a tree and filters, or plain words if it is not valid.

Lucene's classic parser reads the syntax; words stay as typed, and are not on fields yet.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import lucene
from java.util import HashMap
from org.apache.lucene.analysis.core import KeywordAnalyzer
from org.apache.lucene.analysis.custom import CustomAnalyzer
from org.apache.lucene.analysis.miscellaneous import PerFieldAnalyzerWrapper
from org.apache.lucene.index import Term
from org.apache.lucene.queryparser.classic import ParseException, QueryParser, QueryParserBase
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    FuzzyQuery,
    IndexSearcher,
    MatchAllDocsQuery,
    PhraseQuery,
    PrefixQuery,
    RegexpQuery,
    TermQuery,
    TermRangeQuery,
    WildcardQuery,
)

from shared.analysis.analyzers import as_typed, tokens
from shared.errors import QueryError, QueryParseError
from shared.messages import shortened
from shared.model import schema
from shared.model.filters import Filter
from shared.model.request import Operator, SearchRequest, Syntax
from shared.query import limits
from shared.query.named_fields import fields_before, on_named_fields, unknown_names
from shared.query.syntax import (
    excluded_words,
    has_evident_syntax,
    original_position,
    to_lucene_syntax,
)
from shared.query.terms import IndexTerms
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Expression,
    Fuzzy,
    Node,
    Nothing,
    Occur,
    Phrase,
    Range,
    Wildcard,
    Word,
    escaped,
    leaves,
    weighted,
)

_NO_FIELD: Final = "\0"  # placeholder for the field of parts that do not name one

_SHOWN: Final = 40  # characters of a query that an error or a note repeats
_MOST_NOTED: Final = 3  # excluded words in a note

_COLUMN: Final = re.compile(r"at line 1, column (\d+)")


@dataclass(frozen=True)
class ReadQuery:
    """A query as parsed."""

    classic: str  # the text that Lucene's parser got
    tree: Node  # with named fields resolved
    filters: Sequence[Filter] = ()  # those in the query
    notes: tuple[str, ...] = ()  # sentences on parts that may not be interpreted as intended


def read(request: SearchRequest, terms: IndexTerms) -> ReadQuery:
    """Parse a query by the rules of its syntax."""
    text = request.query
    for word in excluded_words(text, request.syntax):
        # An option of a command line that some chunk has excludes nothing.
        option = "".join(token.text for token in tokens(as_typed(f"-{word}")))
        if terms.frequency(schema.CONTENT, option):
            text = text.replace(f"-{word}", f"\\-{word}", 1)
    if not text.strip():
        return ReadQuery(text, Everything())
    if text != request.query:
        request = replace(request, query=text)
    if ":" not in text:
        classic, tree, notes = _as_meant(request, request.syntax, (), ())
        return ReadQuery(classic, tree, (), tuple(notes))
    fields = fields_before(text, terms)
    unknown = unknown_names(request, fields, terms)
    apart = {named.colon for named in unknown if named.is_one_word}
    classic, tree, notes = _as_meant(request, request.syntax, fields.names, apart)
    names = [named.name for named in unknown if request.syntax != "plain"]
    tree, filters, on_names = on_named_fields(tree, names, fields, terms)
    return ReadQuery(classic, tree, filters, (*notes, *on_names))


def _as_meant(
    request: SearchRequest, syntax: Syntax, names: Collection[str], apart: Collection[int]
) -> tuple[str, Node, list[str]]:
    """Return a query in Lucene's syntax, its tree, and notes on what may be meant otherwise."""
    text = request.query
    classic = to_lucene_syntax(text, syntax, names, apart)
    try:
        tree = parse(text, classic, request.operator)
    except QueryParseError as error:
        if syntax != "auto" or has_evident_syntax(text, names):
            raise
        note = f"The query was searched as plain text, since it is not valid: {error.reason}."
        return *_as_meant(request, "plain", names, apart)[:2], [note]
    excluded = [repr(shortened(f"-{word}", _SHOWN)) for word in excluded_words(text, syntax)]
    if not excluded:
        return classic, tree, []
    shown = " and ".join(excluded[:_MOST_NOTED])
    return classic, tree, [f"{shown} excluded chunks; in quotes, it is searched as text."]


def parse(text: str, classic: str, operator: Operator) -> Node:
    """Parse a query in Lucene's classic syntax; errors name positions in the text as typed."""
    IndexSearcher.setMaxClauseCount(limits.MAX_CLAUSES)
    tree = _plain_words(text, classic, operator) or _parsed(text, classic, operator)
    if len(leaves(tree)) > limits.MAX_TERMS:
        raise limits.too_many_clauses()
    return tree


def _plain_words(text: str, classic: str, operator: Operator) -> Node | None:
    """Return the tree of a query without syntax, without Lucene, which takes longer."""
    words = text.split()
    if " ".join(words) != text or classic != to_lucene_syntax(text, "plain"):
        return None
    occur: Occur = "must" if operator == "and" else "should"
    return _clauses([(Word(word), occur) for word in words]) if len(words) > 1 else Word(text)


def _clauses(parts: Iterable[tuple[Node, Occur]]) -> Node:
    # A repeated word weighs as many times as it occurs.
    counts = Counter(parts)
    clauses = [Clause(weighted(node, count), occur) for (node, occur), count in counts.items()]
    return Clauses(tuple(clauses))


def _parsed(text: str, classic: str, operator: Operator) -> Node:
    with limits.running():
        limits.check_expressions(classic)
        # A parser keeps state, so every query has its own.
        parser = QueryParser(_NO_FIELD, _whole_words())
        parser.setDefaultOperator(getattr(QueryParser.Operator, operator.upper()))
        parser.setAllowLeadingWildcard(True)
        try:
            # A static method of the same name hides the instance method.
            query = QueryParserBase.parse(parser, classic)
        except lucene.JavaError as error:
            if not ParseException.instance_(error.getJavaException()):
                raise
            raise _parse_error(text, classic, error.getJavaException()) from error
    tree = _node(query, 0)
    limits.check_boosts(tree)
    every = leaves(tree, excluded=True)
    limits.check_fuzzy_words([leaf.text for leaf in every if isinstance(leaf, Fuzzy)])
    return tree


@cache
def _whole_words() -> Any:
    """Return an analyzer that keeps words as typed, and keywords whole, including blanks."""
    keywords = HashMap()
    for field in schema.KEYWORD_FIELDS:
        keywords.put(field, KeywordAnalyzer())
    words = CustomAnalyzer.builder().withTokenizer(
        "whitespace", ["maxTokenLen", str(limits.MAX_QUERY_LENGTH)]
    )
    return PerFieldAnalyzerWrapper(words.build(), keywords)


def _node(query: Any, depth: int) -> Node:
    """Return the tree of a query at a depth of nesting."""
    for java_class, convert in _CONVERSIONS:
        if java_class.instance_(query):
            return convert(java_class.cast_(query))
    if depth == limits.MAX_DEPTH:
        raise limits.nested_too_deeply()
    if BooleanQuery.instance_(query):
        clauses = map(BooleanClause.cast_, BooleanQuery.cast_(query).clauses())
        return _clauses((_node(clause.query(), depth + 1), _occur(clause)) for clause in clauses)
    if BoostQuery.instance_(query):
        boosted = BoostQuery.cast_(query)
        part = boosted.getQuery()
        # Of parentheses around a single word only the weight is left.
        return weighted(_node(part, depth + BoostQuery.instance_(part)), boosted.getBoost())
    return Nothing()


def _occur(clause: Any) -> Occur:
    if clause.isProhibited():
        return "must_not"
    return "must" if clause.isRequired() else "should"


def _field(name: str) -> str | None:
    return None if name == _NO_FIELD else name


def _term(term: Any) -> tuple[str, str | None]:
    return term.text(), _field(term.field())


def _phrase(query: Any) -> Node:
    words = tuple(Term.cast_(term).text() for term in query.getTerms())
    return Phrase(words, query.getSlop(), _field(query.getField()))


def _prefix(query: Any) -> Node:
    text, field = _term(query.getPrefix())
    return Wildcard(f"{escaped(text)}*", field)


def _fuzzy(query: Any) -> Node:
    text, field = _term(query.getTerm())
    return Fuzzy(text, query.getMaxEdits(), query.getPrefixLength(), field)


def _range(query: Any) -> Node:
    low, high = query.getLowerTerm(), query.getUpperTerm()
    return Range(
        low and low.utf8ToString(),
        high and high.utf8ToString(),
        bool(query.includesLower()),
        bool(query.includesUpper()),
        _field(query.getField()),
    )


_CONVERSIONS: Final[list[tuple[Any, Callable[[Any], Node]]]] = [
    (TermQuery, lambda query: Word(*_term(query.getTerm()))),
    (PhraseQuery, _phrase),
    # Prefixes, wildcards and expressions are all automata; their classes exclude each other.
    (PrefixQuery, _prefix),
    (WildcardQuery, lambda query: Wildcard(*_term(query.getTerm()))),
    (RegexpQuery, lambda query: Expression(*_term(query.getRegexp()))),
    (FuzzyQuery, _fuzzy),
    (TermRangeQuery, _range),
    (MatchAllDocsQuery, lambda _: Everything()),
]


def _parse_error(text: str, classic: str, thrown: Any) -> QueryError:
    """Return an error with the position of the mistake; Lucene's message lists expected tokens."""
    cause = thrown.getCause()
    if cause is not None and IndexSearcher.TooManyClauses.instance_(cause):
        return limits.too_many_clauses()
    # The message begins with the query itself, so the position is the last match.
    columns = _COLUMN.findall(thrown.getMessage())
    if not columns:
        return QueryParseError(f"the query is not valid: {' '.join(thrown.getMessage().split())}")
    # The parser counts from 0, its tokenizer from 1.
    units = int(columns[-1]) - ("Lexical error" in thrown.getMessage())
    # Java counts a character beyond the basic plane as two.
    position = len(classic.encode("utf-16-le")[: 2 * units].decode("utf-16-le"))
    position = original_position(text, classic, position)
    return QueryParseError(_mistake(text, position))


def _mistake(text: str, position: int) -> str:
    """Describe the mistake of a query that is invalid from a position on."""
    before, rest = text[max(0, position - _SHOWN) : position], text[position:].split()
    if not rest:
        return f"the query ends too early, at character {position}: {before!r}"
    unexpected = f"unexpected {rest[0][:_SHOWN]!r}"
    if not before.strip():
        return f"{unexpected} at the beginning of the query"
    return f"{unexpected} at character {position + 1}, after {before!r}"
