"""Words of a query on the fields of an index, in the forms that the fields have.

A word is searched by its stems in the languages of the index, and as it was typed. A word of
several parts, such as ``node.js`` or ``10kg``, is searched by its parts; the parts next to each
other or joined score more, so that the whole comes first. docs/searching.md has the rules, and
`shared.model.weights` the weights.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, NamedTuple

from shared.analysis.analyzers import Token, irregular_stems, lemmas, tokens, tokens_of
from shared.analysis.function_words import PUNCTUATION, function_words_in, is_capital_name
from shared.analysis.languages import (
    SPELLED_OUT,
    UNDETERMINED,
    WITH_COMPOUNDS,
    WITH_DICTIONARY,
)
from shared.model import schema
from shared.query.on_fields import (
    DIGRAPH,
    TEXT_FIELDS,
    OnFields,
    as_typed,
    fields_of,
    on_named_field,
    scaled,
)
from shared.query.tree import (
    Clause,
    Clauses,
    Node,
    Nothing,
    Occur,
    TermPhrase,
    Terms,
    Word,
    all_of,
    any_of,
)

_LONG_NAME: Final = 6
"""Minimum number of letters of a name that hardly becomes another word when it loses one of
them."""

_LONGEST_ABBREVIATION: Final = 5
"""Maximum number of letters of a name in capitals; longer words are in capitals by emphasis."""

_MOST_PARTS: Final = 12
"""Maximum number of parts of a word that are searched apart; more are searched as a phrase."""

_MOST_FORMS: Final = 20
"""Maximum number of terms of texts without a language that are examined for a stem."""

_ENDINGS: Final = ("", "e", "en", "er", "es", "n", "s")
"""Endings of a word that a query writes as two."""

_LONGEST_ENDING: Final = 5
"""Maximum number of letters by which a word in a text without a language may exceed its stem."""

_MOST_NEIGHBOURS: Final = 8
"""Maximum number of pairs of words that are searched as one word."""

_FEWEST_OF_A_HALF: Final = 2
"""Minimum number of letters of a word that is joined with its neighbour."""


class Form(NamedTuple):
    """A part of a word of a query, in the forms that some chunk of the index has."""

    term: str  # as it was typed, as a term of the content
    stems: tuple[str, ...]  # its terms in the field of stems
    others: tuple[str, ...]  # those of irregular forms, and of languages that do not know the word
    is_of_syllables: bool  # whether it is of Chinese, Japanese or Korean
    is_capital: bool = False  # whether it is a function word in capitals, such as IT, and a name


class Piece(NamedTuple):
    """A part of a query that a hit should have."""

    found: Node  # on fields; `Nothing` if no chunk has it
    is_word: bool = False  # whether it is a word that is searched as it was typed
    alike: float = 1.0  # the similarity of the word that is searched to the one that was typed


@dataclass(frozen=True)
class WordsOnFields(OnFields):
    """Step that puts words on the fields of an index."""

    languages: Sequence[str]  # in which words are searched
    requires_all: bool = False  # whether all words of the query are required

    def prepare(self, words: Sequence[str]) -> None:
        """Analyze the words of a query at once, which takes less time than one by one."""
        typed = list(map(as_typed, words))
        for language in (None, *self.languages):
            tokens_of(typed, language)

    def word(self, word: Word, occur: Occur = "should") -> tuple[Node, list[Piece]] | None:
        """Return the node for a word, and its parts; None for a word without letters."""
        if word.field is not None and word.field not in TEXT_FIELDS:
            node = on_named_field(word.field, word.text)
            return None if node is None else (node, [Piece(node)])
        forms = self.forms(word.text)
        if not forms:
            return None
        if _lacks_pairs(forms):
            forms = [form for character in word.text for form in self.forms(character)]
            occur = "must" if occur == "should" else occur
        fields = fields_of(word.field)
        numbers: Node = Nothing()
        if schema.CONTENT in fields:
            numbers = self.numbers_in(word.text, forms[0].term if len(forms) == 1 else "")
        if len(forms) == 1:
            node = any_of(self._form(forms[0], fields), numbers)
            is_word = isinstance(numbers, Nothing)
            return node, [Piece(any_of(self._any_form(forms[0], fields), numbers), is_word)]
        is_of_syllables = any(form.is_of_syllables for form in forms)
        if (len(forms) > _MOST_PARTS and not is_of_syllables) or occur == "must_not":
            whole = any_of(self._row_of_forms(forms, fields), numbers)
            if not is_of_syllables:
                whole = any_of(whole, self._joined(forms, fields))
            return whole, [Piece(whole)]
        requires_all = occur == "must" or (self.requires_all and occur == "should")
        if is_of_syllables:
            return self._of_syllables(forms, fields, requires_all=requires_all)
        return self._of_parts(forms, fields, numbers, requires_all=requires_all)

    def _of_syllables(
        self, forms: Sequence[Form], fields: Sequence[str], *, requires_all: bool
    ) -> tuple[Node, list[Piece]]:
        """Return the node for a text in Chinese, Japanese or Korean, and its parts."""
        nodes = [self._form(form, fields) for form in forms]
        found = [self._any_form(form, fields) for form in forms]
        # What no chunk has is seldom a word: a pair of characters between two.
        there = [node for node in found if not isinstance(node, Nothing)]
        pieces = [Piece(node) for node in there or found[:1]]
        if not all(map(_is_of_hiragana, forms)):
            lesser = self.weights.short_part
            nodes = [
                scaled(node, lesser if _is_of_hiragana(form) else 1.0)
                for form, node in zip(forms, nodes, strict=True)
            ]
        return (_all_there(nodes) if requires_all else any_of(*nodes)), pieces

    def _of_parts(
        self, forms: Sequence[Form], fields: Sequence[str], numbers: Node, *, requires_all: bool
    ) -> tuple[Node, list[Piece]]:
        """Return the node for a word of several parts, and the parts."""
        weights = self.weights
        each = [weights.part * (weights.short_part if _is_short(form) else 1.0) for form in forms]
        nodes = [self._form(form, fields) for form in forms]
        apart = list(map(scaled, nodes, each))
        found = [self._any_form(form, fields) for form in forms]
        joined = self._joined(forms, fields)
        whole = [
            scaled(self._row_of_forms(forms, fields), weights.row),
            scaled(joined, weights.row),
            self._instead(joined, [form.term for form in forms]),
            numbers,
        ]
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
        analyzed = [
            of_word
            for language in self.languages
            for word in spelled
            if len(of_word := tokens(word, language)) == len(parts)
        ]
        is_name = len(parts) == 1 and _is_name(text)
        letters = text.strip(PUNCTUATION)
        is_capital = is_capital_name(letters) and bool(function_words_in(letters.lower()))
        for number, part in enumerate(parts):
            if is_name and self.has(schema.CONTENT, part.text):
                yield Form(part.text, (), (), is_of_syllables=False)
                continue
            stems = [stem for of in analyzed for stem in (of[number].text, *of[number].others)]
            if not part.is_of_syllables:
                # Perhaps typed without the accents that the stemmer needs.
                stems += [f"{language}:{part.text}" for language in self.languages]
                if UNDETERMINED in self.languages:
                    known = [code for code in self.languages if code != UNDETERMINED]
                    codes = dict.fromkeys((*(known or WITH_DICTIONARY), "en"))
                    of_part = (tokens(part.text, code) for code in codes)
                    stems += self._without_language([of[0].text for of in of_part if len(of) == 1])
            foreign = self._foreign(part.text)
            own = [stem for stem in dict.fromkeys(stems) if not stem.startswith(foreign)]
            others = [stem for stem in dict.fromkeys(stems) if stem.startswith(foreign)]
            if not is_name:
                irregular = _irregular(stems)
                others += irregular
                if UNDETERMINED in self.languages and irregular:
                    others += self._without_language(irregular)
            yield Form(
                part.text,
                self.there(schema.STEMS, own),
                self.there(schema.STEMS, others),
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
        if len(parts) == 1 and (without := DIGRAPH.sub(r"\1", text)) != text:
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

    def _form(self, form: Form, fields: Sequence[str]) -> Node:
        """Return the node for a part of a word on some of the text fields."""
        weights = self.weights
        found: list[Node] = []
        if form.stems or form.others:
            of_fields = {schema.CONTENT: (schema.STEMS, weights.stems)}
            of_fields[schema.TITLE] = schema.TITLE_STEMS, weights.title_stems
            for field, weight in (of_fields[field] for field in fields):
                for texts, factor in ((form.stems, 1.0), (form.others, weights.irregular)):
                    if there := self.there(field, texts):
                        found.append(scaled(Terms(field, there), factor * weight))
            typed = weights.exact
        else:
            typed = weights.content
        # In small letters, IT and WHO are words of another kind, which have no stems.
        is_other = form.is_capital and bool(form.stems)
        if schema.CONTENT in fields and not form.is_of_syllables and not is_other:
            found.append(scaled(self.known(schema.CONTENT, form.term), typed))
        if schema.TITLE in fields:
            # Looked up in any case: a cluster is asked for all terms at once.
            in_title = scaled(self.known(schema.TITLE, form.term), weights.title)
            if fields == (schema.TITLE,) or not form.stems:
                found.append(in_title)
        if fields == TEXT_FIELDS and not form.is_of_syllables:
            found.append(scaled(self.known(schema.METADATA, form.term), weights.metadata))
            found.append(scaled(self.known(schema.PATH, form.term), weights.path))
        return any_of(*found)

    def _any_form(self, form: Form, fields: Sequence[str]) -> Node:
        """Return a node that matches what `_form` does, without its scores."""
        stems = (*form.stems, *form.others)
        if not stems or fields != TEXT_FIELDS:
            return self._form(form, fields)
        besides = (schema.METADATA, schema.PATH)
        return any_of(
            Terms(schema.STEMS, stems), *(self.known(field, form.term) for field in besides)
        )

    def _row_of_forms(self, forms: Sequence[Form], fields: Sequence[str]) -> Node:
        return self.row([(form.term,) for form in forms], fields)

    def _joined(self, forms: Sequence[Form], fields: Sequence[str]) -> Node:
        """Return the parts of a word as one, as in email for e-mail."""
        whole = "".join(form.term for form in forms)
        if schema.CONTENT not in fields or len(whole) > schema.MAX_WORD:
            return Nothing()
        analyzed = (tokens(whole, code) for code in self.languages)
        stems = dict.fromkeys(of[0].text for of in analyzed if len(of) == 1)
        if there := self.there(schema.STEMS, stems):
            return Terms(schema.STEMS, there)
        return self.known(schema.CONTENT, whole)

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
            terms = (f"{whole}{ending}" for whole in sorted(wholes) for ending in _ENDINGS)
            found += [
                self._instead(Terms(schema.CONTENT, (term,)), (one, other))
                for term in self.there(schema.CONTENT, terms)
            ]
        return any_of(*found)

    def _instead(self, whole: Node, parts: Sequence[str]) -> Node:
        """Return the node for parts as one word, in chunks that do not have all of the parts."""
        if isinstance(whole, Nothing):
            return whole
        apart = [self.known(schema.CONTENT, part) for part in parts]
        if not any(isinstance(part, Nothing) for part in apart):
            whole = Clauses((Clause(whole, "must"), Clause(all_of(*apart), "must_not")))
        return scaled(whole, self.weights.joined * len(parts))

    def apart(self, term: str) -> Node:
        """Return a word as two words next to each other, such as "power point" for "powerpoint"."""
        if not _is_part(term):
            return Nothing()
        halves = (
            (term[:end], term[end:])
            for end in range(_FEWEST_OF_A_HALF, len(term) - _FEWEST_OF_A_HALF + 1)
        )
        there = [pair for pair in halves if all(self.has(schema.CONTENT, half) for half in pair)]
        return any_of(
            *(TermPhrase(schema.CONTENT, ((before,), (after,)), 0) for before, after in there)
        )


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


def _irregular(stems: Sequence[str]) -> list[str]:
    """Return the stems of irregular forms of a word, and of the word of which it is one."""
    found: dict[str, None] = {}
    for stem in stems:
        code, _, letters = stem.partition(":")
        for other in _other_stems("en" if code == UNDETERMINED else code, letters):
            found[f"{code}:{other}"] = None
    return [stem for stem in found if stem not in stems]


_FEWEST_OF_A_STEM: Final = 2
"""Minimum number of letters of a stem that may have others."""

_FEWEST_OF_A_VERB: Final = 3
"""Minimum number of letters in the stem of a verb."""


def _other_stems(language: str, stem: str) -> Iterable[str]:
    """Return the stems that other forms of a word may have."""
    if language not in WITH_DICTIONARY or len(stem) < _FEWEST_OF_A_STEM:
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
