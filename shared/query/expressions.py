"""Limits for the regular expressions of a query, by their size in Lucene.

Lucene unrolls repetitions: ``(a{10}){10}`` takes as much memory as a hundred letters.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
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
"""Maximum number of transitions of all regular expressions of a query. Half a million take seconds,
and a few million all memory."""

MAX_STARS: Final = 20
_STARS: Final = "*" * MAX_STARS


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
                "out, too many alternatives or characters that are repeated, or too many on both "
                "sides of &; use fewer"
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


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of a part of an expression as the automaton that Lucene makes of it.

    It has no empty transitions: each accept state of a part has a copy of those that leave the
    initial state of the next part (``Operations.concatenate``, ``union`` and ``repeat``).

    Attributes:
        transitions: number of transitions in it.
        firsts: number of transitions that leave its initial state.
        lasts: number of accept states that have transitions of their own.
        ends: whether it has accept states without any, which Lucene merges into one.
        may_be_empty: whether it matches the empty text.
    """

    transitions: int
    firsts: int
    lasts: int = 0
    ends: bool = True
    may_be_empty: bool = False

    @property
    def accepting(self) -> int:
        """Number of accept states."""
        return self.lasts + self.ends

    def __or__(self, other: "_Size") -> "_Size":
        return _Size(
            self.transitions + other.transitions,
            self.firsts + other.firsts,
            self.lasts + other.lasts,
            self.ends or other.ends,
            self.may_be_empty or other.may_be_empty,
        )

    def __and__(self, other: "_Size") -> "_Size":
        return _Size(
            self.transitions * other.transitions,
            self.firsts * other.firsts,
            self.accepting * other.accepting,
            may_be_empty=self.may_be_empty and other.may_be_empty,
        )

    def then(self, other: "_Size") -> "_Size":
        """Return the size of both, one after the other."""
        return _Size(
            self.transitions + other.transitions + self.accepting * other.firsts,
            self.firsts + (other.firsts if self.may_be_empty else 0),
            other.lasts + (self.accepting if other.may_be_empty else 0),
            other.ends,
            self.may_be_empty and other.may_be_empty,
        )

    def optional(self) -> "_Size":
        """Return the size of the part if it may be left out."""
        return replace(self, may_be_empty=True)

    def any_number(self) -> "_Size":
        """Return the size of any number of copies of the part, or none."""
        transitions = self.transitions + (self.accepting + 1) * self.firsts
        return _Size(transitions, self.firsts, self.accepting + 1, ends=False, may_be_empty=True)


_NOTHING: Final = _Size(0, 0, may_be_empty=True)
_ANY_TEXT: Final = _Size(1, 1).any_number()


def _transitions(expression: Any) -> int:
    """Return the approximate number of transitions of an expression with unrolled repetitions.

    It stops counting soon after `MAX_EXPRESSION_TRANSITIONS`.
    """
    # Not recursive: an expression of many parts is a deep tree. Inner parts follow outer ones.
    parts: list[tuple[Any, list[int]]] = [(expression, [])]
    for part, within in parts:
        for child in (part.exp1, part.exp2):
            if child is not None:
                within.append(len(parts))
                parts.append((child, []))
    sizes: dict[int, _Size] = {}
    for place in reversed(range(len(parts))):
        part, within = parts[place]
        sizes[place] = size = _size(part, [sizes.pop(inner) for inner in within])
        if size.transitions > MAX_EXPRESSION_TRANSITIONS:
            return size.transitions
    return sizes[0].transitions


def _size(part: Any, inner: list[_Size]) -> _Size:
    """Return the size of a part of an expression, given those of its inner parts."""
    kind = str(part.kind.name())
    if kind in _SIZES:
        return _SIZES[kind](part, inner)
    # A string, a character or a range of numbers.
    letters = len(part.originalString or " ") if part.s is None else len(part.s)
    return _Size(letters, 1) if letters else _NOTHING


_SIZES: Final[Mapping[str, Callable[[Any, list[_Size]], _Size]]] = {
    "REGEXP_UNION": lambda _, inner: inner[0] | inner[1],
    "REGEXP_INTERSECTION": lambda _, inner: inner[0] & inner[1],
    "REGEXP_CONCATENATION": lambda _, inner: inner[0].then(inner[1]),
    "REGEXP_DEPRECATED_COMPLEMENT": lambda _, inner: inner[0],
    "REGEXP_OPTIONAL": lambda _, inner: inner[0].optional(),
    "REGEXP_REPEAT": lambda _, inner: inner[0].any_number(),
    "REGEXP_REPEAT_MIN": lambda part, inner: _in_a_row(
        [*repeat(inner[0], part.min), inner[0].any_number()]
    ),
    "REGEXP_REPEAT_MINMAX": lambda part, inner: _in_a_row(repeat(inner[0], part.min)).then(
        _up_to(inner[0], part.max - part.min)
    ),
    "REGEXP_ANYSTRING": lambda *_: _ANY_TEXT,
    "REGEXP_CHAR_CLASS": lambda part, _: _ranges(len(getattr(part, "from"))),
}
"""How the size of each kind of part follows from its inner parts."""


def _ranges(count: int) -> _Size:
    """Return the size of one character of several ranges."""
    return _Size(count, count)


def _in_a_row(parts: Iterable[_Size]) -> _Size:
    """Return the size of parts, one after the other."""
    size = _NOTHING
    for part in parts:
        size = size.then(part)
        if size.transitions > MAX_EXPRESSION_TRANSITIONS:
            break
    return size


def _up_to(part: _Size, count: int) -> _Size:
    """Return the size of up to a number of copies of a part.

    A copy follows only the one before it, unless it may be empty (``Operations.repeat``).
    """
    if part.may_be_empty or not count:
        return _in_a_row(repeat(part.optional(), count))
    links = part.accepting * part.firsts
    return _Size(
        part.transitions * count + links * (count - 1),
        part.firsts,
        part.accepting * count,
        ends=part.ends,
        may_be_empty=True,
    )
