"""Misspelled words: a word that no chunk has is replaced by similar words of the index.

A word that some chunk has is left unchanged, and so is one that a language knows: one in the
dictionary of a language of the index or of the query, a function word, a name in capitals, a
number, and a part of a longer word. If only the stem of a word is there, as of "severence" in
"severe", similar words are searched beside it, unless they differ in their ends only. A word that
only one or two chunks have may be misspelled there, too; a correction is searched only if the
answer is poor, and is only suggested.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from shared.analysis.analyzers import Token, lemmas, tokens
from shared.analysis.languages import UNDETERMINED, WITH_DICTIONARY
from shared.analysis.stop_words import function_words_in, is_capital_name
from shared.model import schema
from shared.query.index_terms import IndexTerms

_FEWEST_LETTERS: Final = 4
"""Minimum number of letters; shorter words have too many neighbours to choose from."""

_MOST_LETTERS: Final = 64
"""Maximum number of letters; automata of longer words take long, and are too large from some 200
letters on."""

_LETTERS_FOR_FIRST: Final = 5
"""Minimum number of letters of a word whose first letter may be wrong."""

_LETTERS_FOR_TWO: Final = 7
"""Minimum number of letters of a word in which two may be wrong; in shorter words only one may."""

_SAME_BEGINNING: Final = 1
"""Number of letters at the beginning that must match where two letters may be wrong, and in short
words; they are seldom mistyped, and the search takes far longer without this limit."""

_WEIGHT_OF_FIRST: Final = 1.5
"""Weight of a mistake in the first letter, relative to one in another."""

_WEIGHT_OF_SLIP: Final = 0.8
"""Weight of a mistake that leaves all letters there, swapped or doubled."""

_FIELDS_OF_WORDS: Final = (schema.TITLE, schema.CONTENT)
"""Fields whose words may be meant; of one in both the frequency in the content counts."""

_DOUBLED: Final = re.compile(r"(.)\1")


_FEWEST_OTHERWISE: Final = 5
"""Minimum number of letters of a word of which no dictionary tells whether it is misspelled, and of
one in a script without capitals, such as Arabic, which writes few vowels or whole syllables."""

_SUGGESTIONS: Final = 3
"""Maximum number of words that may replace one."""

_LEAST_FREQUENCY: Final = 0.1
"""Frequency of a word that may replace one, relative to the most similar one: rarer words are less
likely to be meant, and would count far more."""

_LESS_LIKELY: Final = 0.6
"""Weight of the other words that may replace one, relative to the first."""

_WORD: Final = re.compile(r"\W*([^\W\d_]+)\W*")
"""Word of letters only, and the punctuation around it."""

_MOST_LOOKED_UP: Final = 8
"""Maximum number of words of a query for which similar ones are searched, since each takes a
millisecond or more."""

_LEAST_SHARE: Final = 0.05
"""Minimum share of the chunks in a language for its dictionary to be consulted: one mistyped word
in two hundred is a word of the same language, but one in 26 is a word of some language with a
dictionary."""

_RARE: Final = 2
"""Maximum number of chunks of a word that may be misspelled in them."""

_TIMES_AS_FREQUENT: Final = 100
"""Factor by which a correction must exceed the document frequency of the rare word."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of a query, and the most similar word that some chunk has."""

    word: str
    suggestion: str


@dataclass(frozen=True, slots=True)
class Similar:
    """A word that may be meant, with its similarity from 0 to 1 and its weight."""

    text: str
    alike: float
    weight: float


class Spelling:
    """Search for the words that are meant by misspelled ones in a query.

    Args:
        terms: the terms of the index.
        language: the language of the query; None if it is not known.

    Attributes:
        corrections: the words that were replaced.
        rare: the words that may be misspelled where they are found.
    """

    def __init__(self, terms: IndexTerms, language: str | None) -> None:
        self._terms = terms
        self._language = language
        self._looked_up = 0
        self.corrections: list[Correction] = []
        self.rare: list[str] = []

    def similar(self, typed: str, stems: Sequence[str], *, is_known: bool) -> list[Similar]:
        """Return the words that a word may stand for, the most likely first; none if it is right.

        Args:
            typed: the word as typed, with the punctuation around it.
            stems: its terms in the field of stems.
            is_known: true if some chunk has a form of it.
        """
        letters = _WORD.fullmatch(typed)
        if letters is None or is_capital_name(letters[1]) or function_words_in(letters[1]):
            return []
        text = _folded(letters[1])
        if text is None:
            return []
        frequency = self._terms.frequency(schema.CONTENT, text)
        if 0 < frequency <= _RARE and self._is_doubtful(text, stems):
            self.rare.append(letters[1])
        if frequency or self._looked_up >= _MOST_LOOKED_UP or self._is_spelled_right(text):
            return []
        is_certain = not is_known and self._knows_words
        if len(text) < _FEWEST_OTHERWISE and not is_certain:
            return []
        self._looked_up += 1
        most = 1 if is_known else 2
        found = similar_terms(self._terms, text, most, same_beginning=not is_certain)
        if is_known and any(_is_form(text, term) for term, _ in found):
            return []
        if found:
            self.corrections.append(Correction(letters[1], found[0][0]))
        return list(self._weighted(found))

    def _weighted(self, found: Sequence[tuple[str, float]]) -> Iterator[Similar]:
        least = 0.0
        for number, (term, alike) in enumerate(_distinct(found)):
            frequency = self._terms.frequency(schema.CONTENT, term)
            if frequency >= least:
                yield Similar(term, alike, alike * (_LESS_LIKELY if number else 1.0))
            least = least or frequency * _LEAST_FREQUENCY

    def _is_spelled_right(self, text: str) -> bool:
        return any(lemmas(language, text) for language in self._languages)

    @cached_property
    def _languages(self) -> list[str]:
        """Languages whose dictionaries decide on correct spelling."""
        shares = self._terms.languages
        of_index = [code for code in WITH_DICTIONARY if shares.get(code, 0.0) >= _LEAST_SHARE]
        of_query = [self._language] if self._language in WITH_DICTIONARY else []
        return list(dict.fromkeys((*of_index, *of_query, "en")))

    @cached_property
    def _knows_words(self) -> bool:
        """True if the languages of the index have dictionaries, apart from very few chunks."""
        shares = {code: by for code, by in self._terms.languages.items() if code != UNDETERMINED}
        rest = sum(by for code, by in shares.items() if code not in WITH_DICTIONARY)
        return rest < _LEAST_SHARE <= sum(shares.values()) - rest

    def _is_doubtful(self, text: str, stems: Sequence[str]) -> bool:
        """Check whether a word is in no dictionary, and all its forms are rare."""
        return not self._is_spelled_right(text) and all(
            self._terms.frequency(schema.STEMS, stem) <= _RARE for stem in stems
        )


