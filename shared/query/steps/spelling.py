"""Step for misspelled words: a word that no chunk has is replaced by similar words of the index.

A word that some chunk has is left unchanged, so this step does not change the hits of a query whose
words all exist. If only its stem is there, as of "severence" in "severe", similar words are
searched beside it, unless they differ in their ends only. Identifiers, words with digits, excluded
words and phrases are literal. A word in the dictionary of a language (one of `WITH_LEMMAS`) in
which at least a twentieth of the chunks are written is not misspelled; only its spellings in other
languages may replace it.

A word that only one or two chunks have may be misspelled there, too. It is left unchanged all the
same; a correction is searched only if the answer is poor, and is only suggested.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Final

from org.apache.lucene.index import MultiTerms, Term, TermsEnum
from org.apache.lucene.search import FuzzyQuery, RegexpQuery
from org.apache.lucene.search.spell import DirectSpellChecker, SuggestMode
from org.apache.lucene.util import BytesRefIterator

from shared.analysis.analyzers import is_in_dictionary, tokens
from shared.analysis.languages import WITH_LEMMAS
from shared.java.cancellation import check
from shared.model import schema
from shared.query.index_terms import IndexTerms, is_present, terms_of
from shared.query.steps.cognates import spellings
from shared.query.tree import Leaf, Node, Occur, Terms, Word, best_of, leaves, weighted

FEWEST_LETTERS: Final = 5
"""Minimum number of letters; shorter words have too many neighbours to choose from."""

MOST_LETTERS: Final = 64
"""Maximum number of letters; automata of longer words take long, and are too large from some 200
letters on."""

_LETTERS_FOR_TWO: Final = 7
"""Minimum number of letters of a word in which two may be wrong; in shorter words only one may."""

_SUGGESTIONS: Final = 3
"""Maximum number of words that may replace one."""

_SAME_BEGINNING: Final = 1
"""Number of letters at the beginning that must match; they are hardly ever mistyped, and the search
takes far longer without this limit."""

_LEAST_ALIKE: Final = 0.6
"""Minimum similarity of cognates, however much they differ: that of two words of five letters with
two edits."""


def similar_terms(reader: Any, text: str, most_edits: int = 2) -> list[tuple[str, float]]:
    """Return the words of content and titles that may replace a word that is in neither.

    They are cognates (`shared.query.steps.cognates`), or one letter is left out, doubled, changed
    or swapped with the next one (the distance of Damerau and Levenshtein); two letters only in a
    long word, and only if there are no such words.

    Args:
        reader: the reader of the index.
        text: a folded word of letters, `FEWEST_LETTERS` to `MOST_LETTERS` of them.
        most_edits: the maximum number of wrong letters, at most two; the second takes several times
            as long as the first.

    Returns:
        At most three terms, each with its similarity from 0 to 1; the most similar first, on a tie
        the most frequent.
    """
    frequencies = _cognates(reader, text)
    alike = {
        term: max(_LEAST_ALIKE, SequenceMatcher(None, text, term).ratio()) for term in frequencies
    }
    for edits in range(1, min(most_edits, 2 if len(text) >= _LETTERS_FOR_TWO else 1) + 1):
        within = _within(reader, text, edits)
        alike |= {term: 1 - edits / min(len(text), len(term)) for term in within}
        frequencies |= within
        if alike:
            break
    return sorted(alike.items(), key=lambda entry: (-entry[1], -frequencies[entry[0]], entry[0]))[
        :_SUGGESTIONS
    ]


def more_frequent_term(reader: Any, text: str, above: int) -> str | None:
    """Return the more frequent word of the content that is one edit away from a rare one.

    Args:
        reader: the reader of the index.
        text: a folded word of letters.
        above: the number of chunks that must be exceeded by those of the other word.

    Returns:
        The most similar such word; None if there is none.
    """
    checker = DirectSpellChecker()
    checker.setMaxEdits(1)
    checker.setMinPrefix(_SAME_BEGINNING)
    checker.setThresholdFrequency(float(above))
    found = checker.suggestSimilar(
        Term(schema.CONTENT, text), 1, reader, SuggestMode.SUGGEST_ALWAYS
    )
    return str(found[0].string) if found else None


def _within(reader: Any, text: str, edits: int) -> dict[str, int]:
    """Return the words within a number of edits, and their frequencies."""
    # Not DirectSpellChecker, which makes a new automaton for each field and number of edits.
    return _accepted(reader, FuzzyQuery.getFuzzyAutomaton(text, edits, _SAME_BEGINNING, True))


def _cognates(reader: Any, text: str) -> dict[str, int]:
    """Return the words that may be the word in another language, and their frequencies."""
    pattern = spellings(text)
    if pattern is None:
        return {}
    found = _accepted(reader, RegexpQuery(Term(schema.CONTENT, pattern)).getCompiled())
    return {term: count for term, count in found.items() if len(term) >= FEWEST_LETTERS}


def _accepted(reader: Any, automaton: Any) -> dict[str, int]:
    """Return the terms of content and titles that an automaton accepts, with their frequencies."""
    frequencies: dict[str, int] = {}
    for field in (schema.TITLE, schema.CONTENT):
        terms = MultiTerms.getTerms(reader, field)
        if terms is None:
            continue
        found = TermsEnum.cast_(terms.intersect(automaton, None))
        following = BytesRefIterator.cast_(found)
        while (term := following.next()) is not None:
            check()
            frequencies[term.utf8ToString()] = found.docFreq()
    return frequencies


_WORD: Final = re.compile(r"\W*([^\W\d_]+)\W*")
"""Word of letters only, and the punctuation around it."""

_MOST_LOOKED_UP: Final = 8
"""Maximum number of words of a query for which similar ones are searched, since each takes a
millisecond or more."""

_MOST_LOOKED_UP_FAR: Final = 4
"""Maximum number of those in which two letters may be wrong. A query with more unknown words is
hardly misspelled, but in another language, or about something that the index does not have."""

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


class SimilarWords:
    """Step that replaces words that no chunk has by similar words.

    Args:
        reader: the reader to be searched.
        terms: the terms of its index.
        on_fields: the step for words.
        weight: the weight of a similar word, relative to the word itself.
    """

    def __init__(
        self,
        reader: Any,
        terms: IndexTerms,
        on_fields: Callable[[Leaf, Occur], Node],
        weight: float,
    ) -> None:
        self._reader = reader
        self._terms = terms
        self._on_fields = on_fields
        self._weight = weight
        self._looked_up = 0
        self.corrections: list[Correction] = []
        self.rare: list[str] = []

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """Return the leaf itself, or words that are similar to it."""
        if not self._weight or occur == "must_not" or not isinstance(leaf, Word) or leaf.field:
            return leaf
        letters = _WORD.fullmatch(leaf.text)
        text = _folded(letters[1]) if letters else None
        if letters is None or text is None:
            return leaf
        frequency = self._terms.frequency(schema.CONTENT, text)
        if 0 < frequency <= _RARE and self._is_doubtful(leaf, text, occur):
            self.rare.append(letters[1])
        if frequency or self._looked_up >= _MOST_LOOKED_UP:
            return leaf
        is_known = not self._is_unknown(leaf, occur)
        if is_known and self._is_spelled_right(text):
            return leaf
        self._looked_up += 1
        similar = similar_terms(self._reader, text, 1 if is_known else self._most_edits(text))
        if is_known and any(_is_form(text, term) for term, _ in similar):
            similar = []
        if not similar:
            return leaf
        self.corrections.append(Correction(letters[1], similar[0][0]))
        words = [weighted(Word(term, alike=alike), self._weight * alike) for term, alike in similar]
        # Some chunks have its stem, by chance or as another form.
        return best_of(leaf, *words) if is_known else best_of(*words)

    def _is_unknown(self, word: Word, occur: Occur) -> bool:
        return not is_present(self._on_fields(word, occur), self._terms)

    def _most_edits(self, text: str) -> int:
        if self._is_spelled_right(text):
            return 0
        return 2 if self._looked_up <= _MOST_LOOKED_UP_FAR else 1

    def _is_spelled_right(self, text: str) -> bool:
        return any(is_in_dictionary(language, text) for language in self._languages)

    @cached_property
    def _languages(self) -> list[str]:
        """Languages of the index whose dictionaries decide on correct spelling."""
        return [
            code for code in WITH_LEMMAS if self._terms.languages.get(code, 0.0) >= _LEAST_SHARE
        ]

    def _is_doubtful(self, word: Word, text: str, occur: Occur) -> bool:
        """Check whether a word is in no dictionary, and all its forms are rare."""
        return not self._is_spelled_right(text) and all(
            self._terms.frequency(leaf.field, text) <= _RARE
            for leaf in leaves(self._on_fields(word, occur))
            if isinstance(leaf, Terms)
            for text in leaf.texts
        )


_ENDINGS: Final = frozenset(("", *"aeiosnrdtm", "es", "en", "er", "em", "ed", "ly"))
"""Inflectional endings, or parts of them, by which two forms of a word may differ."""


def _is_form(text: str, other: str) -> bool:
    """Check whether two words differ in inflectional endings only, as forms of one word do."""
    common = next(
        (n for n, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]),
        min(len(text), len(other)),
    )
    return {text[common:], other[common:]} <= _ENDINGS


def more_frequent_words(reader: Any, words: Sequence[str]) -> Iterator[Correction]:
    """Yield corrections of rare words that are similar to a far more frequent one.

    Args:
        reader: the reader of the index.
        words: the words as typed.
    """
    terms = terms_of(reader)
    for word in words[:_MOST_LOOKED_UP]:
        text = _folded(word)
        if text is None:
            continue
        above = _TIMES_AS_FREQUENT * terms.frequency(schema.CONTENT, text)
        term = more_frequent_term(reader, text, above)
        if term is not None:
            yield Correction(word, term)


def _folded(letters: str) -> str | None:
    """Return a word as in the content; None if it is too short or long, or not a single word."""
    match tokens(schema.CONTENT, letters):
        case ((text,),) if FEWEST_LETTERS <= len(text) <= MOST_LETTERS:
            return text
    return None
