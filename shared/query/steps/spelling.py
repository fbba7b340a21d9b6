"""Step for misspelled words: a word that no chunk has is replaced by similar words of the index.

A word that some chunk has is left unchanged, so this step does not change the hits of a query whose
words all exist. If only its stem is there, as of "severence" in "severe", similar words are
searched beside it, unless they differ in their ends only. If no word is similar, its stem may be:
"magnetissed" finds "magnetism". Identifiers, words with digits, short words in capitals, excluded
words and phrases are literal. A word in the dictionary of a language (one of `WITH_LEMMAS`) in
which at least a twentieth of the chunks are written is not misspelled; only its spellings in other
languages may replace it.

A word that only one or two chunks have may be misspelled there, too. It is left unchanged all the
same; a correction is searched only if the answer is poor, and is only suggested.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from shared.analysis.analyzers import is_in_dictionary, tokens
from shared.analysis.languages import UNDETERMINED, WITH_LEMMAS, WITHOUT_BLANKS
from shared.analysis.stems import stems_of_query
from shared.model import schema
from shared.query.index_terms import IndexTerms, is_present
from shared.query.steps.similar_terms import (
    FEWEST_LETTERS,
    LEAST_ALIKE,
    MOST_LETTERS,
    similar_terms,
    words_with_similar_stem,
)
from shared.query.tree import Leaf, Node, Occur, Terms, Word, best_of, leaves, weighted

_FEWEST_OTHERWISE: Final = 5
"""Minimum number of letters of a word of which no dictionary tells whether it is misspelled, of one
in capitals, which may be an abbreviation, and of one in a script without capitals, such as Arabic
and Korean, which writes few vowels or whole syllables."""

_SUGGESTIONS: Final = 3
"""Maximum number of words that may replace one."""

_LESS_LIKELY: Final = 0.6
"""Weight of the other words that may replace one, relative to the first."""

_WORD: Final = re.compile(r"\W*([^\W\d_]+)\W*")
"""Word of letters only, and the punctuation around it."""

_MOST_COMPARED: Final = 8
"""Maximum number of similar words of which it is checked whether they are forms of one."""

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
        terms: the terms of the index.
        on_fields: the step for words.
        weight: the weight of a similar word, relative to the word itself.
    """

    def __init__(
        self,
        terms: IndexTerms,
        on_fields: Callable[[Leaf, Occur], Node],
        weight: float,
    ) -> None:
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
        similar = self._similar(text, is_known=is_known)
        if not similar:
            return leaf
        self.corrections.append(Correction(letters[1], similar[0][0]))
        words = [
            weighted(Word(term, alike=alike), self._weight * alike * by)
            for (term, alike), by in self._distinct(similar)
        ]
        # Some chunks have its stem, by chance or as another form.
        return best_of(leaf, *words) if is_known else best_of(*words)

    def _similar(self, text: str, *, is_known: bool) -> Sequence[tuple[str, float]]:
        """Return the words that a word may stand for, the most similar first.

        Args:
            text: the folded word.
            is_known: true if some chunk has its stem.
        """
        is_certain = not is_known and self._knows_words
        is_short = len(text) < _FEWEST_OTHERWISE and not is_certain
        if is_short or (is_known and self._is_spelled_right(text)):
            return []
        self._looked_up += 1
        most_edits = 1 if is_known else self._most_edits(text)
        similar = similar_terms(self._terms, text, most_edits, same_beginning=not is_certain)
        if is_known:
            return [] if any(_is_form(text, term) for term, _ in similar) else similar
        return similar or (self._with_similar_stem(text) if most_edits else [])

    def _is_unknown(self, word: Word, occur: Occur) -> bool:
        return not is_present(self._on_fields(word, occur), self._terms)

    def _distinct(
        self, similar: Sequence[tuple[str, float]]
    ) -> Iterator[tuple[tuple[str, float], float]]:
        """Yield the best words that are no forms of a better one, each with its weight."""
        seen: set[str] = set()
        left = _SUGGESTIONS
        for term, alike in similar[:_MOST_COMPARED]:
            stems = set(self._stems(term)) or {term}
            if left and seen.isdisjoint(stems):
                yield (term, alike), _LESS_LIKELY if seen else 1.0
                left -= 1
            seen |= stems

    def _with_similar_stem(self, text: str) -> list[tuple[str, float]]:
        found = words_with_similar_stem(self._terms, text, self._stems(text))
        return [(word, LEAST_ALIKE) for word in islice(found, 1)]

    def _stems(self, text: str) -> list[str]:
        languages = [code for code in self._terms.languages if code not in WITHOUT_BLANKS]
        return stems_of_query(languages, text)

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

    @cached_property
    def _knows_words(self) -> bool:
        """True if the languages of the index have dictionaries, apart from very few chunks."""
        shares = {code: by for code, by in self._terms.languages.items() if code != UNDETERMINED}
        rest = sum(by for code, by in shares.items() if code not in WITH_LEMMAS)
        return bool(self._languages) and rest < _LEAST_SHARE

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
        if term is not None:
            yield Correction(word, term)


def _folded(letters: str) -> str | None:
    """Return a word as in the content; None if it is too short or long, or not a single word."""
    match tokens(schema.CONTENT, letters):
        case ((text,),) if _fewest_letters(letters) <= len(text) <= MOST_LETTERS:
            return text
    return None


def _fewest_letters(word: str) -> int:
    is_plain = word.lower() != word.upper() != word
    return FEWEST_LETTERS if is_plain else _FEWEST_OTHERWISE
