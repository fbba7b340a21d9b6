"""Stop words: words without a meaning of their own, such as "the" and "how", by language."""

import re
from collections import Counter, defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from zipfile import ZipFile

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
    words = _words_of_lists()[language]
    return frozenset((*words, *(word.translate(SPELLED_OUT) for word in words)))


def counted_function_words(text: str) -> Counter[str]:
    """Return how many words of a text are function words, by language."""
    languages = _languages_of_function_words()
    return Counter(code for word in _WORD.findall(text.lower()) for code in languages.get(word, ()))


@cache
def _languages_of_function_words() -> dict[str, list[str]]:
    found = defaultdict(list)
    for language, words in _words_of_lists().items():
        for word in words:
            found[word].append(language)
    return found


@cache
def _words_of_lists() -> dict[str, list[str]]:
    """Return the lists in Lucene's jar, which is read without Java: file readers run without it."""
    package = find_spec("lucene")
    assert package is not None and package.origin is not None  # noqa: S101, PT018 - a dependency
    (jar,) = Path(package.origin).parent.glob("lucene-analysis-common-*.jar")
    with ZipFile(jar) as resources:
        lists = {
            code: resources.read(f"org/apache/lucene/analysis/snowball/{name}_stop.txt").decode()
            for code, name in _LISTS.items()
        }
    return {code: _COMMENT.sub("", lines).split() for code, lines in lists.items()}
