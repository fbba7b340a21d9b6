"""Words of a query on the fields of an index, in the forms that the fields have.

A word is searched by its stems in the languages of the index, and as it was typed. A word of
several parts, such as ``node.js`` or ``10kg``, is searched by its parts; the parts next to each
other or joined score more, so that the whole comes first. docs/searching.md has the rules, and
`shared.model.weights` the weights.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from shared.analysis.analyzers import as_typed, tokens, tokens_of
from shared.analysis.languages import (
    LEAST_SHARE,
    PUNCTUATION,
    WITH_COMPOUNDS,
    function_words_in,
)
from shared.model import schema
from shared.model.weights import Weights
from shared.query.numbers import COUNTS, THOUSANDS, of_word, with_zeros
from shared.query.terms import Form, IndexTerms, forms_of
from shared.query.tree import (
    Clause,
    Clauses,
    Node,
    Nothing,
    Occur,
    Range,
    Terms,
    Word,
    all_of,
    any_of,
    scaled,
)

TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE)

_MOST_PARTS: Final = 12  # of a word that are searched apart; more are searched as a phrase
_MOST_NEIGHBOURS: Final = 8  # pairs of words that are searched as one word
_MOST_WORDS_APART: Final = 4  # of a query of which three may be one
_FEWEST_OF_A_HALF: Final = 2  # letters of a word that is joined with its neighbour
_FEWEST_INITIALS: Final = 3
_MOST_INITIALS: Final = 4
_LONGEST_CODE: Final = 16  # characters of one that may be written as two words
_FEWEST_OF_A_COMPOUND: Final = 4  # letters of a part that may stand elsewhere

_ENDINGS: Final = ("", "e", "en", "er", "es", "n", "s")
"""Endings of a word that a query writes as two."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query that a hit should have."""

    found: Node  # on fields, without terms that no chunk has; `Nothing` if none is left
    rarity: float  # the inverse document frequency of its most common form
    is_word: bool = False  # whether it is a word that is searched as it was typed
    alike: float = 1.0  # the similarity of the word that is searched to the one that was typed


