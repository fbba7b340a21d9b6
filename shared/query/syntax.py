"""What people type, as Lucene's classic query syntax: what is not meant as syntax is escaped.

Questions, paths, times, addresses and names such as C++ are full of characters that the syntax
uses. One is taken as syntax only where it can do its work: a minus before a word, a question mark
within one, a colon behind the name of a field, a quote that is closed. docs/searching.md has the
rules.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from shared.model import schema
from shared.model.request import Syntax

_LONGEST_RANGE: Final = 500
"""Characters before the TO of a range."""

_FIELDS: Final = "|".join((schema.ID, schema.TITLE, schema.CONTENT, schema.SOURCE_DOCUMENT))

_FIELD: Final = rf"(?:{_FIELDS}|(?:{schema.METADATA}|{schema.NUMBER})\.(?:\\.|[^\s:\\])+)"

_NUMBER: Final = r"\d+(?:\.\d+)?"

_END: Final = r"(?=[\s)]|$)"

_BOOST: Final = rf"(?:\^{_NUMBER}{_END})?"

_WORD: Final = r"\w\u0300-\u1fff\u20d0-\u20ff\ua800-\uabff\ufe20-\ufe2f"
"""What words consist of: Python's ``\\w`` lacks the marks with which scripts combine letters."""

_BEGINNING: Final = r"(?<![^\s(+\-!:])"
"""Before the first character of a word; signs, parentheses and a field may come before it."""


@lru_cache(maxsize=16)
def _syntax(keys: tuple[str, ...]) -> re.Pattern[str]:
    """What is syntax, for an index with these keys of metadata."""
    field = "|".join((_FIELD, *(re.escape(key) for key in keys if key.isidentifier())))
    return re.compile(
        "|".join(
            (
                # A character that was escaped by whoever typed it.
                r"\\.",
                # A phrase; and a quote that is never closed, a mistake that the parser names.
                rf'{_BEGINNING}"(?:\\.|[^"\\])+"(?:~{_NUMBER})?{_BOOST}',
                rf'{_BEGINNING}"(?=[^\s"])(?![^"]*")',
                # A regular expression, a range, a field, and what stands by itself.
                rf"{_BEGINNING}/(?:\\.|[^/\\\s])+/{_BOOST}{_END}",
                rf"{_BEGINNING}[\[{{][^\[\]{{}}]{{1,{_LONGEST_RANGE}}}\sTO\b[^\[\]{{}}]*[\]}}]?{_BOOST}",
                rf"(?<![^\s(+\-!])(?:{field}):(?:\*{_END}|(?=\S))",
                r"(?<!\S)(?:\*:\*|&&|\|\|)(?!\S)",
                # A sign before a word, and a word with wildcards that do not just end a question.
                r"(?<![^\s(])[+\-!](?=[\w\"(*?/\\])",
                rf"{_BEGINNING}(?=[{_WORD}.]*[*?])[*?]*[{_WORD}](?:[{_WORD}.*?]*[{_WORD}*])?",
                # What follows a word: another spelling, a weight.
                rf"(?<=[{_WORD}])~(?:{_NUMBER})?{_BOOST}{_END}",
                rf"(?<=\S)\^{_NUMBER}{_END}",
            )
        )
    )


_MEANT: Final = re.compile(
    r'[^\[{].*(?<!\\):\*?|[~^].*|".*"[~^].*|[\[{].*[\]}](?:\^.*)?|[+\-](?:"|[^\W\d])', re.DOTALL
)
"""Syntax that nobody types by chance: a field, a sign before a word, another spelling, a weight, a
range that is closed. It is matched with the character behind a sign."""

_NO_SYNTAX: Final = re.compile(r"(?!)")

_SPECIAL: Final = re.compile(r'[+\-!(){}\[\]^"~*?:\\/&|]')

_KEY: Final = re.compile(r"(?<![^\s(+\-!])[^\W\d]\w*:(?=[^\s/])")

_NAMED: Final = re.compile(
    r"(?<![^\s(+\-!])(?P<name>[^\W\d]\w+):(?P<value>(?!(?:AND|OR|NOT)\b)[\w*?]|[\"(\[{])\S*"
)
"""A word, a colon and something right behind it, which is neither a path nor another colon."""

_OPERATOR: Final = re.compile(r"(?<!\S)(AND|OR|NOT)(?!\S)")


@dataclass(frozen=True, slots=True)
class NamedText:
    """A name before a colon that is not the name of a field.

    Attributes:
        name: the name.
        text: all of the word, with the name.
        colon: where the colon stands.
        is_one_word: whether what is behind the colon is a part of the same word, which only a
            chunk with the very word would have.
    """

    name: str
    text: str
    colon: int
    is_one_word: bool


