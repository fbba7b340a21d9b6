"""Analysis chains of the languages: the one table of tokenizers, dictionaries and stemmers.

A row of `LANGUAGES` is a chain of Lucene's factories by name, as `CustomAnalyzer` takes them. With
a dictionary of lemmas, words are folded first, looked up, and stemmed lightly only if the
dictionary does not have them. With a stemmer only, it precedes folding, since it needs the accents
of its language.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Step:
    """A Lucene tokenizer or token filter.

    Attributes:
        name: the name of its factory in Lucene, such as ``elision``.
        parameters: the parameters of that factory.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Chain:
    """An analysis chain: a tokenizer, then token filters in order."""

    tokenizer: Step
    filters: tuple[Step, ...]


def chain(*filters: str | Step, tokenizer: str | Step = "standard") -> Chain:
    """Return a chain of steps; those without parameters may be given by name."""
    return Chain(_step(tokenizer), tuple(map(_step, filters)))


def _step(step: str | Step) -> Step:
    return Step(step) if isinstance(step, str) else step


_ELISION: Final = Step("elision", {"articles": "elision.txt"})

FOLDED: Final = ("lowercase", "icuFolding", _ELISION)
"""Token filters that make "Café" and "cafe" one term (Unicode Technical Report 30), and "l'eau"
"eau"."""

KNOWN: Final = " "
"""Suffix of the lemmas in the dictionaries, which makes stemmers leave them unchanged."""


def _lemmas(language: str, stemmer: str | Step) -> Chain:
    """Return a chain with lemmas of `shared/analysis/lemmas`, and a stemmer for other words."""
    return chain(*FOLDED, _lookup(language), stemmer, "trim")


def dictionary_lookup(language: str) -> Chain:
    """Return the chain that only looks words up in the dictionary of one of `WITH_LEMMAS`.

    The lemmas keep the suffix `KNOWN`.
    """
    return chain(*FOLDED, _lookup(language))


def _lookup(language: str) -> Step:
    return Step("morfologik", {"dictionary": f"lemmas/{language}.dict"})


def _stems(*filters: str | Step, lowercase: str = "lowercase") -> Chain:
    return chain(lowercase, *filters, "icuFolding")


def _snowball(language: str) -> Step:
    """Return a stemmer of the Snowball project, for languages without a lighter one in Lucene."""
    return Step("snowballPorter", {"language": language})


_BIGRAMS: Final = chain(*FOLDED, "cjkBigram")
_DICTIONARY_SEGMENTATION: Final = chain(*FOLDED, tokenizer="icu")

LANGUAGES: Final[Mapping[str, Chain]] = {
    # With a dictionary of lemmas.
    "de": _lemmas("de", "germanLightStem"),
    "en": chain(*FOLDED, "englishPossessive", _snowball("English")),
    "es": _lemmas("es", "spanishLightStem"),
    "fr": _lemmas("fr", "frenchLightStem"),
    "it": _lemmas("it", "italianLightStem"),
    "nl": _lemmas("nl", _snowball("Dutch")),
    "pl": _stems("morfologik"),
    "pt": _lemmas("pt", "portugueseLightStem"),
    "uk": _stems(Step("morfologik", {"dictionary": "ua/net/nlp/ukrainian.dict"})),
    # With a stemmer.
    "ar": _stems("decimalDigit", "arabicNormalization", "arabicStem"),
    "bg": _stems("bulgarianStem"),
    "bn": _stems("decimalDigit", "indicNormalization", "bengaliNormalization", "bengaliStem"),
    "ca": _stems(_ELISION, _snowball("Catalan")),
    "cs": _stems("czechStem"),
    "da": _stems(_snowball("Danish")),
    "el": _stems("greekStem", lowercase="greekLowercase"),
    "et": _stems(_snowball("Estonian")),
    "eu": _stems(_snowball("Basque")),
    "fa": _stems("decimalDigit", "arabicNormalization", "persianNormalization", "persianStem"),
    "fi": _stems(_snowball("Finnish")),
    "ga": _stems(_ELISION, _snowball("Irish"), lowercase="irishLowercase"),
    "gl": _stems("galicianMinimalStem"),
    "hi": _stems("decimalDigit", "indicNormalization", "hindiNormalization", "hindiStem"),
    "hu": _stems("hungarianLightStem"),
    "hy": _stems(_snowball("Armenian")),
    "id": _stems(Step("indonesianStem", {"stemDerivational": "false"})),
    "ku": _stems("soraniNormalization", "decimalDigit", "soraniStem"),
    "lt": _stems(_snowball("Lithuanian")),
    "lv": _stems("latvianStem"),
    "ne": _stems("decimalDigit", "indicNormalization", _snowball("Nepali")),
    "no": _stems(_snowball("Norwegian")),
    "ro": _stems("romanianNormalization", _snowball("Romanian")),
    "ru": _stems("russianLightStem"),
    "sr": _stems("serbianNormalization", _snowball("Serbian")),
    "sv": _stems("swedishLightStem"),
    "ta": _stems("decimalDigit", "indicNormalization", _snowball("Tamil")),
    "te": _stems("decimalDigit", "indicNormalization", "teluguNormalization", "teluguStem"),
    "tr": _stems("apostrophe", _snowball("Turkish"), lowercase="turkishLowercase"),
    "yi": _stems(_snowball("Yiddish")),
    # Without blanks between words: bigrams, which need no dictionary and find every word of two
    # characters or more.
    "ja": _BIGRAMS,
    "ko": _BIGRAMS,
    "zh": _BIGRAMS,
    # Without blanks between words: the dictionaries of ICU.
    "km": _DICTIONARY_SEGMENTATION,
    "lo": _DICTIONARY_SEGMENTATION,
    "my": _DICTIONARY_SEGMENTATION,
    "th": _DICTIONARY_SEGMENTATION,
}
"""Chain of each language, by its ISO 639-1 code."""

FOLDED_LAST: Final = frozenset(
    code for code, steps in LANGUAGES.items() if steps.filters[-1].name == "icuFolding"
)
"""Languages whose stemmer needs the accents."""

UNDETERMINED: Final = "und"
"""Code of a text whose language is not known (ISO 639-2); its words are folded only."""

WITH_LEMMAS: Final = ("de", "en", "es", "fr", "it", "nl", "pt")
"""Languages with lemmas, in all of which a short text is indexed if its language is unknown."""

WITH_BIGRAMS: Final = frozenset(code for code, steps in LANGUAGES.items() if steps is _BIGRAMS)
"""Languages whose terms are bigrams."""

WITHOUT_BLANKS: Final = WITH_BIGRAMS | {
    code for code, steps in LANGUAGES.items() if steps is _DICTIONARY_SEGMENTATION
}
"""Languages without blanks between words."""
