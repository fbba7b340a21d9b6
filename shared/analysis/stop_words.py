"""Stop words: words without a meaning of their own, such as "the" and "how", by language."""

import re
from functools import cache
from typing import Final

import lucene  # noqa: F401 - makes the packages org and java importable
from org.apache.lucene.analysis import StopFilter

from shared.analysis.transliteration import SPELLED_OUT

_LISTS: Final = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
"""Names of the Snowball stop word lists in Lucene, by language."""

WITH_FUNCTION_WORDS: Final = frozenset(_LISTS)
"""Languages with a list of function words, by their ISO 639-1 codes."""

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))
"""Words in capitals that are no names; where they are no operators, they are function words."""

_COMMENT: Final = re.compile(r"\|.*")


def is_function_word(language: str, word: str) -> bool:
    """Check whether a word is a function word; in capitals it is a name, such as IT or US.

    Args:
        language: a language of `WITH_FUNCTION_WORDS`.
        word: the word as typed, with the punctuation around it.
    """
    if len(word) > 1 and word.isupper() and not _OPERATORS.issuperset(_WORD.findall(word)):
        return False
    letters = word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return function_words(language).issuperset(_WORD.findall(letters))


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the function words of a language of `WITH_FUNCTION_WORDS`, in small letters."""
    # Any class of Lucene can load resources from its jars.
    file = f"/org/apache/lucene/analysis/snowball/{_LISTS[language]}_stop.txt"
    lines = StopFilter.class_.getResourceAsStream(file).readAllBytes().bytes_.decode()
    words = _COMMENT.sub("", lines).split()
    return frozenset((*words, *(word.translate(SPELLED_OUT) for word in words)))
