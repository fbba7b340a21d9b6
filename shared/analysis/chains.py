"""Chains of analyzers, and the char filters of all text fields.

Before the tokenizer, char filters write numbers and signs in one way: ``1.234,56`` and
``1,234.56``, CO₂ and CO2, C++.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import lucene  # noqa: F401 - makes the packages org and java importable
from java.nio.file import Paths
from org.apache.lucene.analysis import Analyzer
from org.apache.lucene.analysis.custom import CustomAnalyzer

from shared.analysis.languages import Step

RESOURCES: Final = Path(__file__).parent  # searched for dictionaries and lists before Lucene's own
_DECIMAL_SIGN: Final = "\u203f"  # treated as a digit (`word_parts.txt`)


def replaced(pattern: str, by: str) -> Step:
    return Step("patternReplace", {"pattern": pattern, "replacement": by})


def _thousands(sign: str, group: str = r"\d{3}") -> str:
    """Return an expression for the place behind a sign between groups of three digits.

    In India, the groups before the last one have two digits.
    """
    return (
        rf"(?<=(?<![\d.,\p{{L}}])\d{{1,3}}(?:{sign}{group}){{0,4}}{sign})"
        rf"(?=(?:{group}{sign})*\d{{3}}(?!\d|{sign}\d))"
    )


_THOUSANDS: Final = "|".join(
    (*map(_thousands, (r"\.", ",", "['\u00a0\u202f]")), _thousands(",", r"\d{2}"))
)

COMPATIBLE: Final = (
    # A footnote, an exponent or a fraction would become a part of the number before it.
    replaced("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u207b\u2150-\u215f](?<=\\d.)", " $0"),
    # Without the vowels of Thai and Lao that would become two characters, which ICU's dictionaries
    # do not have.
    Step("icuNormalizer2", {"form": "nfkc", "mode": "compose", "filter": "[^\u0e33\u0eb3]"}),
)

SIGNS: Final = Step("mapping", {"mapping": "signs.txt"})
"""Char filter for signs without a width; apostrophes, before the tokenizer and the filter of the
English possessive see them; units, and names in Japanese."""

_UPPER: Final = "A-Z\x80-\U0010ffff"
_LOWER: Final = "a-z\x80-\U0010ffff"
_LETTER: Final = "A-Z" + _LOWER
"""Letters, and all that is not ASCII."""

_REWRITTEN: Final = (
    # Numbers: the signs between thousands, the decimal sign, and zeros at the end.
    (
        r"[.,'\u00a0\u202f](?<=\d.)\d\d",
        rf"[.,'\u00a0\u202f](?=\d{{2}})(?:{_THOUSANDS})",
        "",
    ),
    (r"[.,](?<=\d.)\d", r"[.,](?=\d{1,12}(?![.,]?\d))(?<=(?<![\d.,])\d{1,12}[.,])", _DECIMAL_SIGN),
    # A bound, as each zero of a long row is a beginning.
    (
        r"[.,](?<=\d.)\d*0",
        rf"[{_DECIMAL_SIGN}0]0{{0,24}}(?!\d)(?<={_DECIMAL_SIGN}\d{{0,24}})",
        "",
    ),
    # The plural of an acronym, as in PDFs.
    (f"s(?<=[{_UPPER}]{{2}}s)", r"s(?![\p{L}\p{N}_])(?<=\p{Lu}{2}s)", ""),
    # An option of a command line; a hyphen or an ampersand between letters, or beside one, also a
    # hyphen where a line ends; and the end of an acronym, as in parseHTMLResponse.
    (rf" --?[{_LETTER}]", r"--?(?=\p{L})(?<=[^\n] --?)", "opt_"),
    (
        rf"[-&\u2010\u2011](?<=[\d{_LETTER}].)[\s\d{_LETTER}]",
        (
            r"[-&\u2010\u2011](?:(?=[\p{L}\d])(?<=\p{L}.)|(?=\p{L})(?<=\d[^&])"
            r"|[ \t]{0,4}\r?\n[ \t]{0,4}(?=\p{Ll})(?<=\p{Ll}[-\u2010]\s{1,10}))"
        ),
        "_",
    ),
    (f"[{_UPPER}]{{2}}[{_LOWER}]", r"(\p{Lu})(?=\p{Lu}\p{Ll})", "$1_"),
    # Signs that are a part of names: C++, Disney+, C#, .NET, § 5.
    (r"\+", r"\+(?<=\p{L}\+{1,2})(?!\+?\p{L})", "_plus"),
    ("#", r"#(?<=\p{L}#)(?!\p{L}|\d)", "_sharp "),
    (rf"\.[{_LETTER}]", r"\.(?=\p{L})(?<![\p{L}\p{N}\p{P}]\.)", "dot_"),
    ("\u00a7", r"\u00a7+(?:\s*(?=\d))?", "para_"),
)
"""Char filters: a pattern of Python that is in every text which the filter changes, the filter's
pattern of Java, and its replacement. Each begins with a character or a class of them: others take
several times as long."""

_NORMALIZED: Final = (
    *COMPATIBLE,
    SIGNS,
    *(replaced(pattern, by) for _, pattern, by in _REWRITTEN),
)
"""Char filters of all text fields. An `IndexWriter` gets texts that they have been applied to
(`normalized`), since each text is written to several fields, and they take most of the time of an
analysis."""

_TOKENIZER: Final = Step("icu", {"cjkAsWords": "false"})
"""Words at the boundaries of Unicode (UAX #29), those of Thai and others by ICU's dictionaries."""


@dataclass(frozen=True)
class Chain:
    filters: tuple[Step, ...]
    tokenizer: Step = _TOKENIZER
    char_filters: tuple[Step, ...] = _NORMALIZED


_WITHOUT_SIGNS: Final = re.compile(
    "[\x00-#%-\x7f\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f\u0400-\u045f\u2013\u2014\u201c-\u201e]*+"
)
"""Text with none of the signs of `signs.txt`; others may have some."""

_CHANGED: Final = tuple(re.compile(where) for where, _, _ in _REWRITTEN)


def normalized(text: str) -> str:
    """Return a text as the char filters of all text fields write it.

    Filters that would change nothing are left out: each takes longer than all these conditions.
    """
    if _DECIMAL_SIGN in text:  # only filters have written it where the conditions hold
        return _filtered(text, range(len(_NORMALIZED)))
    signs = len(COMPATIBLE)
    if not unicodedata.is_normalized("NFKC", text):
        text = _filtered(text, range(signs + 1))
    elif not _WITHOUT_SIGNS.fullmatch(text):
        text = _filtered(text, (signs,))
    return _filtered(text, [i for i, at in enumerate(_CHANGED, signs + 1) if at.search(text)])


def _filtered(text: str, numbers: Sequence[int]) -> str:
    """Return a text as some of the char filters write it."""
    if not numbers:
        return text
    return str(_normalizer(tuple(numbers)).normalize("", text).utf8ToString())


@lru_cache(maxsize=256)
def _normalizer(numbers: tuple[int, ...]) -> Analyzer:
    return built(Chain((), Step("keyword"), tuple(_NORMALIZED[number] for number in numbers)))


def built(chain: Chain) -> Analyzer:
    """Return the analyzer of a chain; threads may share it."""
    builder = CustomAnalyzer.builder(Paths.get(str(RESOURCES)))
    for step in chain.char_filters:
        builder = builder.addCharFilter(step.name, _pairs(step))
    builder = builder.withTokenizer(chain.tokenizer.name, _pairs(chain.tokenizer))
    for step in chain.filters:
        builder = builder.addTokenFilter(step.name, _pairs(step))
    return builder.build()


def _pairs(step: Step) -> list[str]:
    return [text for pair in step.parameters.items() for text in pair]
