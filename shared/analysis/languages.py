"""Languages: the one table of stemmers, and function words.

A row of `LANGUAGES` is a chain of Lucene's token filters by name, as `CustomAnalyzer` takes them.
The filters before and after it are the same for all languages, see `shared.analysis.analyzers`.

Function words have no meaning of their own, such as "the" and "how". A query is searched without
those of its own language, if it has other words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Step:
    name: str  # of its factory in Lucene, such as ``elision``
    parameters: Mapping[str, str] = field(default_factory=dict)


def _steps(*filters: str | Step) -> tuple[Step, ...]:
    return tuple(Step(one) if isinstance(one, str) else one for one in filters)


def _snowball(language: str, *before: str | Step, lowercase: str = "lowercase") -> tuple[Step, ...]:
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

_ONE_STEM_IN_MA: Final = Step(
    "patternReplace", {"pattern": "(?<=\u03bc)\u03b1$", "replacement": ""}
)
"""Filter for Greek nouns in -ma, whose other forms have another stem: μίσθωμα, μισθώματος."""

_GERMAN_VERBS: Final = Step(
    "patternReplace",
    {
        "pattern": "(?<=..(?:ig|[^c]h|[hn]n|hl|hr|tz|ck|pf|ll|mm|pp|ng|[^bw]e[lr]"
        "|[aeiou\u00e4\u00f6\u00fc][bg]))(?<![^n]ner|hunder|konzer|exper|offer|entgel|gef\u00e4hr)t(?:e[mnrs]?)?$"
        "|(?<=..[dt]|..(?:ch|ff|rd|eg)n)et(?:e[mnrs]?)?$",
        "replacement": "en",
    },
)
"""Filter for forms of German verbs that the stemmer leaves apart: bezahlt, lieferte, installiert,
arbeitet. After other letters, -t is as often that of a noun, Markt, Dienst, or of a name, Robert,
Steinert."""

_DUTCH_ENDINGS: Final = Step(
    "patternReplace",
    {"pattern": "(?<=ie|s)s$|(?<=..e[lrn]|..d|.[^r][bgkmpvw])t$|(?<=..e[lr])d$", "replacement": ""},
)
"""Filter for Dutch endings that the stemmer leaves: sessies, salarissen, ontwikkelt, geregeld."""

_PREFIX: Final = "[\u05d5\u05e9\u05d4\u05d1\u05db\u05dc\u05de](?=[\u05d0-\u05ea]{3})"
_HEBREW_PREFIXES: Final = Step(
    "patternCaptureGroup", {"pattern": f"^{_PREFIX}({_PREFIX}({_PREFIX}(.+)|.+)|.+)$"}
)
"""Filter for the articles, prepositions and conjunctions that Hebrew writes with the next word.

