"""Conversion of typed text to Lucene's classic query syntax, with other characters escaped.

Questions, paths, times, addresses and names such as C++ are full of characters that the syntax
uses. A character is treated as syntax only where it can have an effect: a minus before a word, a
question mark inside one, a colon after the name of a field, a quote that is closed. The rules are
in docs/searching.md.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from shared.analysis.languages import WITH_FUNCTION_WORDS, counted_function_words
from shared.model import schema
from shared.model.request import Syntax

_SECTION: Final = re.compile(r"\u00a7\s+(?=\d)")

_FEWEST_IN_CAPITALS: Final = 2
"""Minimum number of function words of a language by which a query in capitals is a sentence; fewer
may be names, as in "US GDP"."""

_LONGEST_RANGE: Final = 500  # characters of the part of a range before TO

_FIELDS: Final = "|".join((schema.ID, schema.TITLE, schema.CONTENT, schema.SOURCE_DOCUMENT))

_FIELD: Final = rf"(?:{_FIELDS}|(?:{schema.METADATA}|{schema.NUMBER})\.(?:\\.|[^\s:\\])+)"

_NUMBER: Final = r"\d+(?:\.\d+)?"
_END: Final = r"(?=[\s)]|$)"
_BOOST: Final = rf"(?:\^{_NUMBER}{_END})?"

WORD: Final = r"\w\u0300-\u1fff\u20d0-\u20ff\ua800-\uabff\ufe20-\ufe2f"
r"""Characters of words, including combining marks of scripts, which Python's ``\w`` lacks."""

_BEGINNING: Final = r"(?<![^\s(+\-!:])"
"""Position before the first character of a word; signs, parentheses and a field may precede it."""

_SPECIAL_CHARACTERS: Final = r'+\-!(){}\[\]^"~*?:\\/&|'

_NO_PARAMETERS: Final = rf"(?![{WORD}.]*\?[{WORD}.\-]+=)"
"""Beginning of a word that is not the end of an address with parameters: ``page?id=77``."""

_EXCLUDED: Final = (
    r"(?=[^\W\d_])(?:(?=[^\s()]*?[\u0370-\uffff])"
    r"|(?=(?:[^\s()]*?[^\W\d_]){3})(?=[^\s()]*?[aeiouyAEIOUY\u00c0-\u024f]))"
)
"""Beginning of a word that a minus before it can exclude: of three letters and more, one of them a
vowel. Others are options of a command line, as in ``tar -xzf``, or letters of a list."""

_SIGN: Final = (
    rf"(?<![^\s(])(?:[+!](?=[^\W\d])|-{_EXCLUDED}|[+\-!](?=[\"(*?/]|\\[{_SPECIAL_CHARACTERS}]))"
)
"""Sign that requires or excludes what follows. Before a digit it belongs to a number: -18, +49."""

_EXCLUSION: Final = re.compile(rf"(?<![^\s(])-({_EXCLUDED}[^\s()]+)")


@lru_cache(maxsize=16)
def _syntax(keys: tuple[str, ...]) -> re.Pattern[str]:
    """Return an expression for syntax, given the metadata keys of an index."""
    field = "|".join((_FIELD, *(re.escape(key) for key in keys if key.isidentifier())))
    return re.compile(
        "|".join(
            (
                # A sign that the user escaped; before a letter a backslash belongs to a path.
                rf"\\[{_SPECIAL_CHARACTERS}]",
                # A phrase; and an unclosed quote, a mistake that the parser reports.
                rf'{_BEGINNING}"(?:\\.|[^"\\])+"(?:~{_NUMBER})?{_BOOST}',
                rf'{_BEGINNING}"(?=[^\s"])(?![^"]*")',
                # A regular expression, a range, a field, and operators.
                rf"{_BEGINNING}/(?:\\.|[^/\\\s])+/{_BOOST}{_END}",
                rf"{_BEGINNING}[\[{{][^\[\]{{}}]{{1,{_LONGEST_RANGE}}}\sTO\b[^\[\]{{}}]*[\]}}]?{_BOOST}",
                rf"(?<![^\s(+\-!])(?:{field}):(?:\*{_END}|(?=\S))",
                r"(?<!\S)(?:\*:\*|&&|\|\|)(?!\S)",
                # A sign before a word, and a word with wildcards that are not just the end of a
                # question.
                _SIGN,
                rf"{_BEGINNING}{_NO_PARAMETERS}(?=[{WORD}.]*[*?])[*?]*[{WORD}](?:[{WORD}.*?]*[{WORD}*])?",
                # After a word: a fuzzy match, a weight.
                rf"(?<=[{WORD}])~(?:{_NUMBER})?{_BOOST}{_END}",
                rf"(?<=\S)\^{_NUMBER}{_END}",
            )
        )
    )


_MEANT: Final = re.compile(
    r'[^\[{].*(?<!\\):\*?|[~^].*|".*"[~^].*|[\[{].*[\]}](?:\^.*)?|[+\-](?:"|[^\W\d])', re.DOTALL
)
"""Syntax that is never typed by chance: a field, a sign before a word, a fuzzy match, a weight, a
closed range. It is matched including the character after a sign."""

_NO_SYNTAX: Final = re.compile(r"(?!)")
_SPECIAL: Final = re.compile(f"[{_SPECIAL_CHARACTERS}]")
_LONE_BACKSLASH: Final = re.compile(rf"\\(?![{_SPECIAL_CHARACTERS}])")
_KEY: Final = re.compile(r"(?<![^\s(+\-!])[^\W\d]\w*:(?=[^\s/])")

