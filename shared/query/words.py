"""Words of a query on the fields of an index, in the forms that the fields have.

A word is searched by its stems in the languages of the index, and as it was typed. A word of
several parts, such as ``node.js`` or ``10kg``, is searched by its parts; the parts next to each
other or joined score more, so that the whole comes first. docs/searching.md has the rules, and
`shared.model.weights` the weights.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Final, NamedTuple

from shared.analysis.analyzers import Token, folded, irregular_stems, lemmas, tokens, tokens_of
from shared.analysis.function_words import PUNCTUATION, function_words_in, is_capital_name
from shared.analysis.languages import (
    SPELLED_OUT,
    UNDETERMINED,
    WITH_COMPOUNDS,
    WITH_DICTIONARY,
)
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
    Word,
    all_of,
    any_of,
    best_of,
    weighted,
)

_OPTION: Final = re.compile(r"^--?(?=[^\W\d_])")
"""Beginning of an option of a command line, which the analyzer recognizes after a blank only."""

OPTION: Final = "opt"
"""Beginning of the term of an option in the content, as in ``optxzf`` for ``-xzf``."""

_DIGRAPH: Final = re.compile("(?<![aeiouq])([aou])e(?=[^aeiou])", re.IGNORECASE)
"""Digraph with an e in place of an umlaut.

