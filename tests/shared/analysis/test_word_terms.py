"""The terms of words that are remembered are those that the analyzer makes of a text."""

import pytest

from shared.analysis.analyzers import tokens
from shared.analysis.word_terms import WordTerms
from shared.java import vm
from shared.model import schema

TEXTS = {
    "en": "The analyses “paid” (twice) for company's e-mail: \U0001d49e co-operation, 3.5 %; ---",
    "de": "Im Häuschen gingen Müllers 𝄞-Schlüssel zum Straßenfest, z.B. am 1.5.2024",
    "fr": "L'eau des chevaux n'était qu'à 12\u202f000 km",
}


@pytest.mark.parametrize("language", TEXTS)
def test_words_have_the_terms_that_a_text_has(language: str) -> None:
    vm.start()
    field = schema.language_field(schema.CONTENT, language)
    words = TEXTS[language].split()
    known = WordTerms(field)
    expected = {word: tuple(t for terms in tokens(field, word) for t in terms) for word in words}
    for _ in range(2):
        assert known.of(words) == {word: terms for word, terms in expected.items() if terms}


def test_what_is_too_long_for_a_word_has_no_terms() -> None:
    vm.start()
    assert WordTerms(schema.CONTENT).of(["a" * 100, "b"]) == {"b": ("b",)}
