"""The step for misspelled words: one that no chunk has stands for similar words of the index.

A word that some chunk has is left alone, so a query whose words are all there finds what it finds
without this step. Names with signs or digits in them, what must not match, and phrases are meant to
the letter. A word in the dictionary of a language that a twentieth of the chunks have is not
misspelled (of the languages `WITH_LEMMAS`); it stands only for what is spelled so in another
language.

A word that one or two chunks have may be misspelled there, too. It is left alone all the same; what
it may have been meant to be is looked for only when the answer is poor, and only told.
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
"""Shorter words have too many neighbours to tell which is meant."""

MOST_LETTERS: Final = 64
"""The longest words have automata that take long, and too large ones from some 200 letters on."""

_LETTERS_FOR_TWO: Final = 7
"""Letters from which on two of them may be wrong; below only one."""

_SUGGESTIONS: Final = 3
"""Words that one may stand for."""

_SAME_BEGINNING: Final = 1
"""Letters at the beginning that are hardly ever mistyped, without which it takes far longer."""

_LEAST_ALIKE: Final = 0.6
"""What words that are spelled as in another language are alike, however much of them differs: as
two words of five letters that two edits are between."""


def similar_terms(reader: Any, text: str, most_edits: int = 2) -> list[tuple[str, float]]:
    """The words of the content and of titles that one that is in neither may stand for.

    They are spelled as in another language (`shared.query.steps.cognates`), or one letter is left
    out, doubled, changed or swapped with the next one (the distance of Damerau and Levenshtein);
    two letters only if there are none such, and in a long word.

    Args:
        reader: the reader of the index.
        text: a folded word of letters, `FEWEST_LETTERS` to `MOST_LETTERS` of them.
        most_edits: how many letters may be wrong, at most two; the second takes several times as
            long as the first.

    Returns:
        At most three terms, each with how alike it is, from 0 to 1; the most similar first, of
        those that are equally so the most frequent.
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
    """The word of the content that one of its words may have been meant to be, one edit away.

    Args:
        reader: the reader of the index.
        text: a folded word of letters.
        above: the other word is in more chunks than this.
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
    """The words that at most so many edits lead to, and their frequencies."""
    # DirectSpellChecker makes an automaton anew for each field and each number of edits.
    return _accepted(reader, FuzzyQuery.getFuzzyAutomaton(text, edits, _SAME_BEGINNING, True))


def _cognates(reader: Any, text: str) -> dict[str, int]:
    """The words that are spelled as the word may be in another language, and their frequencies."""
    pattern = spellings(text)
    if pattern is None:
        return {}
    found = _accepted(reader, RegexpQuery(Term(schema.CONTENT, pattern)).getCompiled())
    return {term: count for term, count in found.items() if len(term) >= FEWEST_LETTERS}


def _accepted(reader: Any, automaton: Any) -> dict[str, int]:
    """The terms of content and titles that an automaton accepts, with the chunks of each."""
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
"""A word of letters only, and the punctuation around it."""

_MOST_LOOKED_UP: Final = 8
"""Words of a query that similar ones are looked for, since each takes a millisecond or more."""

_MOST_LOOKED_UP_FAR: Final = 4
"""Those of them in which two letters may be wrong. With more unknown words a query is hardly
misspelled, but in another language, or on what the index does not have."""

_LEAST_SHARE: Final = 0.05
"""The share of the chunks that a language has for its dictionary to be asked: one mistyped word in
two hundred is a word of the same language, and one in 26 a word of any with a dictionary."""

_RARE: Final = 2
"""Chunks that a misspelled word may be in."""

_TIMES_AS_FREQUENT: Final = 100
"""A word that a rare one may be misspelled for is in more than so many times as many chunks."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of a query, and the most similar word that some chunk has."""

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
        self.rare: list[str] = []

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """The leaf itself, or words that are similar to it."""
        if not self._weight or occur == "must_not" or not isinstance(leaf, Word) or leaf.field:
            return leaf
        letters = _WORD.fullmatch(leaf.text)
        text = _folded(letters[1]) if letters else None
        if letters is None or text is None:
            return leaf
        frequency = self._terms.frequency(schema.CONTENT, text)
        if 0 < frequency <= _RARE and self._is_doubtful(leaf, text, occur):
            self.rare.append(letters[1])
        if frequency or self._looked_up >= _MOST_LOOKED_UP or not self._is_unknown(leaf, occur):
            return leaf
        self._looked_up += 1
        similar = similar_terms(self._reader, text, self._most_edits(text))
        if not similar:
            return leaf
        self.corrections.append(Correction(letters[1], similar[0][0]))
        return best_of(
            *(weighted(Word(term, alike=alike), self._weight * alike) for term, alike in similar)
        )

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
        """The languages of the index whose dictionaries tell what is spelled right."""
        least = _LEAST_SHARE * self._reader.maxDoc()
        fields = {code: schema.language_field(schema.CONTENT, code) for code in WITH_LEMMAS}
        return [code for code, field in fields.items() if self._terms.chunks(field) >= least]

    def _is_doubtful(self, word: Word, text: str, occur: Occur) -> bool:
        """Whether no dictionary has a word, and hardly any chunk in any form."""
        return not self._is_spelled_right(text) and all(
            self._terms.frequency(leaf.field, text) <= _RARE
            for leaf in leaves(self._on_fields(word, occur))
            if isinstance(leaf, Terms)
            for text in leaf.texts
        )


def more_frequent_words(reader: Any, words: Sequence[str]) -> Iterator[Correction]:
    """What rare words may have been meant to be, for those that are like a far more frequent one.

    Args:
        reader: the reader of the index.
        words: as they were typed.
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
    """A word as the content has it; None of what is too short or long, or no word by itself."""
    match tokens(schema.CONTENT, letters):
        case ((text,),) if FEWEST_LETTERS <= len(text) <= MOST_LETTERS:
            return text
    return None
