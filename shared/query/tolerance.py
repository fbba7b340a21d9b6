"""The step for misspelled words: one that no chunk has stands for similar words of the index.

A word that some chunk has is left alone, so a query whose words are all there finds what it finds
without this step. Names with signs or digits in them, what must not match, and phrases are meant to
the letter.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from org.apache.lucene.index import Term
from org.apache.lucene.search.spell import DirectSpellChecker, SuggestMode

from shared import schema
from shared.analysis.analyzers import tokens
from shared.query.presence import IndexTerms, present
from shared.query.tree import Leaf, Node, Nothing, Occur, Word, best_of, weighted

_WORD: Final = re.compile(r"\W*([^\W\d_]+)\W*")
"""A word of letters only, and the punctuation around it."""

_MOST_LOOKED_UP: Final = 8
"""Words of a query that similar ones are looked for, since each takes milliseconds."""

_FEWEST_LETTERS: Final = 5
"""Shorter words have too many neighbours to tell which is meant."""

_LETTERS_FOR_TWO: Final = 7
"""Letters from which on two of them may be wrong; below only one."""

_SUGGESTIONS: Final = 3
"""Similar words that one stands for; only the best match in a chunk counts."""

_SAME_BEGINNING: Final = 1
"""Letters at the beginning that are hardly ever mistyped, without which it takes far longer."""

_LEAST_ALIKE: Final = 0.6
"""How alike words are, from 0 to 1, by the letters that differ and the length."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of a query that no chunk has, and the most similar word that some chunk has."""

    word: str
    suggestion: str


class SimilarWords:
    """Puts similar words in the place of those that no chunk has.

    Args:
        reader: the reader to be searched.
        terms: the terms of its index.
        on_fields: what a word becomes in the step for words.
        weight: what a similar word counts for, where 1 is as much as the word itself.
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

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """The leaf itself, or words that are similar to it."""
        if not self._weight or occur == "must_not" or not isinstance(leaf, Word) or leaf.field:
            return leaf
        letters = _WORD.fullmatch(leaf.text)
        if letters is None or self._looked_up >= _MOST_LOOKED_UP:
            return leaf
        text = _folded(letters[1])
        if text is None or not self._is_unknown(leaf, text, occur):
            return leaf
        self._looked_up += 1
        similar = similar_terms(self._reader, text)
        if not similar:
            return leaf
        self.corrections.append(Correction(letters[1], similar[0][0]))
        return best_of(*(weighted(Word(term), self._weight * alike) for term, alike in similar))

    def _is_unknown(self, word: Word, text: str, occur: Occur) -> bool:
        if self._terms.frequency(schema.CONTENT, text):
            return False
        return isinstance(present(self._on_fields(word, occur), self._terms), Nothing)


def similar_terms(reader: Any, text: str) -> list[tuple[str, float]]:
    """The words of the content and of titles that a misspelled one may stand for.

    Letters may be left out, doubled, changed or swapped with the next one (the distance of Damerau
    and Levenshtein, by Lucene's ``DirectSpellChecker``).

    Args:
        reader: the reader of the index.
        text: a folded word of letters.

    Returns:
        At most three terms, each with how alike it is, from 0 to 1; the most similar first.
    """
    checker = DirectSpellChecker()
    checker.setMaxEdits(2 if len(text) >= _LETTERS_FOR_TWO else 1)
    checker.setMinPrefix(_SAME_BEGINNING)
    checker.setMinQueryLength(_FEWEST_LETTERS)
    alike: dict[str, float] = {}
    for field in (schema.CONTENT, schema.TITLE):
        term, mode = Term(field, text), SuggestMode.SUGGEST_WHEN_NOT_IN_INDEX
        for word in checker.suggestSimilar(term, _SUGGESTIONS, reader, mode, _LEAST_ALIKE):
            alike.setdefault(str(word.string), float(word.score))
    return sorted(alike.items(), key=lambda entry: -entry[1])[:_SUGGESTIONS]


def _folded(letters: str) -> str | None:
    """A word as the content has it; None of what is too short, or no word by itself."""
    match tokens(schema.CONTENT, letters):
        case ((text,),) if len(text) >= _FEWEST_LETTERS:
            return text
    return None
