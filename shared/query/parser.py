"""From the text of a query to a query of Lucene: the one place where ranking lives.

`parse` runs the stages in this order:

1. a blank text matches every chunk;
2. what is not meant as syntax is escaped (`shared.query_syntax`);
3. Lucene's classic syntax is parsed on `FIELDS`, each word in each of these fields;
4. what the syntax names itself, such as ``title:lease``, is left as it is.

Scores are BM25 (Robertson et al. 1994, with Lucene's k1 = 1.2 and b = 0.75), summed over
the fields.
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import lucene
from java.lang import Float, IllegalArgumentException, StackOverflowError
from java.util import HashMap
from org.apache.lucene.analysis import Analyzer
from org.apache.lucene.queryparser.classic import (
    MultiFieldQueryParser,
    ParseException,
    QueryParser,
    QueryParserBase,
)
from org.apache.lucene.search import IndexSearcher, MatchAllDocsQuery
from org.apache.lucene.util.automaton import TooComplexToDeterminizeException

from shared import java_errors, schema
from shared.errors import QueryError, QueryParseError
from shared.query_syntax import original_position, to_lucene_syntax
from shared.search_options import Operator, Syntax

MAX_QUERY_LENGTH: Final = 20_000
"""Characters in a query; more than a page of text is no question."""

MAX_CLAUSES: Final = 4096
"""Terms that a query may come to, wildcards expanded and each field counted."""

FIELDS: Final = {schema.CONTENT: 1.0, schema.TITLE: 1.0}
"""The fields that a word is looked for in, with the weight of a match in each."""

MAX_REPETITIONS: Final = 1_000
"""Product of the repetition counts in a regular expression."""

_EXPRESSION: Final = re.compile(r"\\.|(/(?:\\/|[^/])*/)", re.DOTALL)
_REPETITION: Final = re.compile(r"\{([0-9]{1,20}(?:,[0-9]{0,20})?)\}")
_COLUMN: Final = re.compile(r"at line 1, column (\d+)")


def parse(text: str, analyzer: Analyzer, operator: Operator = "or", syntax: Syntax = "auto") -> Any:
    """Parse the text of a query.

    Args:
        text: what was typed; a blank text matches every chunk.
        analyzer: the analyzer that the index was written with.
        operator: whether one of the words is enough or all are needed.
        syntax: how the text is read; see `shared.query_syntax`.

    Returns:
        A query of Lucene. It belongs to no thread.

    Raises:
        QueryParseError: the text is not valid syntax; the message says where.
        QueryError: the query is too long, too large, or cannot be run.
    """
    if not text.strip():
        return MatchAllDocsQuery()
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {MAX_QUERY_LENGTH:,} are allowed: "
            "ask for fewer words"
        )
    classic = to_lucene_syntax(text, syntax)
    _check_repetitions(classic)
    IndexSearcher.setMaxClauseCount(MAX_CLAUSES)
    with running():
        try:
            # A static method of the same name hides this one on the class itself.
            return QueryParserBase.parse(_parser(analyzer, operator), classic)
        except lucene.JavaError as error:
            if not ParseException.instance_(error.getJavaException()):
                raise
            raise _parse_error(text, classic, error.getJavaException()) from error


def _check_repetitions(text: str) -> None:
    """Refuse a regular expression that Lucene would unroll into very many states."""
    for expression in _EXPRESSION.findall(text):
        states = math.prod(max(map(int, counts)) for counts in _counts(expression))
        if states > MAX_REPETITIONS:
            raise QueryError(
                f"the regular expression {expression[:80]!r} repeats more than "
                f"{MAX_REPETITIONS:,} times; use * or + or smaller numbers"
            )


def _counts(expression: str) -> Iterator[list[str]]:
    """The numbers in each ``{n}``, ``{n,}`` or ``{n,m}`` of a regular expression."""
    for repetition in _REPETITION.findall(expression):
        yield [count for count in repetition.split(",") if count]


@contextmanager
def running() -> Iterator[None]:
    """Turn what Lucene throws because of a query, while it is parsed or run, into a `QueryError`.

    Raises:
        QueryParseError: a part of the query, such as a regular expression, is not valid.
        QueryError: the query has too many terms or is nested too deeply.
    """
    try:
        yield
    except lucene.JavaError as error:
        thrown = error.getJavaException()
        if IndexSearcher.TooManyClauses.instance_(thrown):
            raise _too_many_clauses() from error
        if TooComplexToDeterminizeException.instance_(thrown):
            raise QueryError(
                "the query has a pattern that is too complex; use a simpler one"
            ) from error
        if StackOverflowError.instance_(thrown):
            raise QueryError("the query is nested too deeply; use fewer parentheses") from error
        if IllegalArgumentException.instance_(thrown):
            raise QueryParseError(java_errors.message(error)) from error
        raise


def _parser(analyzer: Analyzer, operator: Operator) -> Any:
    weights = HashMap()
    for field, weight in FIELDS.items():
        weights.put(field, Float(weight))
    # A parser keeps state while it parses, so every query has its own.
    parser = MultiFieldQueryParser(list(FIELDS), analyzer, weights)
    parser.setDefaultOperator(
        QueryParser.Operator.AND if operator == "and" else QueryParser.Operator.OR
    )
    parser.setAllowLeadingWildcard(True)
    return parser


def _parse_error(text: str, classic: str, thrown: Any) -> QueryError:
    """Say where a text stops being valid; Lucene's own message lists the tokens it expected."""
    cause = thrown.getCause()
    if cause is not None and IndexSearcher.TooManyClauses.instance_(cause):
        return _too_many_clauses()
    # The message begins with the query itself, so the place is the last match.
    columns = _COLUMN.findall(thrown.getMessage())
    if not columns:
        return QueryParseError(f"the query is not valid: {' '.join(thrown.getMessage().split())}")
    # The parser counts from 0, its tokenizer from 1.
    position = int(columns[-1]) - ("Lexical error" in thrown.getMessage())
    position = original_position(text, classic, position)
    rest = text[position:].split()
    before = text[max(0, position - 40) : position]
    if not rest:
        return QueryParseError(f"the query ends too early, at character {position}: {before!r}")
    return QueryParseError(
        f"unexpected {rest[0][:40]!r} at character {position + 1}, after {before!r}"
    )


def _too_many_clauses() -> QueryError:
    return QueryError(
        f"the query comes to more than {MAX_CLAUSES:,} terms; use fewer words or longer prefixes"
    )