@dataclass(frozen=True)
class Words:
    """Step that puts words on the fields of an index, as far as some chunk has them."""

    terms: IndexTerms
    weights: Weights
    languages: tuple[str, ...]  # in which words are searched
    requires_all: bool = False  # whether all words of the query are required

    def prepare(self, words: Sequence[str]) -> None:
        """Analyze the words of a query at once, which takes less time than one by one."""
        typed = list(map(as_typed, words))
        for language in (None, *self.languages) if typed else ():
            tokens_of(typed, language)

    def part(self, found: Node, *, is_word: bool = False, alike: float = 1.0) -> Part:
        return Part(found, self.terms.rarity(found), is_word, alike)

    def on_texts(
        self, fields: Sequence[str], make: Callable[[str], Node], factor: float = 1.0
    ) -> Node:
        """Return the node that a function makes for some of the text fields, with their weights."""
        weights = {schema.CONTENT: self.weights.content, schema.TITLE: self.weights.title}
        return any_of(*(scaled(make(field), factor * weights[field]) for field in fields))

    def row(
        self,
        positions: Sequence[tuple[str, ...]],
        fields: Sequence[str],
        slop: int = 0,
        factor: float = 1.0,
    ) -> Node:
        """Return terms next to each other; several at one position are alternatives."""
        return self.on_texts(fields, lambda field: self.terms.row(field, positions, slop), factor)

    def forms(self, text: str) -> tuple[Form, ...]:
        """Return the parts of a word, in the forms that some chunk has; none without letters."""
        return tuple(forms_of(text, self.languages, self.terms))

    def word(
        self, word: Word, forms: Sequence[Form], occur: Occur = "should"
    ) -> tuple[Node | None, list[Part]]:
        """Return the node for a word with some forms, and its parts; None without letters."""
        if word.field is not None and word.field not in TEXT_FIELDS:
            node = on_named_field(word.field, word.text)
            return node, [] if node is None else [self.part(node)]
        if not forms:
            return None, []
        if _lacks_pairs(forms):
            forms = [form for character in word.text for form in self.forms(character)]
            occur = "must" if occur == "should" else occur
        fields = fields_of(word.field)
        numbers: Node = Nothing()
        if schema.CONTENT in fields:
            term = forms[0].term if len(forms) == 1 else ""
            numbers = of_word(word.text, term, self.terms, self.weights)
        if len(forms) == 1:
            found = any_of(self._any_form(forms[0], fields), numbers)
            part = self.part(found, is_word=isinstance(numbers, Nothing))
            return any_of(self._form(forms[0], fields), numbers), [part]
        is_of_syllables = any(form.is_of_syllables for form in forms)
        is_apart = is_of_syllables or COUNTS.fullmatch(word.text.strip(PUNCTUATION))
        joined = Nothing() if is_apart else self._joined(forms, fields)
        if (len(forms) > _MOST_PARTS and not is_of_syllables) or occur == "must_not":
            whole = any_of(
                any_of(self.row([(form.term,) for form in forms], fields), numbers), joined
            )
            return whole, [self.part(whole)]
        requires_all = occur == "must" or (self.requires_all and occur == "should")
        if is_of_syllables:
            return self._of_syllables(forms, fields, requires_all=requires_all)
        if len(forms) > 2:  # noqa: PLR2004 - two halves that are no parts
            # Looked up in any case: a cluster is asked for all terms at once.
            divided = self._divided(word.text)
            numbers = any_of(numbers, divided) if isinstance(joined, Nothing) else numbers
        return self._of_parts(forms, fields, numbers, joined, requires_all=requires_all)

    def _of_syllables(
        self, forms: Sequence[Form], fields: Sequence[str], *, requires_all: bool
    ) -> tuple[Node, list[Part]]:
        nodes = [self._form(form, fields) for form in forms]
        found = [self._any_form(form, fields) for form in forms]
        # What no chunk has is seldom a word: a pair of characters between two.
        there = [node for node in found if not isinstance(node, Nothing)]
        if not all(map(_is_of_hiragana, forms)):
            nodes = [
                scaled(node, self.weights.short_part if _is_of_hiragana(form) else 1.0)
                for form, node in zip(forms, nodes, strict=True)
            ]
        node = _all_there(nodes) if requires_all else any_of(*nodes)
        return node, list(map(self.part, there or found[:1]))

    def _of_parts(
        self,
        forms: Sequence[Form],
        fields: Sequence[str],
        numbers: Node,
        joined: Node,
        *,
        requires_all: bool,
    ) -> tuple[Node, list[Part]]:
        weights = self.weights
        apart = []
        for form in forms:
            # A letter or a number tells little.
            is_short = len(form.term) == 1 or form.term.isdigit()
            factor = weights.part * (weights.short_part if is_short else 1.0)
            apart.append(scaled(self._form(form, fields), factor))
        found = [self._any_form(form, fields) for form in forms]
        whole = [
            scaled(self.row([(form.term,) for form in forms], fields), weights.row),
            scaled(joined, weights.row),
            self._instead(joined, [form.term for form in forms]),
            numbers,
        ]
        # Without its number, DEC-0054 is another one.
        has_number = numbers != Nothing() or any(form.term.isdigit() for form in forms)
        if requires_all or has_number:
            parts = [self.part(any_of(_all_there(found), *whole))]
        else:
            parts = [self.part(any_of(node, joined)) for node in found]
        return any_of(*([_all_there(apart)] if requires_all else apart), *whole), parts

    def _form(self, form: Form, fields: Sequence[str]) -> Node:
        """Return the node for a part of a word on some of the text fields."""
        weights = self.weights
        found: list[Node] = []
        typed = weights.exact if form.stems else weights.content
        of_fields = {schema.CONTENT: (schema.STEMS, weights.stems)}
        of_fields[schema.TITLE] = schema.TITLE_STEMS, weights.title_stems
        for field, weight in (of_fields[field] for field in fields):
            for texts, factor in ((form.stems, 1.0), (form.others, weights.irregular)):
                if there := self.terms.there(field, texts):
                    found.append(scaled(Terms(field, there), factor * weight))
        # In small letters, IT and WHO are words of another kind, which have no stems.
        is_other = form.is_capital and bool(form.stems)
        if schema.CONTENT in fields and not form.is_of_syllables and not is_other:
            found.append(scaled(self.terms.known(schema.CONTENT, form.term), typed))
        if schema.CONTENT in fields:
            found.append(scaled(with_zeros(form.term, self.terms), weights.irregular))
        if schema.TITLE in fields:
            # Looked up in any case: a cluster is asked for all terms at once.
            in_title = scaled(self.terms.known(schema.TITLE, form.term), weights.title)
            if fields == (schema.TITLE,) or not form.stems:
                found.append(in_title)
        if fields == TEXT_FIELDS and not form.is_of_syllables:
            found.append(scaled(self.terms.known(schema.METADATA, form.term), weights.metadata))
            found.append(scaled(self.terms.known(schema.PATH, form.term), weights.path))
        return any_of(*found)

    def _any_form(self, form: Form, fields: Sequence[str]) -> Node:
        """Return a node that matches what `_form` does, without its scores."""
        if not form.stems or fields != TEXT_FIELDS:
            return self._form(form, fields)
        stems = (*form.stems, *form.others)
        besides = (self.terms.known(field, form.term) for field in (schema.METADATA, schema.PATH))
        return any_of(Terms(schema.STEMS, stems), with_zeros(form.term, self.terms), *besides)

    def _joined(self, forms: Sequence[Form], fields: Sequence[str]) -> Node:
        """Return the parts of a word as one, as in email for e-mail."""
        whole = "".join(form.term for form in forms)
        if schema.CONTENT not in fields or len(whole) > schema.MAX_WORD:
            return Nothing()
        return self._one_word(whole)

    def _one_word(self, text: str) -> Node:
        """Return the stems of a word, or else the word itself."""
        analyzed = (tokens(text, code) for code in self.languages)
        stems = dict.fromkeys(of[0].text for of in analyzed if len(of) == 1)
        if there := self.terms.there(schema.STEMS, stems):
            return Terms(schema.STEMS, there)
        return self.terms.known(schema.CONTENT, text)

    def neighbours(self, words: Sequence[str]) -> Node:
        """Return words next to each other as one, such as "database" for "data base".

        In languages with compounds the second may also be the first part, function words stand
        between them (Antrag Wohngeld, Frist zur Kündigung), and a compound have three parts.
        """
        found: list[Node] = []
        words = words[: _MOST_NEIGHBOURS + 1]
        rows: dict[Sequence[str], None] = dict.fromkeys(pairwise(words))
        if not WITH_COMPOUNDS.isdisjoint(self.languages):
            telling = [word for word in words if not self._is_function_word_in(word)]
            rows |= dict.fromkeys(pairwise(telling))
            if len(telling) <= _MOST_WORDS_APART:
                rows |= dict.fromkeys(zip(telling, telling[1:], telling[2:], strict=False))
        for row in rows:
            key = row, self.languages
            known = self.terms.words.get(key)
            if known is None:
                known = self._as_one(row)
                self.terms.remember(key, known)
            found += known
        return any_of(*found)

    def _as_one(self, words: Sequence[str]) -> list[Node]:
        of_last = self._is_function_word_in(words[-1])
        # English writes "log in" and "login".
        if self._is_function_word_in(words[0]) or (of_last and "en" not in of_last):
            return []
        parts = ["".join([token.text for token in tokens(word)]) for word in words]
        is_number = THOUSANDS.fullmatch(" ".join(parts))
        if not (is_number or all(map(_is_part, parts))):
            return []
        if is_number or of_last or WITH_COMPOUNDS.isdisjoint(self.languages):
            wholes = self._begun({"".join(parts)})
        else:
            wholes = self._compounds(parts)
            if len(parts) == 2:  # noqa: PLR2004 - a pair
                wholes |= self._compounds(parts[::-1])
        endings = ("",) if is_number else _ENDINGS
        terms = (f"{whole}{ending}" for whole in sorted(wholes) for ending in endings)
        there = self.terms.there(schema.CONTENT, terms)
        return [self._instead(Terms(schema.CONTENT, (term,)), parts) for term in there]

    def _is_function_word_in(self, word: str) -> Collection[str]:
        """Return the languages in which a word is a function word, of those that matter here."""
        found, shares = function_words_in(word.strip(PUNCTUATION)), self.terms.languages
        return [code for code in found if code == "en" or shares.get(code, 0.0) >= LEAST_SHARE]

    def _compounds(self, parts: Sequence[str]) -> set[str]:
        """Return the compounds of some words: Wohngeldantrag, Arbeitszeit, Mieterhöhung."""
        begun = {parts[0]}
        for part in parts[1:]:
            linked = {form for one in begun for form in (one, f"{one}s", one.removesuffix("e"))}
            begun = self._begun({f"{one}{part}" for one in linked})
        return begun

    def _begun(self, words: Iterable[str]) -> set[str]:
        return {word for word in words if self.terms.may_begin(schema.CONTENT, word)}

    def _instead(self, whole: Node, parts: Sequence[str]) -> Node:
        """Return the node for parts as one word, in chunks that do not have all of the parts."""
        if isinstance(whole, Nothing):
            return whole
        apart = [self.terms.known(schema.CONTENT, part) for part in parts]
        if not any(isinstance(part, Nothing) for part in apart):
            whole = Clauses((Clause(whole, "must"), Clause(all_of(*apart), "must_not")))
        return scaled(whole, self.weights.joined * len(parts))

    def apart(self, term: str) -> Node:
        """Return a word as two words next to each other, such as "power point" for "powerpoint"."""
        # Of a code such as SW1A1AA each half has several parts itself.
        slop = 0 if term.isalpha() else 1
        return any_of(
            *(
                self.terms.row(schema.CONTENT, ((before,), (after,)), slop)
                for before, after in _halves(term, _FEWEST_OF_A_HALF)
            )
        )

    def _divided(self, code: str) -> Node:
        """Return a code as two words next to each other: SW1A 1AA for SW1A1AA."""
        is_code = code.isalnum() and not code.isalpha() and len(code) <= _LONGEST_CODE
        return scaled(self.apart(code.lower()), self.weights.part) if is_code else Nothing()

    def initials(self, word: str) -> Node:
        """Return capitals as single letters, such as "J. R. R." for "JRR"."""
        is_short = _FEWEST_INITIALS <= len(word) <= _MOST_INITIALS
        if not (is_short and word.isalpha() and word.isupper()):
            return Nothing()
        return self.terms.row(schema.CONTENT, [(letter,) for letter in word.lower()])

    def parts_of_compound(self, term: str) -> Node:
        """Return a compound as two words of a chunk: "Antrag auf Urlaub" for "Urlaubsantrag"."""
        if not self.weights.compound or WITH_COMPOUNDS.isdisjoint(self.languages):
            return Nothing()
        halves = _halves(term, _FEWEST_OF_A_COMPOUND)
        self.prepare([half for pair in halves for half in pair])
        # The letters that link the parts are endings for a stemmer.
        both = (_all_there(list(map(self._half, pair))) for pair in halves)
        return scaled(any_of(*both), self.weights.compound)

    def _half(self, text: str) -> Node:
        return Nothing() if function_words_in(text) else self._one_word(text)


