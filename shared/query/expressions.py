"""The regular expressions of a query: how large Lucene would make them.

Lucene writes repetitions out: ``(a{10}){10}`` takes as much memory as a hundred letters.
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

from shared.errors import QueryError

MAX_REPETITIONS: Final = 1_000
"""Product of the repetition counts around a part of a regular expression."""

MAX_EXPRESSION_LETTERS: Final = 20_000
"""Letters of all regular expressions of a query, with their repetitions written out."""


def check_expressions(classic: str) -> None:
    """Refuse regular expressions that Lucene would unroll into very many states.

    The parser unrolls each as soon as it has read it, so this comes first.

    Args:
        classic: a query in Lucene's classic syntax.

    Raises:
        QueryError: there is such an expression, or there are too many.
        lucene.JavaError: one is not valid.
    """
    letters = 0
    for expression in _expressions(classic):
        for size, repetitions in _parts(RegExp(expression)):
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


def _expressions(classic: str) -> Iterator[str]:
    """What stands between slashes, as the tokenizer of Lucene's parser finds it."""
    if "/" not in classic:
        return
    tokens = QueryParserTokenManager(FastCharStream(StringReader(classic)))
    while True:
        try:
            token = tokens.getNextToken()
        except lucene.JavaError as error:
            if not TokenMgrError.instance_(error.getJavaException()):
                raise
            # The parser stops at the same place, and says where that is.
            return
        if token.kind == QueryParserConstants.EOF:
            return
        if token.kind == QueryParserConstants.REGEXPTERM:
            yield token.image[1:-1]


def _parts(expression: Any) -> Iterator[tuple[int, int]]:
    """The letters of each part of an expression, and how often it is repeated."""
    # An expression of many parts is a tree that is as deep as they are many.
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