_NAMED: Final = re.compile(
    r"(?<![^\s(+\-!])(?P<name>[^\W\d]\w+):(?P<value>(?!(?:AND|OR|NOT)\b)[\w*?]|[\"(\[{])\S*"
)
"""A word, a colon and directly after it something that is neither a path nor another colon."""

_OPERATOR: Final = re.compile(r"(?<!\S)(AND|OR|NOT)(?!\S)")


_ALL_GENDERS: Final = re.compile(
    r"(?<=[^\W\d_]{3})(?:[*:_]|/-?)(?=innen(?!\w))|(?<=[^\W\d_]{3}er)\*(?=in(?!\w))"
)
"""The sign within German words for men and women: Mitarbeiter*innen."""


class NamedText(NamedTuple):
    """A name before a colon that is not the name of a field."""

    name: str
    text: str  # the whole word, including the name
    colon: int  # its position
    is_one_word: bool  # whether the text after the colon is a part of the same word


def named_texts(text: str, syntax: Syntax, keys: Collection[str] = ()) -> Iterator[NamedText]:
    """Yield the names before a colon that are not fields; a ``plain`` text has no fields."""
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


def as_meant(text: str, syntax: Syntax) -> str:
    """Return a query with section signs at their numbers, and words for all genders as one word.

    Without capitals by caps lock.
    """
    if syntax == "lucene":
        return text
    text = _ALL_GENDERS.sub("", _SECTION.sub("\u00a7", text))
    if not text.isupper() or _OPERATOR.search(text):
        return text
    counts = counted_function_words(text, WITH_FUNCTION_WORDS)
    return text.lower() if max(counts.values(), default=0) >= _FEWEST_IN_CAPITALS else text


def to_lucene_syntax(
    text: str, syntax: Syntax = "auto", keys: Collection[str] = (), apart: Collection[int] = ()
) -> str:
    """Return a query in the syntax of Lucene's classic query parser.

    ``lucene`` keeps the text unchanged, ``plain`` escapes every character, ``auto`` decides for
    each. A colon may follow the metadata keys, and separates two words at the positions `apart`.
    """
    if syntax == "lucene":
        return text
    if syntax == "plain":
        return _OPERATOR.sub(r"\\\1", _escaped_but(text, 0, (), apart))
    if text.strip() == "*" or not _SPECIAL.search(text):
        return text
    pattern = _syntax(tuple(keys))
    groups = _groups(text, pattern)
    return "".join(
        _as_meant(part) if is_syntax else _escaped_but(part, start, groups, apart)
        for start, part, is_syntax in _parts(text, pattern)
    )


def _as_meant(part: str) -> str:
    """Return syntax with backslashes in quotes escaped that belong to a path."""
    return _LONE_BACKSLASH.sub(r"\\\\", part) if part.startswith('"') else part


def excluded_words(text: str, syntax: Syntax) -> list[str]:
    """Return the words that a minus before them excludes, as typed, without those on a field.

    Only in the syntax ``auto`` the minus may have been meant as text.
    """
    if syntax != "auto" or "-" not in text:
        return []
    quoted = [
        range(start, start + len(part))
        for start, part, is_syntax in _parts(text, _syntax(()))
        if is_syntax and len(part) > 1
    ]
    return [
        found[1]
        for found in _EXCLUSION.finditer(text)
        if ":" not in found[1] and not any(found.start() in part for part in quoted)
    ]


def has_evident_syntax(text: str, keys: Collection[str] = ()) -> bool:
    """Check whether a text that does not parse is a mistyped query rather than plain language.

    Plain language may also have parentheses, quotes and the words AND, OR and NOT; Markdown and
    words with a footnote have asterisks.
    """
    return any(
        is_syntax and _MEANT.fullmatch(part if part not in "+-" else text[start : start + 2])
        for start, part, is_syntax in _parts(text, _syntax(tuple(keys)))
    )


def is_plain(text: str, syntax: Syntax = "auto") -> bool:
    """Check whether a query has no syntax, and would not have any with any metadata keys."""
    if syntax == "auto":
        return to_lucene_syntax(text) == to_lucene_syntax(text, "plain") and not _KEY.search(text)
    return syntax == "plain"


def original_position(text: str, classic: str, position: int) -> int:
    """Return the position in a typed text of a character in its `to_lucene_syntax`."""
    original = 0
    for character in classic[:position]:
        if original < len(text) and text[original] == character:
            original += 1
    return original


def _parts(text: str, syntax: re.Pattern[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the parts of a text in order: the position, the text, and whether it is syntax."""
    end = 0
    for found in syntax.finditer(text):
        yield end, text[end : found.start()], False
        yield found.start(), found.group(), True
        end = found.end()
    yield end, text[end:], False


def _groups(text: str, syntax: re.Pattern[str]) -> frozenset[int]:
    """Return the positions of grouping parentheses, not of those in or after a word: ``f(x)``.

    An unclosed one is a mistake, which the parser reports; one that is only closed, as in ``1)``,
    is a character, and so is one at the end, as in ``:-(``.
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
    """Return a part of a text escaped except for grouping, with a blank after some colons."""

    def escaped(sign: re.Match[str]) -> str:
        position = start + sign.start()
        if position in groups:
            return sign[0]
        return f"\\{sign[0]} " if position in apart else f"\\{sign[0]}"

    return _SPECIAL.sub(escaped, part)


# No two runs of digits may touch: backtracking over every border between them would take quadratic
# time, in which no other thread runs.
_FINITE_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def is_number(text: str) -> bool:
    """Check whether a text is a number; ``nan``, ``inf`` and ``2_020`` are words."""
    return _FINITE_NUMBER.fullmatch(text) is not None
