"""Words that say nothing by themselves, such as "the" and "how", by language."""

import re
from functools import cache
from typing import Final

from org.apache.lucene.analysis import StopFilter

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
"""Languages that Lucene has a list of the Snowball project for, by the name of its file."""

WITH_FUNCTION_WORDS: Final = frozenset(_LISTS)
"""The languages whose function words are known, by their ISO 639-1 codes."""

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_COMMENT: Final = re.compile(r"\|.*")


def is_function_word(language: str, word: str) -> bool:
    """Whether a word says nothing by itself.

    Args:
        language: one of `WITH_FUNCTION_WORDS`.
        word: as it was typed, with the punctuation around it.
    """
    letters = word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return _function_words(language).issuperset(_WORD.findall(letters))


@cache
def _function_words(language: str) -> frozenset[str]:
    # Any class of Lucene finds what is in its jars.
    file = f"/org/apache/lucene/analysis/snowball/{_LISTS[language]}_stop.txt"
    lines = StopFilter.class_.getResourceAsStream(file).readAllBytes().bytes_.decode()
    return frozenset(_COMMENT.sub("", lines).split())