def named_texts(text: str, syntax: Syntax, keys: Collection[str] = ()) -> Iterator[NamedText]:
    """The names before a colon in a text that are not fields, in their order.

    Args:
        text: what was typed.
        syntax: ``auto``, or ``plain``, in which no name is a field.
        keys: as for `to_lucene_syntax`.
    """
    pattern = _NO_SYNTAX if syntax == "plain" else _syntax(tuple(keys))
    outside = [
        range(start, start + len(part))
        for start, part, is_syntax in _parts(text, pattern)
        if not is_syntax
    ]
    for found in _NAMED.finditer(text):
        colon = found.start("value") - 1
        if any(colon in part for part in outside):
            excluded = text[: found.start()].endswith(("-", "!"))
            is_one_word = not excluded and found["value"] not in '"([{'
            yield NamedText(found["name"], found.group(), colon, is_one_word)


def to_lucene_syntax(
    text: str, syntax: Syntax = "auto", keys: Collection[str] = (), apart: Collection[int] = ()
) -> str:
    """A query as text of Lucene's classic query parser.

    Args:
        text: what was typed.
        syntax: ``lucene`` leaves the text as it is, ``plain`` takes every character as text,
            ``auto`` decides for each.
        keys: of metadata, which a colon may follow like the name of a field.
        apart: where colons stand that are between two words.
    """
    match syntax:
        case "lucene":
            return text
        case "plain":
            return _OPERATOR.sub(r"\\\1", _escaped_but(text, 0, (), apart))
    if text.strip() == "*":
        return text
    pattern = _syntax(tuple(keys))
    groups = _groups(text, pattern)
    return "".join(
        part if is_syntax else _escaped_but(part, start, groups, apart)
        for start, part, is_syntax in _parts(text, pattern)
    )


def has_evident_syntax(text: str, keys: Collection[str] = ()) -> bool:
    """Whether a text that does not parse is a mistyped query rather than plain language.

    Parentheses, quotes and the words AND, OR and NOT are in plain language, too; wildcards are in
    Markdown and behind a word with a footnote.

    Args:
        text: what was typed, to be read by the syntax ``auto``.
        keys: of metadata, which a colon may follow like the name of a field.
    """
    return any(
        is_syntax and _MEANT.fullmatch(part if part not in "+-" else text[start : start + 2])
        for start, part, is_syntax in _parts(text, _syntax(tuple(keys)))
    )


def is_plain(text: str, syntax: Syntax = "auto") -> bool:
    """Whether nothing in a query is syntax, nor would be with any keys of metadata.

    Args:
        text: what was typed.
        syntax: how it is read.
    """
    if syntax == "auto":
        return to_lucene_syntax(text) == to_lucene_syntax(text, "plain") and not _KEY.search(text)
    return syntax == "plain"


def original_position(text: str, classic: str, position: int) -> int:
    """Where a character of the text that the parser read stands in the text that was typed.

    Args:
        text: what was typed.
        classic: what `to_lucene_syntax` made of it: the same with more backslashes.
        position: of a character in that, from 0; or its length.
    """
    original = 0
    for character in classic[:position]:
        if original < len(text) and text[original] == character:
            original += 1
    return original


def _parts(text: str, syntax: re.Pattern[str]) -> Iterator[tuple[int, str, bool]]:
    """The parts of a text in order: where each begins, and whether it is syntax."""
    end = 0
    for found in syntax.finditer(text):
        yield end, text[end : found.start()], False
        yield found.start(), found.group(), True
        end = found.end()
    yield end, text[end:], False


def _groups(text: str, syntax: re.Pattern[str]) -> frozenset[int]:
    """Where the parentheses stand that group: not those in or behind a word, as in ``f(x)``.

    One that is opened and never closed is a mistake, which the parser names; one that is only
    closed, as in ``1)``, is a character, and so is one at the end, as in ``:-(``.
    """
    grouping: set[int] = set()
    opened: list[tuple[int, bool]] = []
    for start, part, is_syntax in _parts(text, syntax):
        if is_syntax:
            continue
        for position in range(start, start + len(part)):
            if text[position] == "(":
                groups = position == 0 or text[position - 1] in " \t\n\r(+-!:"
                opened.append((position, groups))
            elif text[position] == ")" and opened:
                other, groups = opened.pop()
                if groups and text[other + 1 : position].strip():
                    grouping |= {other, position}
    for position, groups in opened:
        follows_field = text[:position].endswith(":")
        if groups and (follows_field or text[position + 1 :].strip()):
            grouping.add(position)
    return frozenset(grouping)


def _escaped_but(part: str, start: int, groups: Collection[int], apart: Collection[int]) -> str:
    """A part of a text with all of it escaped but what groups, and a blank behind some colons."""
    return "".join(
        (character if position in groups else _escaped(character))
        + (" " if position in apart else "")
        for position, character in enumerate(part, start)
    )


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


# No two runs of digits may touch: trying every border between them takes time by the square of
# their length, in which no other thread runs.
_FINITE_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def is_number(text: str) -> bool:
    """Whether a text is a number; ``nan``, ``inf`` and ``2_020`` are words, unlike in Python.

    Args:
        text: without blanks around it.
    """
    return _FINITE_NUMBER.fullmatch(text) is not None
