"""Limits for the regular expressions of a query, by their size in Lucene.

Lucene unrolls repetitions: ``(a{10}){10}`` takes as much memory as a hundred letters.
"""

from collections.abc import Iterator
from typing import Any, Final

import lucene
from java.io import StringReader
from org.apache.lucene.queryparser.charstream import FastCharStream
from org.apache.lucene.queryparser.classic import (
    QueryParserConstants,
    QueryParserTokenManager,
    TokenMgrError,
)
from org.apache.lucene.util.automaton import RegExp

from shared.errors import QueryError, QueryParseError

MAX_REPETITIONS: Final = 1_000
"""Maximum product of the nested repetition counts of a part of a regular expression."""

MAX_EXPRESSION_LETTERS: Final = 20_000
"""Maximum number of letters in all regular expressions of a query, with unrolled repetitions."""

MAX_EXPRESSION_TRANSITIONS: Final = 100_000
"""Maximum number of transitions of all regular expressions of a query. Each optional part has one
past every later optional part; those of both sides of ``&`` are multiplied. Half a million take
seconds, and a few million all memory."""

MAX_STARS: Final = 20
_STARS: Final = "*" * MAX_STARS

_MAY_BE_LEFT_OUT: Final = frozenset({"REGEXP_OPTIONAL", "REGEXP_REPEAT", "REGEXP_ANYSTRING"})
_REPETITIONS: Final = frozenset({"REGEXP_REPEAT_MIN", "REGEXP_REPEAT_MINMAX"})


def check_expressions(classic: str) -> None:
    """Refuse regular expressions that Lucene would unroll into too many states.

    The parser unrolls each as soon as it has read it, so this check precedes it.

    Args:
        classic: a query in Lucene's classic syntax.

    Raises:
        QueryError: an expression is too large, or all of them together are.
        lucene.JavaError: an expression is not valid.
    """
    letters = transitions = 0
    for expression in _expressions(classic):
        parsed = RegExp(expression)
        for size, repetitions in _parts(parsed):
            if repetitions > MAX_REPETITIONS:
                raise QueryError(
                    f"the regular expression {expression[:80]!r} repeats more than "
                    f"{MAX_REPETITIONS:,} times; use * or + or smaller numbers"
                )
            letters += size * repetitions
        if letters > MAX_EXPRESSION_LETTERS:
            raise QueryError(
                "the regular expressions of the query come to more than "
                f"{MAX_EXPRESSION_LETTERS:,} letters when their repetitions are written out; use "
                "fewer, * or +, or smaller numbers"
            )
        transitions += _transitions(parsed)
        if transitions > MAX_EXPRESSION_TRANSITIONS:
            raise QueryError(
                f"the regular expression {expression[:80]!r} has too many parts that may be left "
                "out, or too many on both sides of &; use fewer"
            )


def check_wildcards(classic: str) -> None:
    """Refuse words with many ``*`` in a row, of which Lucene would make a pattern as large.

    Args:
        classic: a query in Lucene's classic syntax.

    Raises:
        QueryParseError: there is such a word.
    """
    if _STARS not in classic:
        return
    with_wildcards = (QueryParserConstants.PREFIXTERM, QueryParserConstants.WILDTERM)
    if any(kind in with_wildcards and _STARS in image for kind, image in _tokens(classic)):
        raise QueryParseError(f"a word has {MAX_STARS} or more * in a row; one says the same")


def _expressions(classic: str) -> Iterator[str]:
    """Yield the regular expressions of a query, without their slashes."""
    if "/" in classic:
        for kind, image in _tokens(classic):
            if kind == QueryParserConstants.REGEXPTERM:
                yield image[1:-1]


def _tokens(classic: str) -> Iterator[tuple[int, str]]:
    """Yield the kinds and texts of a query's tokens, as Lucene's parser tokenizes it."""
    tokens = QueryParserTokenManager(FastCharStream(StringReader(classic)))
    while True:
        try:
            token = tokens.getNextToken()
        except lucene.JavaError as error:
            if not TokenMgrError.instance_(error.getJavaException()):
                raise
            # The parser stops at the same position, and reports it.
            return
        if token.kind == QueryParserConstants.EOF:
            return
        yield token.kind, token.image


def _parts(expression: Any) -> Iterator[tuple[int, int]]:
    """Yield the number of letters of each part of an expression, and of its repetitions."""
    # Not recursive: an expression of many parts is a deep tree.
    waiting = [(expression, 1)]
    while waiting:
        part, repetitions = waiting.pop()
        if part.kind.equals(RegExp.Kind.REGEXP_REPEAT_MIN):
            repetitions *= max(1, part.min)
        elif part.kind.equals(RegExp.Kind.REGEXP_REPEAT_MINMAX):
            repetitions *= max(1, part.max)
        inner = [child for child in (part.exp1, part.exp2) if child is not None]
        waiting += [(child, repetitions) for child in inner]
        yield (0 if inner else len(part.s or " ")), repetitions


def _transitions(expression: Any) -> int:
    """Return the approximate number of transitions of an expression with unrolled repetitions."""
    # Not recursive: an expression of many parts is a deep tree. Inner parts follow outer ones.
    parts: list[tuple[Any, list[int]]] = [(expression, [])]
    for part, within in parts:
        for child in (part.exp1, part.exp2):
            if child is not None:
                within.append(len(parts))
                parts.append((child, []))
    most = 0
    sizes: dict[int, tuple[int, int]] = {}
    for place in reversed(range(len(parts))):
        part, within = parts[place]
        sizes[place] = letters, optional = _size(part, [sizes.pop(inner) for inner in within])
        most = max(most, letters + optional**2)
    return most


def _size(part: Any, inner: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the number of letters and of optional parts in a part, given its inner parts."""
    kind = str(part.kind.name())
    if kind == "REGEXP_INTERSECTION":
        (letters, optional), (other_letters, other_optional) = inner
        many = letters * other_letters, max(optional, 1) * max(other_optional, 1)
        return many if optional or other_optional else (many[0], 0)
    letters = sum(size for size, _ in inner) or len(part.s or " ")
    optional = sum(count for _, count in inner)
    times = 1
    if kind in _REPETITIONS:
        times = max(1, part.max if kind == "REGEXP_REPEAT_MINMAX" else part.min)
    is_optional = (
        kind in _MAY_BE_LEFT_OUT
        or (kind in _REPETITIONS and part.min == 0)
        or (kind == "REGEXP_STRING" and not part.s)
    )
    return letters * times, optional * times + is_optional
