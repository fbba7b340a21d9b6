"""Phrases, patterns, ranges and numbers of a query on the fields of an index.

Without the name of a field they are searched in the content and in the title, as far as some chunk
has them; `shared.model.weights` has the weights of both.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.analysis.analyzers import folded, tokens
from shared.analysis.languages import SPELLED_OUT
from shared.model import schema
from shared.model.weights import Weights
from shared.query.index_terms import IndexTerms
from shared.query.syntax import WORD
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Expression,
    Fuzzy,
    Leaf,
    Node,
    Nothing,
    Occur,
    Pattern,
    Phrase,
    Range,
    TermPhrase,
    Terms,
    Values,
    Wildcard,
    any_of,
    best_of,
    escaped,
    unescaped,
    weighted,
)

TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE)

NEAR: Final = 3
"""Slop of near words: the number of moves that separate them from being adjacent."""

DIGRAPH: Final = re.compile("(?<![aeiouq])([aou])e(?=[^aeiou])", re.IGNORECASE)
"""Digraph with an e in place of an umlaut.

After a vowel or a q, and at the end of a word, it is not a digraph: Bauer, queue, blue.
"""

_OPTION: Final = re.compile(r"^--?(?=[^\W\d_])")
"""Beginning of an option of a command line, which the analyzer recognizes after a blank only."""

_SCORED_PREFIX: Final = 4
"""Minimum number of letters of a prefix that is specific enough to score its terms one by one."""

_DIGITS: Final = re.compile(
    r"(?:\+|\b|(?<=[A-Za-z]))\d(?:[ \u00a0/()\u2013-]{0,2}\d){4,33}(?![.,]?\d)"
)
"""Five digits and more, with the signs between them that telephone and account numbers have."""

_FEWEST_OF_A_NUMBER: Final = 4
"""Minimum number of digits of a number that a text may have with a blank, as in 5 000."""

_FEWEST_OF_A_SUFFIX: Final = 7
"""Minimum number of digits by whose end a longer number is found."""

_COUNTRY_CODES: Final = (1, 2, 3)
"""Numbers of digits of country codes (ITU-T E.164)."""

_PIECE: Final = re.compile(r"([*?]+)|((?:\\.|[^*?\\])+)", re.DOTALL)
_SUFFIX: Final = re.compile(r"\*((?:\\.|[^*?\\])+)", re.DOTALL)
_NO_LETTERS: Final = re.compile(f"(?:[^{WORD}]|_)+")


@dataclass(frozen=True)
class OnFields:
    """Step that puts parts of a query on the fields of an index, as far as some chunk has them."""

    terms: IndexTerms
    weights: Weights

    def has(self, field: str, term: str) -> bool:
        return self.terms.frequency(field, term) > 0

    def known(self, field: str, term: str) -> Node:
        return Terms(field, (term,)) if self.has(field, term) else Nothing()

    def there(self, field: str, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if self.terms.frequency(field, text))

    def on_texts(
        self, fields: Sequence[str], make: Callable[[str], Node], factor: float = 1.0
    ) -> Node:
        """Return the node that a function makes for some of the text fields, with their weights."""
        weights = {schema.CONTENT: self.weights.content, schema.TITLE: self.weights.title}
        return any_of(*(scaled(make(field), factor * weights[field]) for field in fields))

    def row(
        self, positions: Sequence[tuple[str, ...]], fields: Sequence[str], slop: int = 0
    ) -> Node:
        """Return terms next to each other; several at one position are alternatives."""
        return self.on_texts(fields, lambda field: self._row(field, positions, slop))

    def row_of(self, words: Sequence[str]) -> Node:
        """Return words as a phrase of the content; `Nothing` if no chunk may have it."""
        terms = [token.text for word in words for token in tokens(as_typed(word))]
        if len(terms) < 2:  # noqa: PLR2004 - a phrase has two words
            return Nothing()
        return self._row(schema.CONTENT, [(term,) for term in terms], 0)

    def _row(self, field: str, positions: Sequence[tuple[str, ...]], slop: int) -> Node:
        there = [self.there(field, texts) for texts in positions]
        if not all(there):
            return Nothing()
        return Terms(field, there[0]) if len(there) == 1 else TermPhrase(field, tuple(there), slop)

    def leaf(self, leaf: Leaf, occur: Occur) -> Node | None:
        """Return the node for a part that is not a word; None if it has no letters."""
        match leaf:
            case Phrase():
                return self._phrase(leaf, occur)
            case Wildcard():
                return self._wildcard(leaf)
            case Fuzzy() | Expression() | Range() if leaf.field in (None, *TEXT_FIELDS):
                return self._on_text_fields(leaf)
        return leaf

    def _phrase(self, phrase: Phrase, occur: Occur) -> Node | None:
        if phrase.field is not None and phrase.field not in TEXT_FIELDS:
            return on_named_field(phrase.field, " ".join(phrase.words))
        fields = fields_of(phrase.field)
        positions = _positions(phrase.words)
        if not positions:
            return None
        exact = self.row(positions, fields, phrase.slop)
        if phrase.slop or occur == "must_not" or len(positions) == 1:
            return exact
        near = self.row(positions, fields, NEAR)
        if isinstance(near, Nothing):
            return near
        return Clauses(
            (
                Clause(scaled(near, self.weights.near_phrase)),
                Clause(scaled(exact, self.weights.exact_phrase), "rank"),
            )
        )

    def _wildcard(self, leaf: Wildcard) -> Node:
        """Return the node for a word with ``*`` and ``?`` in it.

        A pattern that begins with ``*`` is searched in reversed terms, since terms are sorted by
        their beginnings. One with ``*`` on both sides matches as a prefix, as a suffix, and within
        words.
        """
        weights = self.weights
        if leaf.field is None and not leaf.pattern.strip("*"):
            return Everything()
        if leaf.field is not None and leaf.field not in TEXT_FIELDS:
            return _pattern(leaf.field, leaf.pattern, weights)
        suffix = _SUFFIX.fullmatch(leaf.pattern)
        if suffix and leaf.field is None:
            return scaled(_ending(_plain(suffix[1]), weights), weights.content)
        return self.on_texts(
            fields_of(leaf.field), lambda field: _pattern(field, leaf.pattern, weights)
        )

    def _on_text_fields(self, leaf: Fuzzy | Expression | Range) -> Node | None:
        match leaf:
            case Fuzzy(text):
                leaf = replace(leaf, text=_NO_LETTERS.sub("", folded(text)))
                if not leaf.text:
                    return None
            case Range(low, high):
                leaf = replace(leaf, low=low and folded(low), high=high and folded(high))
        return self.on_texts(fields_of(leaf.field), lambda field: replace(leaf, field=field))

    def numbers(self, text: str) -> Node:
        """Return the numbers of several words, such as a telephone number with blanks."""
        return self._runs(run for run in _DIGITS.findall(text) if " " in run)

    def numbers_in(self, word: str, term: str) -> Node:
        """Return the numbers of a word; its term is empty if it has several parts."""
        if len(term) == _FEWEST_OF_A_NUMBER and term.isdigit():
            # Mostly a year, which is another number than 2 000.
            there = self.there(schema.DIGITS, (term[::-1],))
            return Values(schema.DIGITS, there) if there else Nothing()
        # The term of a number is without the signs between its thousands.
        is_number = len(term) > _FEWEST_OF_A_NUMBER and term.isdigit()
        return self._runs(_DIGITS.findall(word) or ([term] if is_number else []))

    def _runs(self, runs: Iterable[str]) -> Node:
        return any_of(*(scaled(self._number(run), self.weights.digits) for run in runs))

    def _number(self, run: str) -> Node:
        digits = "".join(filter(str.isdigit, run))
        alike = [digits]
        if run.startswith("+") or digits.startswith("00"):
            begin = 0 if run.startswith("+") else 2
            alike += [digits[begin:]]
            for code in _COUNTRY_CODES:
                alike += [digits[begin + code :], f"0{digits[begin + code :]}"]
        backwards = [number[::-1] for number in dict.fromkeys(alike) if number]
        there = self.there(schema.DIGITS, backwards)
        nodes: list[Node] = [Values(schema.DIGITS, there)] if there else []
        if self.has(schema.CONTENT, digits):
            nodes.append(Values(schema.CONTENT, (digits,)))
        end = digits.removeprefix("0")
        if len(alike) == 1 and len(digits) >= _FEWEST_OF_A_SUFFIX and end:
            nodes.append(Pattern(schema.DIGITS, f"{end[::-1]}*", scored=False))
        return best_of(*nodes)


def fields_of(field: str | None) -> tuple[str, ...]:
    """Return the text fields that are searched for a part with or without the name of one."""
    return (field,) if field else TEXT_FIELDS


def scaled(node: Node, weight: float) -> Node:
    """Return a node whose score is multiplied by one of the weights; 0 switches it off."""
    return weighted(node, weight) if weight else Nothing()


def as_typed(word: str) -> str:
    """Return a word as the analyzer takes it: it knows an option only behind a blank."""
    return _OPTION.sub("opt_", word)


def on_named_field(field: str, text: str) -> Node | None:
    """Return the node for a text in a field that is neither content nor title."""
    if schema.is_number_field(field):
        return Range(text, text, field=field)
    if schema.is_keyword_field(field):
        return Terms(field, (schema.keyword(text),))
    texts = [token.text for token in tokens(text)]
    return any_of(*(Terms(field, (one,)) for one in texts)) if texts else None


def _positions(words: Sequence[str]) -> Sequence[tuple[str, ...]]:
    """Return the terms of a phrase, at each position with and without the e for an umlaut."""
    found: list[tuple[str, ...]] = []
    for word in words:
        parts = [token.text for token in tokens(as_typed(word))]
        spelled = [token.text for token in tokens(as_typed(word.translate(SPELLED_OUT)))]
        others = spelled if len(spelled) == len(parts) else parts
        found += (
            tuple(dict.fromkeys((part, other, DIGRAPH.sub(r"\1", part))))
            for part, other in zip(parts, others, strict=True)
        )
    return found


def _pattern(field: str, pattern: str, weights: Weights) -> Node:
    if schema.is_keyword_field(field):
        return Pattern(field, pattern, scored=False)
    found = _PIECE.findall(pattern)
    pieces = [(wildcards, letters and _plain(letters)) for wildcards, letters in found]
    whole = "".join(wildcards or escaped(letters) for wildcards, letters in pieces)
    match pieces:
        case [("", letters), ("*", "")]:
            return _beginning(field, letters, weights)
        case [("*", ""), ("", letters), ("*", "")] if field == schema.CONTENT:
            return any_of(
                _beginning(field, letters, weights),
                _ending(letters, weights),
                scaled(Pattern(field, whole, scored=False), weights.pattern),
            )
    return _with_the_rest(Pattern(field, whole, scored=True), weights)


def _beginning(field: str, letters: str, weights: Weights) -> Node:
    pattern = Pattern(field, f"{escaped(letters)}*", scored=len(letters) >= _SCORED_PREFIX)
    return _with_the_rest(pattern, weights) if pattern.scored else pattern


def _ending(letters: str, weights: Weights) -> Node:
    return _beginning(schema.REVERSED, letters[::-1], weights)


def _with_the_rest(pattern: Pattern, weights: Weights) -> Node:
    """Score the most significant terms, and match all others, whatever their number."""
    rest = Pattern(pattern.field, pattern.pattern, scored=False)
    return any_of(pattern, scaled(rest, weights.pattern))


def _plain(letters: str) -> str:
    """Return letters of a pattern as in a term, in which a word of several parts is joined."""
    return _NO_LETTERS.sub("", folded(unescaped(letters)))
