"""Words that no chunk has: compounds with them, and the words that a misspelled one may stand for.

A word that some chunk has is left unchanged, and so is one that a language knows: one in the
dictionary of a language of the index or of the query, a function word, a name in capitals, a
number, and a part of a longer word. If only the stem of a word is there, as of "severence" in
"severe", similar words are searched beside it, unless they differ in their ends only. A word that
only one or two chunks have may be misspelled there, too; a correction is searched only if the
answer is poor, and is only suggested.

If no chunk has a form of "Vertrag", it finds "Mietvertrag" and "Vertragsstrafe". The German
dictionary must have the word, which may be misspelled otherwise, and the rest of the compound:
"Tante" does not find "Konstante". The dictionary has few compounds, so a long word may be missing
there, in any language that has compounds: "Wasserzähler" finds "Wasserzählerstand".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, product, takewhile
from typing import Final, NamedTuple

from shared.analysis.analyzers import Token, tokens
from shared.analysis.dictionaries import lemmas, lemmas_of
from shared.analysis.languages import (
    LEAST_SHARE,
    UNDETERMINED,
    WITH_DICTIONARY,
    function_words_in,
    is_capital_name,
)
from shared.model import schema
from shared.query.terms import IndexTerms

_FEWEST_LETTERS: Final = 4  # shorter words have too many neighbours, and occur in others by chance

_FEWEST_OTHERWISE: Final = 5
"""Minimum number of letters of a word of which no dictionary tells whether it is misspelled, and of
one in a script without capitals, such as Arabic, which writes few vowels or whole syllables."""

_MOST_LETTERS: Final = 64
"""Maximum number of letters; automata of longer words take long, and are too large from some 200
letters on."""

_LETTERS_FOR_FIRST: Final = 5  # of a word whose first letter may be wrong, which takes far longer
_LETTERS_FOR_TWO: Final = 7  # of a word in which two may be wrong; in shorter words only one may
_WEIGHT_OF_FIRST: Final = 1.5  # of a mistake in the first letter, relative to one in another
_WEIGHT_OF_SLIP: Final = 0.8  # of a mistake that leaves all letters there, swapped or doubled

_DOUBLED: Final = re.compile(r"(.)\1")

_WORD: Final = re.compile(r"\W*([^\W\d_]+)\W*")  # letters only, and the punctuation around them
_MOST_LOOKED_UP: Final = 8  # words of a query with similar ones, each of which takes milliseconds

_RARE: Final = 2  # chunks of a word that may be misspelled in them
_TIMES_AS_FREQUENT: Final = 100  # factor by which a correction must exceed the rare word

_INFLECTION: Final = frozenset(("", *"aeiosnrdtm", "es", "en", "er", "em", "ed", "ly"))
"""Inflectional endings, or parts of them, by which two forms of a word may differ."""


class Correction(NamedTuple):
    """A word of a query, and the most similar word that some chunk has."""

    word: str
    suggestion: str


class SimilarTerm(NamedTuple):
    """A term, its similarity to a word from 0 to 1, and its frequency."""

    text: str
    alike: float
    frequency: int


@dataclass
class Spelling:
    """Search for the words that are meant by misspelled ones in a query."""

    terms: IndexTerms
    language: str | None  # of the query; None if it is not known
    corrections: list[Correction] = field(default_factory=list)  # the words that were replaced
    rare: list[str] = field(default_factory=list)  # those that may be misspelled where they are
    # Grows with both, and with words that are not looked up because there are too many: what is
    # found for a word is then not true of it in every query.
    noted: int = 0
    looked_up: int = 0

    def similar(self, typed: str, stems: Sequence[str], *, is_known: bool) -> SimilarTerm | None:
        """Return the word that a word probably stands for; None if it is right.

        It comes with its terms in the field of stems; it is known if some chunk has a form of it.
        """
        letters = _WORD.fullmatch(typed)
        word = letters[1] if letters else ""
        text = None if is_capital_name(word) or function_words_in(word) else _folded(word)
        if text is None:
            return None
        frequency = self.terms.frequency(schema.CONTENT, text)
        is_doubtful = frequency <= _RARE and not self._is_spelled_right(text)
        if frequency and is_doubtful:
            # All of its forms must be rare, too.
            counts = (self.terms.frequency(schema.STEMS, stem) for stem in stems)
            if all(count <= _RARE for count in counts):
                self.rare.append(word)
                self.noted += 1
        if frequency or not is_doubtful:
            return None
        is_certain = not is_known and self._knows_words
        if len(text) < _FEWEST_OTHERWISE and not is_certain:
            return None
        if self.looked_up >= _MOST_LOOKED_UP:
            self.noted += 1
            return None
        self.looked_up += 1
        most = 1 if is_known else 2
        found = similar_terms(self.terms, text, most, same_beginning=not is_certain)
        if not found or (is_known and any(_is_form(text, one.text) for one in found)):
            return None
        self.corrections.append(Correction(word, found[0].text))
        self.noted += 1
        return found[0]

    def _is_spelled_right(self, text: str) -> bool:
        return any(lemmas(language, text) for language in self._languages)

    @cached_property
    def _languages(self) -> list[str]:
        """Languages whose dictionaries decide on correct spelling."""
        shares = self.terms.languages
        of_index = [code for code in WITH_DICTIONARY if shares.get(code, 0.0) >= LEAST_SHARE]
        of_query = [self.language] if self.language in WITH_DICTIONARY else []
        return list(dict.fromkeys((*of_index, *of_query, "en")))

    @cached_property
    def _knows_words(self) -> bool:
        """True if the languages of the index have dictionaries, apart from very few chunks."""
        shares = {code: by for code, by in self.terms.languages.items() if code != UNDETERMINED}
        rest = sum(by for code, by in shares.items() if code not in WITH_DICTIONARY)
        return rest < LEAST_SHARE <= sum(shares.values()) - rest


def similar_terms(
    terms: IndexTerms, text: str, most_edits: int = 2, *, same_beginning: bool = False
) -> list[SimilarTerm]:
    """Return the words of content and titles that may replace a word, the most similar first.

    One letter is left out, doubled, changed or swapped with the next one (the distance of Damerau
    and Levenshtein); two letters only in a long word, not the first, and only if there are no such
    words. On a tie the most frequent comes first.
    """
    for edits in range(1, min(most_edits, 2 if len(text) >= _LETTERS_FOR_TWO else 1) + 1):
        is_right = same_beginning or edits > 1 or len(text) < _LETTERS_FOR_FIRST
        # The frequency is that in the content, if it has the term.
        in_titles, in_content = (
            terms.within(name, text, edits, int(is_right))
            for name in (schema.TITLE, schema.CONTENT)
        )
        within = {**in_titles, **in_content}
        found = [
            SimilarTerm(term, 1 - edits * _weight_of_edit(text, term) / len(text), frequency)
            for term, frequency in within.items()
            if len(term) >= _FEWEST_LETTERS and term.isalpha()
        ]
        if found:
            return sorted(found, key=lambda one: (-one.alike, -one.frequency, one.text))
    return []


def _weight_of_edit(text: str, term: str) -> float:
    """Return how much a mistake counts; the less likely, the more."""
    if sorted(text) == sorted(term) or _DOUBLED.sub(r"\1", text) == _DOUBLED.sub(r"\1", term):
        return _WEIGHT_OF_SLIP
    return 1.0 if text[0] == term[0] else _WEIGHT_OF_FIRST


def _is_form(text: str, other: str) -> bool:
    """Check whether two words differ in inflectional endings only, as forms of one word do."""
    pairs = zip(text, other, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return {text[common:], other[common:]} <= _INFLECTION


def more_frequent_words(terms: IndexTerms, words: Sequence[str]) -> Iterator[Correction]:
    """Yield corrections of rare words that are similar to a far more frequent one."""
    for word in words[:_MOST_LOOKED_UP]:
        text = _folded(word)
        if text is None:
            continue
        above = _TIMES_AS_FREQUENT * terms.frequency(schema.CONTENT, text)
        near = terms.within(schema.CONTENT, text, 1, 1).items()
        frequent = [(count, term) for term, count in near if count > above and term != text]
        if frequent and not function_words_in(term := max(frequent)[1]):
            yield Correction(word, term)


def _folded(letters: str) -> str | None:
    """Return a word as in the content; None if it is too short or long, or not a single word."""
    is_plain = letters.lower() != letters.upper() != letters
    fewest = _FEWEST_LETTERS if is_plain else _FEWEST_OTHERWISE
    match tokens(letters):
        case (Token(text=text, is_of_syllables=False),) if fewest <= len(text) <= _MOST_LETTERS:
            return text
    return None


_GERMAN: Final = "de"

_FEWEST_OF_A_LONG_WORD: Final = 8  # letters of a word that hardly occurs in others by chance
_FEWEST_OF_A_KNOWN_WORD: Final = 7  # letters of a German one that is in other languages, too
_FEWEST_BESIDES: Final = 3  # letters in the rest of a compound, without those that link its parts

_LINKS: Final[tuple[str, ...]] = ("", "s", "es", "n", "en", "er", "e")
"""Links between the parts of a compound: Vertragsstrafe, Blumentopf, Kinderwagen, Hundefutter."""

_ENDINGS: Final = ("", "e", "en", "n", "s", "es", "er", "ern")
"""Endings of a noun in the plural and in other cases; umlauts are folded."""

_MOST_TERMS: Final = 500  # examined for a word, both of those that begin and that end with it


def compounds_of(terms: IndexTerms, word: str) -> tuple[str, ...]:
    """Return the words of content and titles that begin or end with a folded word, at most 1,000.

    A short word that is not in the German dictionary is probably a name, or misspelled.
    """
    if len(word) < _FEWEST_LETTERS or not _is_german(word):
        return ()
    known_as = lemmas(_GERMAN, word)
    found = _german_compounds(terms, word, known_as) if known_as else ()
    if found or len(word) < (_FEWEST_OF_A_KNOWN_WORD if known_as else _FEWEST_OF_A_LONG_WORD):
        return found
    begun = islice(_beginning(terms, [word]), _MOST_TERMS)
    # Many a word ends like another one by chance: Ration, Operation.
    ended = () if known_as else _ending_with(terms, word)
    return tuple(dict.fromkeys(term for term, _ in chain(begun, ended)))


def _german_compounds(terms: IndexTerms, word: str, known_as: Sequence[str]) -> tuple[str, ...]:
    forms = [form for form in dict.fromkeys((word, *known_as)) if len(form) >= _FEWEST_LETTERS]
    begun = _merged(_beginning(terms, forms))
    ended = _merged(_ending(terms, forms))
    known = lemmas_of(_GERMAN, chain(ended, *begun.values(), *ended.values()))
    ended = {
        term: rests
        for term, rests in ended.items()
        # Nachteile is a form of Nachteil, so it does not end with Eile.
        if any(lemma.endswith(tuple(forms)) for lemma in known.get(term, forms))
    }
    both = (*begun.items(), *ended.items())
    found = (term for term, rests in both if not known.keys().isdisjoint(rests))
    return tuple(dict.fromkeys(found))


def _merged(found: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """Return German terms, each with the possible rests of the compound."""
    merged: dict[str, set[str]] = defaultdict(set)
    for term, rests in islice(found, _MOST_TERMS):
        if _is_german(term):
            merged[term].update(rest for rest in rests if len(rest) >= _FEWEST_BESIDES)
    return merged


def _beginning(terms: IndexTerms, forms: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the terms that begin with one of some forms, each with the possible rests."""
    # Schulhof comes from Schule.
    without_e = {form.removesuffix("e"): ("",) for form in forms if form.endswith("e")}
    links = {**without_e, **dict.fromkeys(forms, _LINKS)}
    for form, name in product(links, (schema.CONTENT, schema.TITLE)):
        for term, _ in terms.beginning_with(name, form):
            rest = term.removeprefix(form)
            yield term, [rest.removeprefix(link) for link in links[form] if rest.startswith(link)]


def _ending(terms: IndexTerms, forms: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the terms that end with a form, with the possible rests; the field includes titles."""
    for form, ending in product(forms, _ENDINGS):
        end = f"{form}{ending}"
        for term, rest in _ending_with(terms, end):
            others = [rest.removesuffix(link) for link in _LINKS if rest.endswith(link)]
            yield term, [*others, f"{rest}e"]


def _ending_with(terms: IndexTerms, end: str) -> Iterator[tuple[str, str]]:
    """Yield the terms with an end, each with the rest."""
    for backwards, _ in islice(terms.beginning_with(schema.REVERSED, end[::-1]), _MOST_TERMS):
        term = backwards[::-1]
        yield term, term.removesuffix(end)


def _is_german(word: str) -> bool:
    """Check whether a folded word has only letters of German."""
    return word.isascii() and word.isalpha()
