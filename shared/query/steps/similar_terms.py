"""Words of the index that may be meant by a word that is not in it."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice
from typing import Final

from shared.analysis.stems import stems_of_query
from shared.model import schema
from shared.query.index_terms import IndexTerms
from shared.query.steps.cognates import spellings

FEWEST_LETTERS: Final = 4
"""Minimum number of letters; shorter words have too many neighbours to choose from."""

MOST_LETTERS: Final = 64
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

_LETTERS_OF_COGNATES: Final = 5
"""Minimum number of letters of words with a common root."""

LEAST_ALIKE: Final = 0.6
"""Minimum similarity of cognates, however much they differ: that of two words of five letters with
two edits."""

_LETTERS_FOR_STEM: Final = 6
"""Minimum number of letters of a stem in which one may be wrong."""

_LETTERS_OF_STEM: Final = 4
"""Number of letters at the beginning that all forms of a word have."""

_MOST_FORMS: Final = 200
"""Maximum number of words that are examined for one with a stem."""

_FIELDS_OF_WORDS: Final = (schema.TITLE, schema.CONTENT)
"""Fields whose words may be meant; of one in both the frequency in the content counts."""

_DOUBLED: Final = re.compile(r"(.)\1")


def similar_terms(
    terms: IndexTerms, text: str, most_edits: int = 2, *, same_beginning: bool = False
) -> list[tuple[str, float]]:
    """Return the words of content and titles that may replace a word that is in neither.

    They are cognates (`shared.query.steps.cognates`), or one letter is left out, doubled, changed
    or swapped with the next one (the distance of Damerau and Levenshtein); two letters only in a
    long word, not the first, and only if there are no such words.

    Args:
        terms: the terms of the index.
        text: a folded word of letters, `FEWEST_LETTERS` to `MOST_LETTERS` of them.
        most_edits: the maximum number of wrong letters, at most two; the second takes several times
            as long as the first.
        same_beginning: true if the first letter is right in any case.

    Returns:
        The terms, each with its similarity from 0 to 1; the most similar first, on a tie the most
        frequent.
    """
    frequencies = _cognates(terms, text)
    alike = {
        term: max(LEAST_ALIKE, SequenceMatcher(None, text, term).ratio()) for term in frequencies
    }
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
        if len(term) >= FEWEST_LETTERS and term.isalpha()
    }


def _weight_of_edit(text: str, term: str) -> float:
    """Return how much a mistake counts; the less likely, the more."""
    if sorted(text) == sorted(term) or _once(text) == _once(term):
        return _WEIGHT_OF_SLIP
    return 1.0 if text[0] == term[0] else _WEIGHT_OF_FIRST


def _once(text: str) -> str:
    """Return a word with each doubled letter once."""
    return _DOUBLED.sub(r"\1", text)


def _cognates(terms: IndexTerms, text: str) -> dict[str, int]:
    """Return the words that may be the word in another language, and their frequencies."""
    pattern = spellings(text) if len(text) >= _LETTERS_OF_COGNATES else None
    if pattern is None:
        return {}
    found = (terms.spelled_as(field, pattern) for field in _FIELDS_OF_WORDS)
    return {
        term: count
        for of_field in found
        for term, count in of_field.items()
        if len(term) >= _LETTERS_OF_COGNATES
    }


def words_with_similar_stem(terms: IndexTerms, text: str, stems: Iterable[str]) -> Iterator[str]:
    """Yield the words of the content with a stem that is one letter away from those of a word.

    Args:
        terms: the terms of the index.
        text: the folded word.
        stems: its terms in the field of stems.
    """
    for stem in stems:
        code, _, letters = stem.partition(":")
        if len(letters) < _LETTERS_FOR_STEM or not text.startswith(letters[:_SAME_BEGINNING]):
            continue
        beginning = len(code) + 1 + _SAME_BEGINNING
        found = terms.within(schema.STEMS, stem, 1, beginning)
        for other in sorted(found, key=lambda other: -found[other]):
            start = other.removeprefix(f"{code}:")[:_LETTERS_OF_STEM]
            words = islice(terms.beginning_with(schema.CONTENT, start), _MOST_FORMS)
            yield from (word for word, _ in words if other in stems_of_query((code,), word))
