"""The words of an index that a word of a query may stand for."""

from difflib import SequenceMatcher
from typing import Any, Final

from org.apache.lucene.index import MultiTerms, Term, TermsEnum
from org.apache.lucene.search import FuzzyQuery, RegexpQuery
from org.apache.lucene.search.spell import DirectSpellChecker, SuggestMode
from org.apache.lucene.util import BytesRefIterator

from shared import schema
from shared.cancellation import check
from shared.query.cognates import spellings

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

    They are spelled as in another language (`shared.query.cognates`), or one letter is left out,
    doubled, changed or swapped with the next one (the distance of Damerau and Levenshtein); two
    letters only if there are none such, and in a long word.

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
