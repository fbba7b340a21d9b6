"""Languages of the stems: the one table of stemmers.

A row of `LANGUAGES` is a chain of Lucene's token filters by name, as `CustomAnalyzer` takes them.
The filters before and after it are the same for all languages, see `shared.analysis.analyzers`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Step:
    """A Lucene char filter, tokenizer or token filter."""

    name: str  # of its factory in Lucene, such as ``elision``
    parameters: Mapping[str, str] = field(default_factory=dict)


def _steps(*filters: str | Step) -> tuple[Step, ...]:
    return tuple(Step(one) if isinstance(one, str) else one for one in filters)


def _snowball(language: str, *before: str, lowercase: str = "lowercase") -> tuple[Step, ...]:
    """Return a stemmer of the Snowball project, after some filters."""
    return _steps(lowercase, *before, Step("snowballPorter", {"language": language}))


def _indic(*filters: str | Step) -> tuple[Step, ...]:
    return _steps("lowercase", "decimalDigit", "indicNormalization", *filters)


_LATIN_WORDS: Final = _snowball("English")
"""Stemmer of languages whose own words have no forms, for the Latin words in their texts."""

_ONE_STEM: Final = Step(
    "patternReplace", {"pattern": "(?<=.{3}[uy])ks$|(?<=.{3}i)[ns]$", "replacement": "s"}
)
"""Filter for Finnish words whose nominative has another stem: sopimus, sopimuksen; ihminen,
ihmisen."""

_WITHOUT_PREFIXES: Final = Step(
    "patternReplace",
    {
        "pattern": "^[\u05d5\u05e9]{0,2}[\u05d4\u05d1\u05db\u05dc\u05de]?(?=[\u05d0-\u05ea]{3})",
        "replacement": "",
        "replace": "first",
    },
)
"""Filter for the articles, prepositions and conjunctions that Hebrew writes with the next word."""

LANGUAGES: Final[Mapping[str, tuple[Step, ...]]] = {
    "ar": _steps("lowercase", "decimalDigit", "arabicNormalization", "arabicStem"),
    "bg": _steps("lowercase", "bulgarianStem"),
    "bn": _indic("bengaliNormalization", "bengaliStem"),
    "ca": _snowball("Catalan"),
    "cs": _steps("lowercase", "czechStem"),
    "da": _snowball("Danish"),
    "de": _snowball("German"),
    "el": _steps("greekLowercase", "greekStem"),
    "en": _snowball("English"),
    "es": _snowball("Spanish"),
    "et": _snowball("Estonian"),
    "eu": _snowball("Basque"),
    "fa": _steps(
        *("lowercase", "decimalDigit", "arabicNormalization"),
        *("persianNormalization", "persianStem"),
    ),
    "fi": (*_snowball("Finnish"), _ONE_STEM),
    "fr": _snowball("French"),
    "ga": _snowball("Irish", lowercase="irishLowercase"),
    "gl": _steps("lowercase", "galicianMinimalStem"),
    "he": _steps("lowercase", _WITHOUT_PREFIXES),
    "hi": _indic("hindiNormalization", "hindiStem"),
    "hu": _steps("lowercase", "hungarianLightStem"),
    "hy": _snowball("Armenian"),
    "id": _steps("lowercase", Step("indonesianStem", {"stemDerivational": "false"})),
    "it": _snowball("Italian"),
    "ja": _LATIN_WORDS,
    "km": _LATIN_WORDS,
    "ko": _LATIN_WORDS,
    "ku": _steps("lowercase", "soraniNormalization", "decimalDigit", "soraniStem"),
    "lo": _LATIN_WORDS,
    "lt": _snowball("Lithuanian"),
    "lv": _steps("lowercase", "latvianStem"),
    "my": _LATIN_WORDS,
    "ne": _indic(Step("snowballPorter", {"language": "Nepali"})),
    "nl": _snowball("Dutch"),
    "no": _snowball("Norwegian"),
    "pl": _steps("lowercase", "morfologik"),
    "pt": _snowball("Portuguese"),
    "ro": _snowball("Romanian", "romanianNormalization"),
    "ru": _snowball("Russian"),
    "sr": _snowball("Serbian", "serbianNormalization"),
    "sv": _steps("lowercase", "swedishLightStem"),
    "ta": _indic(Step("snowballPorter", {"language": "Tamil"})),
    "te": _indic("teluguNormalization", "teluguStem"),
    "th": _LATIN_WORDS,
    "tr": _snowball("Turkish", lowercase="turkishLowercase"),
    "uk": _steps("lowercase", Step("morfologik", {"dictionary": "ua/net/nlp/ukrainian.dict"})),
    "yi": _snowball("Yiddish"),
    "zh": (*_LATIN_WORDS, Step("icuTransform", {"id": "Traditional-Simplified"})),
}
"""Filters that make the stems of each language, by its ISO 639-1 code."""

SPELLED_OUT: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
"""Digraphs in place of German letters, for `str.translate`."""

UNDETERMINED: Final = "und"
"""Code of a text whose language is not known (ISO 639-2); its words are folded only."""

WITH_DICTIONARY: Final = ("de", "en", "es", "fr", "it", "nl", "pt")
"""Languages with a dictionary, which tells the lemma of a word, and whether it is misspelled."""

WITH_COMPOUNDS: Final = frozenset(("da", "de", "fi", "hu", "nl", "no", "sv"))
"""Languages that write compounds as one word."""

WITH_FUNCTION_WORDS: Final = frozenset(
    (
        *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "eu", "fa", "fi", "fr", "gl"),
        *("hi", "hu", "hy", "id", "it", "lt", "lv", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sr"),
        *("sv", "ta", "te", "th", "tr", "uk"),
    )
)
"""Languages with a list of function words, `function_words/LANGUAGE.txt`."""
