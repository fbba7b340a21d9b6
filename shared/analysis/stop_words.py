"""Stop words: words without a meaning of their own, such as "the" and "how", by language."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from shared.analysis.languages import WITH_FUNCTION_WORDS

SPELLED_OUT: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
"""Digraphs in place of German letters, for `str.translate`."""

_FOLDER: Final = Path(__file__).with_name("function_words")

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))
"""Words in capitals that are no names; where they are no operators, they are function words."""


def is_capital_name(word: str) -> bool:
    """Check whether a word is in capitals, and so a name or an abbreviation, such as IT or US."""
    return len(word) > 1 and word.isupper() and word not in _OPERATORS


def function_words_in(word: str) -> frozenset[str]:
    """Return the languages in which a word is a function word; none for a name in capitals.

    Args:
        word: the word as typed, without the punctuation around it.
    """
    if is_capital_name(word):
        return frozenset()
    return _languages_of_function_words().get(word.lower().replace("\u2019", "'"), frozenset())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the function words of a language of `WITH_FUNCTION_WORDS`, in small letters."""
    lines = (_FOLDER / f"{language}.txt").read_text("utf-8").splitlines()
    words = {line.lower() for line in lines if not line.startswith("#")}
    return frozenset((*words, *(word.translate(SPELLED_OUT) for word in words)))


def counted_function_words(text: str, languages: Collection[str]) -> Counter[str]:
    """Return how many words of a text are function words, by language, of some languages."""
    known = _languages_of_function_words()
    found = (code for word in _WORD.findall(text.lower()) for code in known.get(word, ()))
    return Counter(code for code in found if code in languages)


@cache
def _languages_of_function_words() -> Mapping[str, frozenset[str]]:
    found = defaultdict(set)
    for language in WITH_FUNCTION_WORDS:
        for word in function_words(language):
            found[word].add(language)
    return {word: frozenset(languages) for word, languages in found.items()}