def similar_terms(
    terms: IndexTerms, text: str, most_edits: int = 2, *, same_beginning: bool = False
) -> list[tuple[str, float]]:
    """Return the words of content and titles that may replace a word that is in neither.

    One letter is left out, doubled, changed or swapped with the next one (the distance of Damerau
    and Levenshtein); two letters only in a long word, not the first, and only if there are no such
    words.

    Args:
        terms: the terms of the index.
        text: a folded word of letters, `_FEWEST_LETTERS` to `_MOST_LETTERS` of them.
        most_edits: the maximum number of wrong letters, at most two; the second takes several times
            as long as the first.
        same_beginning: true if the first letter is right in any case.

    Returns:
        The terms, each with its similarity from 0 to 1; the most similar first, on a tie the most
        frequent.
    """
    alike: dict[str, float] = {}
    frequencies: dict[str, int] = {}
    for edits in range(1, min(most_edits, 2 if len(text) >= _LETTERS_FOR_TWO else 1) + 1):
        is_right = same_beginning or edits > 1 or len(text) < _LETTERS_FOR_FIRST
        within = _within(terms, text, edits, _SAME_BEGINNING if is_right else 0)
        alike |= {term: 1 - edits * _weight_of_edit(text, term) / len(text) for term in within}
        frequencies |= within
        if alike:
            break
    return sorted(alike.items(), key=lambda entry: (-entry[1], -frequencies[entry[0]], entry[0]))


def _within(terms: IndexTerms, text: str, edits: int, beginning: int) -> dict[str, int]:
    """Return the words within a number of edits, and their frequencies."""
    found = (terms.within(field, text, edits, beginning) for field in _FIELDS_OF_WORDS)
    return {
        term: count
        for of_field in found
        for term, count in of_field.items()
        if len(term) >= _FEWEST_LETTERS and term.isalpha()
    }


def _weight_of_edit(text: str, term: str) -> float:
    """Return how much a mistake counts; the less likely, the more."""
    if sorted(text) == sorted(term) or _once(text) == _once(term):
        return _WEIGHT_OF_SLIP
    return 1.0 if text[0] == term[0] else _WEIGHT_OF_FIRST


def _once(text: str) -> str:
    """Return a word with each doubled letter once."""
    return _DOUBLED.sub(r"\1", text)


def _distinct(similar: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """Yield the best words that are no forms of a better one."""
    taken: list[str] = []
    for term, alike in similar:
        if len(taken) < _SUGGESTIONS and not any(_is_form(term, other) for other in taken):
            taken.append(term)
            yield term, alike


_ENDINGS: Final = frozenset(("", *"aeiosnrdtm", "es", "en", "er", "em", "ed", "ly"))
"""Inflectional endings, or parts of them, by which two forms of a word may differ."""


def _is_form(text: str, other: str) -> bool:
    """Check whether two words differ in inflectional endings only, as forms of one word do."""
    common = next(
        (n for n, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]),
        min(len(text), len(other)),
    )
    return {text[common:], other[common:]} <= _ENDINGS


def more_frequent_words(terms: IndexTerms, words: Sequence[str]) -> Iterator[Correction]:
    """Yield corrections of rare words that are similar to a far more frequent one.

    Args:
        terms: the terms of the index.
        words: the words as typed.
    """
    for word in words[:_MOST_LOOKED_UP]:
        text = _folded(word)
        if text is None:
            continue
        above = _TIMES_AS_FREQUENT * terms.frequency(schema.CONTENT, text)
        term = terms.more_frequent(text, above)
        if term is not None and not function_words_in(term):
            yield Correction(word, term)


def _folded(letters: str) -> str | None:
    """Return a word as in the content; None if it is too short or long, or not a single word."""
    match tokens(letters):
        case (Token(text=text, is_of_syllables=False),) if (
            _fewest_letters(letters) <= len(text) <= _MOST_LETTERS
        ):
            return text
    return None


def _fewest_letters(word: str) -> int:
    is_plain = word.lower() != word.upper() != word
    return _FEWEST_LETTERS if is_plain else _FEWEST_OTHERWISE