def fields_of(field: str | None) -> tuple[str, ...]:
    return (field,) if field else TEXT_FIELDS


def on_named_field(field: str, text: str) -> Node | None:
    """Return the node for a text in a field that is neither content nor title."""
    if schema.is_number_field(field):
        return Range(text, text, field=field)
    if schema.is_keyword_field(field):
        return Terms(field, (schema.keyword(text),))
    texts = [token.text for token in tokens(text)]
    return any_of(*(Terms(field, (one,)) for one in texts)) if texts else None


def _halves(term: str, fewest: int) -> list[tuple[str, str]]:
    """Return all ways to divide a word into two with at least some letters."""
    is_code = term.isalnum() and term.isascii() and not term.isdigit()
    ends = range(fewest, len(term) - fewest + 1) if _is_part(term) or is_code else ()
    return [(term[:end], term[end:]) for end in ends]


def _all_there(nodes: Sequence[Node]) -> Node:
    """Return a node for all of some parts; `Nothing` if no chunk has one of them."""
    return Nothing() if any(isinstance(node, Nothing) for node in nodes) else all_of(*nodes)


def _lacks_pairs(forms: Sequence[Form]) -> bool:
    """Check whether no chunk has any pair of the characters of a word in Chinese or Japanese.

    The characters may be apart, as those of 申込 in 申し込み.
    """
    return all(
        form.is_of_syllables and len(form.term) > 1 and not (form.stems or form.others)
        for form in forms
    )


def _is_part(term: str) -> bool:
    """Check whether a word may be a part of a longer one."""
    return len(term) >= _FEWEST_OF_A_HALF and term.isalpha() and "a" <= term <= "\u1fff"


def _is_of_hiragana(form: Form) -> bool:
    """Check whether a part is of the syllables in which Japanese writes endings and particles."""
    return all("\u3040" <= character <= "\u309f" for character in form.term)