A word may begin with such a letter itself, so that a text has each form, and the whole comes first.
"""

_HEBREW_ENDINGS: Final = (
    # Those of the plural and the feminine; the forms of letters at the end of a word.
    Step(
        "patternReplace",
        {
            "pattern": "(?<=[\u05d0-\u05ea]{3})"
            "(?:\u05d9?\u05d5\u05ea|\u05d9[\u05dd\u05ea]|\u05d4)$",
            "replacement": "",
        },
    ),
    *(
        Step("patternReplace", {"pattern": f"{final}$", "replacement": other})
        for final, other in zip(
            "\u05da\u05dd\u05df\u05e3\u05e5", "\u05db\u05de\u05e0\u05e4\u05e6", strict=True
        )
    ),
)

_WITHOUT_ACCUSATIVE: Final = Step(
    "patternReplace", {"pattern": "\u064b[\u0627\u0649]?$|[\u0627\u0649]\u064b$", "replacement": ""}
)
"""Filter for the ending of the Arabic accusative, where its vowels are written."""

LANGUAGES: Final[Mapping[str, tuple[Step, ...]]] = {
    "ar": _steps(
        *("lowercase", "decimalDigit", _WITHOUT_ACCUSATIVE, "arabicNormalization", "arabicStem"),
    ),
    "bg": _steps("lowercase", "bulgarianStem"),
    "bn": _indic("bengaliNormalization", "bengaliStem"),
    "ca": _snowball("Catalan"),
    "cs": _steps("lowercase", "czechStem"),
    "da": _snowball("Danish"),
    "de": _snowball("German", _GERMAN_VERBS),
    "el": _steps("greekLowercase", "greekStem", _ONE_STEM_IN_MA),
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
    "he": _steps("lowercase", *_HEBREW_ENDINGS, _HEBREW_PREFIXES),
    "hi": _indic("hindiNormalization", "hindiStem"),
    "hu": _steps("lowercase", "hungarianLightStem"),
    "hy": _snowball("Armenian"),
    "id": _steps("lowercase", "indonesianStem"),
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
    "nl": (*_snowball("Dutch"), _DUTCH_ENDINGS),
    "no": _snowball("Norwegian"),
    "pl": _steps("lowercase", "morfologik"),
    "pt": _snowball("Portuguese"),
    "ro": _snowball("Romanian", "romanianNormalization"),
    "ru": _snowball("Russian"),
    "sr": _snowball("Serbian", "serbianNormalization"),
    "sv": _snowball("Swedish"),
    "ta": _indic(Step("snowballPorter", {"language": "Tamil"})),
    "te": _indic("teluguNormalization", "teluguStem"),
    "th": _LATIN_WORDS,
    "tr": _snowball("Turkish", lowercase="turkishLowercase"),
    "uk": _steps("lowercase", Step("morfologik", {"dictionary": "ua/net/nlp/ukrainian.dict"})),
    "vi": _steps("lowercase"),
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

WITH_IRREGULAR_FORMS: Final = frozenset(
    (
        *WITH_DICTIONARY,
        *("ar", "bg", "ca", "cs", "da", "el", "fa", "fi", "hu", "id", "lt", "lv", "no"),
        *("ro", "ru", "sr", "sv", "tr", "uk"),
    )
)
"""Languages with lists of words whose forms have several stems, ``lemmas/CODE.*.txt``."""

WITH_TONES: Final = frozenset(("vi",))
"""Languages whose words differ in the marks of their letters alone, which their stems keep."""

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

PUNCTUATION: Final = "()[]{}<>,;:.!?\"'`*„“”‚‘’«»‹›…¿¡–—"  # noqa: RUF001 - as in texts

COMBINING: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3"
)
r"""Characters beside a letter, such as the vowels of India, which ``\w`` lacks."""

WITHOUT_BLANKS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Letters of Thai, Lao, Burmese and Khmer, which have no blanks between words."""

LEAST_SHARE: Final = 0.05
"""Minimum share of the chunks in a language for its function words to be recognized, and for its
dictionary to be consulted: "sea" is a form of "to be" in Spanish, which matters only if Spanish may
be meant; and one mistyped word in 26 is a word of some language with a dictionary, but only one in
two hundred is a word of the same language."""

_FEWEST_OF_OTHERS: Final = 2
"""Minimum number of function words of a language with fewer chunks, and of no other one, by which a
query is in it."""

_REMEMBERED: Final = 10_000  # words of queries

_FOLDER: Final = Path(__file__).parent

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_ABBREVIATION: Final = re.compile(r"(?:[a-z]\.)+[a-z]")
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))
"""Words in capitals that are no names; where they are no operators, they are function words."""


def is_capital_name(word: str) -> bool:
    """Check whether a word is in capitals, and so a name or an abbreviation, such as IT or US."""
    return len(word) > 1 and word.isupper() and word not in _OPERATORS