After a vowel or a q, and at the end of a word, it is not a digraph: Bauer, queue, blue.
"""

_LONG_NAME: Final = 6
"""Minimum number of letters of a name that hardly becomes another word when it loses one of
them."""

_LONGEST_ABBREVIATION: Final = 5
"""Maximum number of letters of a name in capitals; longer words are in capitals by emphasis."""

_MOST_PARTS: Final = 12
"""Maximum number of parts of a word that are searched apart; more are searched as a phrase."""

_MOST_FORMS: Final = 20
"""Maximum number of terms of texts without a language that are examined for a stem."""

_MOST_ENDINGS: Final = 3
"""Maximum number of terms that are taken as a word with different endings."""

_LONGEST_ENDING: Final = 5
"""Maximum number of letters by which a word in a text without a language may exceed its stem."""

_SCORED_PREFIX: Final = 4
"""Minimum number of letters of a prefix that is specific enough to score its terms one by one."""

_MOST_NEIGHBOURS: Final = 8
"""Maximum number of pairs of words that are searched as one word."""

_FEWEST_OF_A_HALF: Final = 2
"""Minimum number of letters of a word that is joined with its neighbour."""

NEAR: Final = 3
"""Slop of near words: the number of moves that separate them from being adjacent."""

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

_TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE)
_OF_WORDS: Final = (None, *_TEXT_FIELDS)

_PIECE: Final = re.compile(r"(?P<wildcards>[*?]+)|(?P<letters>(?:\\.|[^*?\\])+)", re.DOTALL)
_SUFFIX: Final = re.compile(r"\*((?:\\.|[^*?\\])+)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WILDCARD: Final = re.compile(r"[\\*?]")
_NO_LETTERS: Final = re.compile(f"(?:[^{WORD}]|_)+")


class Form(NamedTuple):
    """A part of a word of a query, in the forms that some chunk of the index has.

    Attributes:
        term: the part as it was typed, as a term of the content.
        stems: its terms in the field of stems that some chunk has.
        others: those of its irregular forms, and of languages that do not know the word.
        is_of_syllables: whether it is of Chinese, Japanese or Korean.
        is_capital: whether it is a function word in capitals, such as IT, and so a name.
    """

    term: str
    stems: tuple[str, ...]
    others: tuple[str, ...]
    is_of_syllables: bool
    is_capital: bool = False


class Piece(NamedTuple):
    """A part of a query that a hit should have.

    Attributes:
        found: the part on fields; `Nothing` if no chunk has it.
        is_word: whether it is a word that is searched as it was typed.
    """

    found: Node
    is_word: bool = False


@dataclass(frozen=True)
class WordsOnFields:
    """Step that puts leaves without a field on the fields of an index.

    Attributes:
        terms: the terms of the index.
        languages: the languages in which words are searched.
        weights: the weight of each kind of match.
        requires_all: true if all words of the query are required.
    """

    terms: IndexTerms
    languages: Sequence[str]
    weights: Weights
    requires_all: bool = False

    def prepare(self, words: Sequence[str]) -> None:
        """Analyze the words of a query at once, which takes less time than one by one."""
        typed = list(map(as_typed, words))
        for language in (None, *self.languages):
            tokens_of(typed, language)

    def node(self, leaf: Leaf, occur: Occur = "should") -> Node | None:
        """Return the node for a leaf; `Nothing` if no chunk has it, None if it has no letters."""
        match leaf:
            case Word():
                found = self.word(leaf, occur)
                return found and found[0]
            case Phrase():
                return self._phrase(leaf, occur)
            case Wildcard():
                return self._wildcard(leaf)
            case Fuzzy() | Expression() | Range() if leaf.field in _OF_WORDS:
                return self._on_text_fields(leaf)
        return leaf

    def word(self, word: Word, occur: Occur = "should") -> tuple[Node, list[Piece]] | None:
        """Return the node for a word, and its parts; None for a word without letters."""
        if word.field is not None and word.field not in _TEXT_FIELDS:
            node = _on_named_field(word.field, word.text)
            return None if node is None else (node, [Piece(node)])
        forms = self.forms(word.text)
        if not forms:
            return None
        if self._lacks_pairs(forms):
            forms = [form for character in word.text for form in self.forms(character)]
            occur = "must" if occur == "should" else occur
        fields = (word.field,) if word.field else _TEXT_FIELDS
        numbers: Node = Nothing()
        if schema.CONTENT in fields:
            numbers = self._numbers(word.text, forms[0].term if len(forms) == 1 else "")
        if len(forms) == 1:
            node = any_of(self._form(forms[0], fields), numbers)
            is_word = isinstance(numbers, Nothing)
            return node, [Piece(any_of(self._any_form(forms[0], fields), numbers), is_word)]
        is_of_syllables = any(form.is_of_syllables for form in forms)
        if (len(forms) > _MOST_PARTS and not is_of_syllables) or occur == "must_not":
            whole = any_of(self._row([form.term for form in forms], fields), numbers)
            if not is_of_syllables:
                whole = any_of(whole, self._joined(forms, fields))
            return whole, [Piece(whole)]
        requires_all = occur == "must" or (self.requires_all and occur == "should")
        return self._of_parts(forms, fields, numbers, requires_all=requires_all)

    @staticmethod
    def _lacks_pairs(forms: Sequence[Form]) -> bool:
        """Check whether no chunk has any pair of the characters of a word in Chinese or Japanese.

        The characters may be apart, as those of 申込 in 申し込み.
        """
        return all(
            form.is_of_syllables and len(form.term) > 1 and not (form.stems or form.others)
            for form in forms
        )

    def _of_parts(
        self, forms: Sequence[Form], fields: Sequence[str], numbers: Node, *, requires_all: bool
    ) -> tuple[Node, list[Piece]]:
        """Return the node for a word of several parts, and the parts."""
        nodes = [self._form(form, fields) for form in forms]
        found = [self._any_form(form, fields) for form in forms]
        if any(form.is_of_syllables for form in forms):
            # What no chunk has is seldom a word: a pair of characters between two.
            there = [node for node in found if not isinstance(node, Nothing)]
            pieces = [Piece(node) for node in there or found[:1]]
            if not all(map(_is_of_hiragana, forms)):
                lesser = self.weights.short_part
                nodes = [
                    _weighted(node, lesser if _is_of_hiragana(form) else 1.0)
                    for form, node in zip(forms, nodes, strict=True)
                ]
            return (_all_there(nodes) if requires_all else any_of(*nodes)), pieces
        weights = self.weights
        each = [weights.part * (weights.short_part if _is_short(form) else 1.0) for form in forms]
        joined = self._joined(forms, fields)
        whole = [
            _weighted(self._row([form.term for form in forms], fields), weights.row),
            _weighted(joined, weights.row),
            self._instead(joined, [form.term for form in forms]),
            numbers,
        ]
        apart = list(map(_weighted, nodes, each))
        if requires_all:
            return any_of(_all_there(apart), *whole), [Piece(any_of(_all_there(found), *whole))]
        if numbers != Nothing() or any(form.term.isdigit() for form in forms):
            # Without its number, DEC-0054 is another one.
            return any_of(*apart, *whole), [Piece(any_of(_all_there(found), *whole))]
        return any_of(*apart, *whole), [Piece(any_of(node, joined)) for node in found]

    def forms(self, text: str) -> Sequence[Form]:
        """Return the parts of a word, in the forms that some chunk has; none without letters."""
        key = (text, tuple(self.languages))
        known = self.terms.words.get(key)
        if known is None:
            known = tuple(self._forms(as_typed(text)))
            self.terms.remember(key, known)
        return known

    def _forms(self, text: str) -> Iterator[Form]:
        parts = tokens(text)
        spelled = [text, *self._other_spellings(text, parts)]
        of_languages = {
            language: [
                analyzed
                for word in spelled
                if len(analyzed := tokens(word, language)) == len(parts)
            ]
            for language in self.languages
        }
        is_name = len(parts) == 1 and _is_name(text)
        letters = text.strip(PUNCTUATION)
        is_capital = is_capital_name(letters) and bool(function_words_in(letters.lower()))
        for number, part in enumerate(parts):
            if is_name and self._has(schema.CONTENT, part.text):
                yield Form(part.text, (), (), is_of_syllables=False)
                continue
            stems = [
                stem
                for of in of_languages.values()
                for each in of
                for stem in (each[number].text, *each[number].others)
            ]
            foreign = self._foreign(part.text)
            if not part.is_of_syllables:
                # Perhaps typed without the accents that the stemmer needs.
                stems += [f"{language}:{part.text}" for language in self.languages]
                if UNDETERMINED in self.languages:
                    known = [code for code in self.languages if code != UNDETERMINED]
                    codes = dict.fromkeys((*(known or WITH_DICTIONARY), "en"))
                    of_part = (tokens(part.text, code) for code in codes)
                    stems += self._without_language([of[0].text for of in of_part if len(of) == 1])
            own = [stem for stem in dict.fromkeys(stems) if not stem.startswith(foreign)]
            others = [stem for stem in dict.fromkeys(stems) if stem.startswith(foreign)]
            if not is_name:
                irregular = self._irregular(stems)
                others += irregular
                if UNDETERMINED in self.languages and irregular:
                    others += self._without_language(irregular)
            yield Form(
                part.text,
                self._there(schema.STEMS, own),
                self._there(schema.STEMS, others),
                part.is_of_syllables,
                is_capital,
            )

    def _foreign(self, part: str) -> tuple[str, ...]:
        """Return the beginnings of stems in languages that do not know a word, if others do."""
        asked = [code for code in self.languages if code in WITH_DICTIONARY]
        unknown = tuple(f"{code}:" for code in asked if not lemmas(code, part))
        return unknown if len(unknown) < len(asked) else ()

    def _other_spellings(self, text: str, parts: Sequence[Token]) -> Iterator[str]:
        """Yield spellings with and without the e for an umlaut: Müller, Mueller and Muller.

        A word without its e may be another one, as "poet" and "pot", unless the word is in no
        dictionary.
        """
        if (spelled_out := text.translate(SPELLED_OUT)) != text:
            yield spelled_out
        if len(parts) == 1 and (without := _DIGRAPH.sub(r"\1", text)) != text:
            is_name = text[:1].isupper() and len(text) >= _LONG_NAME
            known = (code for code in self.languages if code in WITH_DICTIONARY)
            if ("de" in self.languages or is_name) and not any(
                lemmas(code, parts[0].text) for code in known
            ):
                yield without

    def _without_language(self, stems: Iterable[str]) -> Iterator[str]:
        """Yield the terms of texts without a language that have one of some stems."""
        codes = defaultdict(set)
        for stem in stems:
            code, _, beginning = stem.partition(":")
            codes[beginning].add(code)
        for beginning in sorted(codes):
            longest = len(UNDETERMINED) + 1 + len(beginning) + _LONGEST_ENDING
            begun = self.terms.beginning_with(schema.STEMS, f"{UNDETERMINED}:{beginning}")
            for term, _ in islice(begun, _MOST_FORMS):
                letters = term.partition(":")[2]
                # The stemmer may need accents that the term lacks.
                if letters == beginning or (
                    len(term) <= longest
                    and any(
                        len(of := tokens(letters, code)) == 1
                        and of[0].text == f"{code}:{beginning}"
                        for code in codes[beginning]
                    )
                ):
                    yield term

    def _irregular(self, stems: Sequence[str]) -> list[str]:
        """Return the stems of irregular forms of a word, and of the word of which it is one."""
        found: dict[str, None] = {}
        for stem in stems:
            code, _, letters = stem.partition(":")
            for other in _other_stems("en" if code == UNDETERMINED else code, letters):
                found[f"{code}:{other}"] = None
        return [stem for stem in found if stem not in stems]

    def _form(self, form: Form, fields: Sequence[str]) -> Node:
        """Return the node for a part of a word on some of the text fields."""
        weights = self.weights
        found: list[Node] = []
        if form.stems or form.others:
            for field, weight in self._stem_fields(fields):
                of_forms = (
                    _weighted(Terms(field, there), by * weight)
                    for texts, by in ((form.stems, 1.0), (form.others, weights.irregular))
                    if (there := self._there(field, texts))
                )
                found += of_forms
            typed = weights.exact
        else:
            typed = weights.content
        # In small letters, IT and WHO are words of another kind, which have no stems.
        is_other = form.is_capital and bool(form.stems)
        if schema.CONTENT in fields and not form.is_of_syllables and not is_other:
            found.append(_weighted(self._known(schema.CONTENT, form.term), typed))
        if schema.TITLE in fields and (fields == (schema.TITLE,) or not form.stems):
            found.append(_weighted(self._known(schema.TITLE, form.term), weights.title))
        if fields == _TEXT_FIELDS and not form.is_of_syllables:
            found.append(_weighted(self._known(schema.METADATA, form.term), weights.metadata))
            found.append(_weighted(self._known(schema.PATH, form.term), weights.path))
        return any_of(*found)

    def _any_form(self, form: Form, fields: Sequence[str]) -> Node:
        """Return a node that matches what `_form` does, without its scores."""
        stems = (*form.stems, *form.others)
        if not stems or fields != _TEXT_FIELDS:
            return self._form(form, fields)
        besides = (schema.METADATA, schema.PATH)
        return any_of(
            Terms(schema.STEMS, stems), *(self._known(field, form.term) for field in besides)
        )

    def _stem_fields(self, fields: Sequence[str]) -> Iterator[tuple[str, float]]:
        if schema.CONTENT in fields:
            yield schema.STEMS, self.weights.stems
        if schema.TITLE in fields:
            yield schema.TITLE_STEMS, self.weights.title_stems

    def _known(self, field: str, term: str) -> Node:
        return Terms(field, (term,)) if self._has(field, term) else Nothing()

    def _has(self, field: str, term: str) -> bool:
        return self.terms.frequency(field, term) > 0

    def _there(self, field: str, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if self.terms.frequency(field, text))

    def _row(self, terms: Sequence[str], fields: Sequence[str], slop: int = 0) -> Node:
        """Return the terms next to each other."""
        of_fields = {schema.CONTENT: self.weights.content, schema.TITLE: self.weights.title}
        return any_of(
            *(
                _weighted(self._phrase_of(field, [(term,) for term in terms], slop), weight)
                for field, weight in of_fields.items()
                if field in fields
            )
        )

    def _phrase_of(self, field: str, positions: Sequence[tuple[str, ...]], slop: int) -> Node:
        there = [self._there(field, texts) for texts in positions]
        if not all(there):
            return Nothing()
        return Terms(field, there[0]) if len(there) == 1 else TermPhrase(field, tuple(there), slop)

    def _joined(self, forms: Sequence[Form], fields: Sequence[str]) -> Node:
        """Return the parts of a word as one, as in email for e-mail."""
        whole = "".join(form.term for form in forms)
        if schema.CONTENT not in fields or len(whole) > schema.MAX_WORD:
            return Nothing()
        stems = [
            token.text
            for code in self.languages
            for analyzed in (tokens(whole, code),)
            if len(analyzed) == 1
            for token in analyzed
        ]
        if there := self._there(schema.STEMS, dict.fromkeys(stems)):
            return Terms(schema.STEMS, there)
        return self._known(schema.CONTENT, whole)

    def numbers(self, text: str) -> Node:
        """Return the numbers of several words, such as a telephone number with blanks."""
        runs = (run[0] for run in _DIGITS.finditer(text))
        return self._runs(run for run in runs if " " in run)

    def _numbers(self, word: str, term: str) -> Node:
        if len(term) == _FEWEST_OF_A_NUMBER and term.isdigit():
            # Mostly a year, which is another number than 2 000.
            there = self._there(schema.DIGITS, (term[::-1],))
            return Values(schema.DIGITS, there) if there else Nothing()
        runs = [run[0] for run in _DIGITS.finditer(word)]
        # The term of a number is without the signs between its thousands.
        is_number = len(term) > _FEWEST_OF_A_NUMBER and term.isdigit()
        return self._runs(runs or ([term] if is_number else []))

    def _runs(self, runs: Iterable[str]) -> Node:
        return any_of(*(_weighted(self._number(run), self.weights.digits) for run in runs))

    def _number(self, run: str) -> Node:
        digits = "".join(filter(str.isdigit, run))
        alike = [digits]
        if run.startswith("+") or digits.startswith("00"):
            begin = 0 if run.startswith("+") else 2
            alike += [digits[begin:]]
            for code in _COUNTRY_CODES:
                alike += [digits[begin + code :], f"0{digits[begin + code :]}"]
        backwards = [number[::-1] for number in dict.fromkeys(alike) if number]
        there = self._there(schema.DIGITS, backwards)
        nodes: list[Node] = [Values(schema.DIGITS, there)] if there else []
        if self._has(schema.CONTENT, digits):
            nodes.append(Values(schema.CONTENT, (digits,)))
        end = digits.removeprefix("0")
        if len(alike) == 1 and len(digits) >= _FEWEST_OF_A_SUFFIX and end:
            nodes.append(Pattern(schema.DIGITS, f"{end[::-1]}*", scored=False))
        return best_of(*nodes)

    def neighbours(self, words: Sequence[str]) -> Node:
        """Return words next to each other as one, such as "database" for "data base".

        In languages with compounds the second may also be the first part: Antrag Wohngeld.
        """
        found: list[Node] = []
        has_compounds = not WITH_COMPOUNDS.isdisjoint(self.languages)
        words = words[: _MOST_NEIGHBOURS + 1]
        parts = ["".join(token.text for token in tokens(as_typed(word))) for word in words]
        for (first, one), (second, other) in pairwise(zip(words, parts, strict=True)):
            if not (_is_part(one) and _is_part(other)):
                continue
            of_second = function_words_in(second.strip(PUNCTUATION))
            # English writes "log in" and "login".
            if function_words_in(first.strip(PUNCTUATION)) or (of_second and "en" not in of_second):
                continue
            wholes = {f"{one}{other}"}
            if has_compounds and not of_second:
                # Arbeitszeit, Mieterhöhung.
                wholes |= {f"{one}s{other}", f"{one.removesuffix('e')}{other}", f"{other}{one}"}
            for whole in sorted(wholes):
                longest = len(whole) + _LONGEST_ENDING
                begun = self.terms.beginning_with(schema.CONTENT, whole)
                terms = (term for term, _ in islice(begun, _MOST_ENDINGS) if len(term) <= longest)
                found += [
                    self._instead(Terms(schema.CONTENT, (term,)), (one, other)) for term in terms
                ]
        return any_of(*found)

    def _instead(self, whole: Node, parts: Sequence[str]) -> Node:
        """Return the node for parts as one word, in chunks that do not have all of the parts."""
        if isinstance(whole, Nothing):
            return whole
        apart = [self._known(schema.CONTENT, part) for part in parts]
        if not any(isinstance(part, Nothing) for part in apart):
            whole = Clauses((Clause(whole, "must"), Clause(all_of(*apart), "must_not")))
        return _weighted(whole, self.weights.joined * len(parts))

    def apart(self, term: str) -> Node:
        """Return a word as two words next to each other, such as "power point" for "powerpoint"."""
        if not _is_part(term):
            return Nothing()
        halves = (
            (term[:end], term[end:])
            for end in range(_FEWEST_OF_A_HALF, len(term) - _FEWEST_OF_A_HALF + 1)
        )
        there = [pair for pair in halves if all(self._has(schema.CONTENT, half) for half in pair)]
        return any_of(
            *(TermPhrase(schema.CONTENT, ((before,), (after,)), 0) for before, after in there)
        )

    def row_of(self, words: Sequence[str]) -> Node:
        """Return words as a phrase of the content; `Nothing` if no chunk may have it."""
        terms = [token.text for word in words for token in tokens(as_typed(word))]
        if len(terms) < 2:  # noqa: PLR2004 - a phrase has two words
            return Nothing()
        return self._phrase_of(schema.CONTENT, [(term,) for term in terms], 0)

    def _phrase(self, phrase: Phrase, occur: Occur) -> Node | None:
        if phrase.field is not None and phrase.field not in _TEXT_FIELDS:
            return _on_named_field(phrase.field, " ".join(phrase.words))
        fields = (phrase.field,) if phrase.field else _TEXT_FIELDS
        positions = _positions(phrase.words)
        if not positions:
            return None
        exact = self._row_of_positions(positions, fields, phrase.slop)
        if phrase.slop or occur == "must_not" or len(positions) == 1:
            return exact
        near = self._row_of_positions(positions, fields, NEAR)
        weights = self.weights
        if isinstance(near, Nothing):
            return near
        return Clauses(
            (
                Clause(_weighted(near, weights.near_phrase)),
                Clause(_weighted(exact, weights.exact_phrase), "rank"),
            )
        )

    def _row_of_positions(
        self, positions: Sequence[tuple[str, ...]], fields: Sequence[str], slop: int
    ) -> Node:
        of_fields = {schema.CONTENT: self.weights.content, schema.TITLE: self.weights.title}
        return any_of(
            *(
                _weighted(self._phrase_of(field, positions, slop), weight)
                for field, weight in of_fields.items()
                if field in fields
            )
        )

    def _wildcard(self, leaf: Wildcard) -> Node:
        """Return the node for a word with ``*`` and ``?`` in it.

        A pattern that begins with ``*`` is searched in reversed terms, since terms are sorted by
        their beginnings. One with ``*`` on both sides matches as a prefix, as a suffix, and within
        words.
        """
        if leaf.field is None and not leaf.pattern.strip("*"):
            return Everything()
        if leaf.field is not None and leaf.field not in _TEXT_FIELDS:
            return _pattern(leaf.field, leaf.pattern, self.weights)
        weights = self.weights
        suffix = _SUFFIX.fullmatch(leaf.pattern)
        of_fields = {schema.CONTENT: weights.content, schema.TITLE: weights.title}
        if suffix and leaf.field is None:
            return _weighted(_ending(_plain(suffix[1]), weights), weights.content)
        return any_of(
            *(
                _weighted(_pattern(field, leaf.pattern, weights), weight)
                for field, weight in of_fields.items()
                if leaf.field in (None, field)
            )
        )

    def _on_text_fields(self, leaf: Fuzzy | Expression | Range) -> Node | None:
        match leaf:
            case Fuzzy(text):
                leaf = replace(leaf, text=_NO_LETTERS.sub("", folded(text)))
                if not leaf.text:
                    return None
            case Range(low, high):
                leaf = replace(leaf, low=low and folded(low), high=high and folded(high))
        of_fields = {schema.CONTENT: self.weights.content, schema.TITLE: self.weights.title}
        return any_of(
            *(
                _weighted(replace(leaf, field=field), weight)
                for field, weight in of_fields.items()
                if leaf.field in (None, field)
            )
        )


def _weighted(node: Node, weight: float) -> Node:
    """Return a node whose score is multiplied by one of the weights; 0 switches it off."""
    return weighted(node, weight) if weight else Nothing()


def as_typed(word: str) -> str:
    """Return a word as the analyzer takes it: it knows an option only behind a blank."""
    return _OPTION.sub(f"{OPTION}_", word)


def _all_there(nodes: Sequence[Node]) -> Node:
    """Return a node for all of some parts; `Nothing` if no chunk has one of them."""
    return Nothing() if any(isinstance(node, Nothing) for node in nodes) else all_of(*nodes)


def _is_short(form: Form) -> bool:
    """Check whether a part of a word tells little: a letter, or a number."""
    return len(form.term) == 1 or form.term.isdigit()


def _is_part(term: str) -> bool:
    """Check whether a word may be a part of a longer one."""
    return len(term) >= _FEWEST_OF_A_HALF and term.isalpha() and "a" <= term <= "\u1fff"


def _is_of_hiragana(form: Form) -> bool:
    """Check whether a part is of the syllables in which Japanese writes endings and particles."""
    return all("\u3040" <= character <= "\u309f" for character in form.term)


def _is_name(text: str) -> bool:
    """Check whether a word is in capitals, as USA and API are, and not only by emphasis."""
    letters = text.strip(PUNCTUATION)
    return (
        is_capital_name(letters)
        and len(letters) <= _LONGEST_ABBREVIATION
        and letters.isalpha()
        and letters.isascii()
        and not function_words_in(letters.lower())
    )


_FEWEST_OF_A_STEM: Final = 2
"""Minimum number of letters of a stem that may have others."""

_FEWEST_OF_A_VERB: Final = 3
"""Minimum number of letters in the stem of a verb."""


def _other_stems(language: str, stem: str) -> Iterable[str]:
    """Return the stems that other forms of a word may have."""
    if language not in WITH_DICTIONARY:
        return ()
    if len(stem) < _FEWEST_OF_A_STEM:
        return ()
    near = irregular_stems(language, stem)
    if language != "de":
        return near
    # The stemmer leaves the endings and beginnings of verbs: ginget, geht, gefahren.
    verbs = dict.fromkeys((*near, *_of_verb(stem)))
    further = (
        other for one in verbs for other in (*irregular_stems(language, one), *_of_verb(one))
    )
    return dict.fromkeys((*verbs, *further))


def _of_verb(stem: str) -> Iterator[str]:
    """Yield the stems that a German verb may have: kauf, kauft, gekauft, gefahr."""
    if len(stem) < _FEWEST_OF_A_VERB:
        return
    yield from (f"{stem}t", f"ge{stem}t", f"ge{stem}")
    if stem.endswith("t") and len(stem) > _FEWEST_OF_A_VERB:
        yield stem[:-1]
    if stem.startswith("ge") and len(stem) > _FEWEST_OF_A_VERB + 2:
        yield from (stem[2:], stem[2:].removesuffix("t"))


def _positions(words: Sequence[str]) -> Sequence[tuple[str, ...]]:
    """Return the terms of a phrase, at each position with and without the e for an umlaut."""
    found: list[tuple[str, ...]] = []
    for word in words:
        parts = [token.text for token in tokens(as_typed(word))]
        spelled = [token.text for token in tokens(as_typed(word.translate(SPELLED_OUT)))]
        others = spelled if len(spelled) == len(parts) else parts
        found += (
            tuple(dict.fromkeys((part, other, _DIGRAPH.sub(r"\1", part))))
            for part, other in zip(parts, others, strict=True)
        )
    return found


def _on_named_field(field: str, text: str) -> Node | None:
    """Return the node for a text in a field that is neither content nor title."""
    if schema.is_number_field(field):
        return Range(text, text, field=field)
    if schema.is_keyword_field(field):
        return Terms(field, (schema.keyword(text),))
    texts = [token.text for token in tokens(text)]
    return any_of(*(Terms(field, (one,)) for one in texts)) if texts else None


def _pattern(field: str, pattern: str, weights: Weights) -> Node:
    if schema.is_keyword_field(field):
        return Pattern(field, pattern, scored=False)
    pieces = [(piece["wildcards"], piece["letters"]) for piece in _PIECE.finditer(pattern)]
    plain = [(wildcards, letters and _plain(letters)) for wildcards, letters in pieces]
    whole = "".join(wildcards or _escaped(letters) for wildcards, letters in plain)
    match plain:
        case [(None, letters), ("*", None)]:
            return _beginning(field, letters, weights)
        case [("*", None), (None, letters), ("*", None)] if field == schema.CONTENT:
            return any_of(
                _beginning(field, letters, weights),
                _ending(letters, weights),
                _weighted(Pattern(field, whole, scored=False), weights.pattern),
            )
    return _with_the_rest(Pattern(field, whole, scored=True), weights)


def _beginning(field: str, letters: str, weights: Weights) -> Node:
    pattern = Pattern(field, f"{_escaped(letters)}*", scored=len(letters) >= _SCORED_PREFIX)
    return _with_the_rest(pattern, weights) if pattern.scored else pattern


def _ending(letters: str, weights: Weights) -> Node:
    return _beginning(schema.REVERSED, letters[::-1], weights)


def _with_the_rest(pattern: Pattern, weights: Weights) -> Node:
    """Score the most significant terms, and match all others, whatever their number."""
    rest = Pattern(pattern.field, pattern.pattern, scored=False)
    return any_of(pattern, _weighted(rest, weights.pattern))


def _plain(letters: str) -> str:
    """Return letters of a pattern as in a term, in which a word of several parts is joined."""
    return _NO_LETTERS.sub("", folded(_ESCAPED.sub(r"\1", letters)))


def _escaped(letters: str) -> str:
    return _WILDCARD.sub(r"\\\g<0>", letters)