def function_words_in(word: str) -> frozenset[str]:
    """Return the languages in which a word is a function word; none for a name in capitals.

    It is as typed, but without the punctuation around it.
    """
    if is_capital_name(word):
        return frozenset()
    return _languages_of_words().get(word.lower().replace("\u2019", "'"), frozenset())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the function words of a language of `WITH_FUNCTION_WORDS`, in small letters."""
    lines = _lines(_FOLDER / "function_words" / f"{language}.txt")
    words = {line.lower() for line in lines}
    return frozenset((*words, *(word.translate(SPELLED_OUT) for word in words)))


def month_names() -> Iterator[tuple[str, int]]:
    """Yield the names of the months in many languages, each with the number of its month."""
    for number, line in enumerate(_lines(_FOLDER / "months.txt"), 1):
        yield from ((name, number) for name in line.split())


def counted_function_words(text: str, languages: Collection[str]) -> Counter[str]:
    """Return how many words of a text are function words, by language, of some languages."""
    known = _languages_of_words()
    found = (code for word in _WORD.findall(text.lower()) for code in known.get(word, ()))
    return Counter(code for code in found if code in languages)


@cache
def _languages_of_words() -> Mapping[str, frozenset[str]]:
    found = defaultdict(set)
    for language in WITH_FUNCTION_WORDS:
        for word in function_words(language):
            found[word].add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


def _lines(file: Path) -> list[str]:
    return [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]


def left_out_of_query(
    words: Sequence[str], shares: Mapping[str, float]
) -> tuple[list[bool], str | None]:
    """Return which words of a query are function words in its language, and that language.

    A part that is more than a word is an empty text. The shares of the languages in the index
    decide on likely ones; there is no language if the function words tell none, or several.
    """
    # A text without a language may be in any one.
    known = set(
        WITH_FUNCTION_WORDS if UNDETERMINED in shares else WITH_FUNCTION_WORDS & shares.keys()
    )
    is_open = shares.keys() <= {UNDETERMINED}
    common = known if is_open else {c for c in known if shares.get(c, 0.0) >= LEAST_SHARE}
    texts = [word.strip(PUNCTUATION) for word in words]
    empty_in = [known & _empty_in(text) for text in texts]
    lowered = [text.lower() for text in texts]
    for number, word in enumerate(lowered):
        for language, measures in _asking_words().get(word, ()):
            following = lowered[number + 1 : number + 2]
            if language in known and (not measures or measures.intersection(following)):
                empty_in[number].add(language)
                if measures:
                    empty_in[number + 1].add(language)
    counts = Counter(chain.from_iterable(empty_in))
    most = max(map(counts.__getitem__, common), default=0)
    fewest = max(most + 1, _FEWEST_OF_OTHERS)
    likely = {code: n for code, n in counts.items() if code in common or n >= fewest}
    most = max(likely.values(), default=0)
    meant = {language for language, count in likely.items() if count == most}
    of_query = next(iter(meant)) if len(meant) == 1 else None
    return [not meant.isdisjoint(languages) for languages in empty_in], of_query


@lru_cache(maxsize=_REMEMBERED)
def _empty_in(text: str) -> frozenset[str]:
    """Return the languages in which a word is a function word; all for an abbreviation."""
    found = WITH_FUNCTION_WORDS
    if not _ABBREVIATION.fullmatch(text):
        # Either of two words may be meant, as in and/or.
        for word in text.split("/"):
            found &= function_words_in(word)
    return found


@cache
def _asking_words() -> Mapping[str, Sequence[tuple[str, frozenset[str]]]]:
    """Return the words that ask, with their languages.

    Some only do so before the name of a measure; for others there are no names.
    """
    found = defaultdict(list)
    for line in _lines(_FOLDER / "asking.txt"):
        before, _, after = line.partition(":")
        language, *asking = before.split()
        measures = frozenset(after.split())
        for word in asking[:-1] if measures else asking:
            found[word].append((language, frozenset[str]()))
        if measures:
            found[asking[-1]].append((language, measures))
    return found
