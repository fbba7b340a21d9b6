"""Metadata values that contain certain words, ignoring case and accents.

The index has each value as one term, as it was written. So the words become a regular expression
for the whole value, in which each letter stands for all its forms: ``matthew`` matches values such
as ``Matthew Smith`` and ``SMITH, MATTHEW``.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from typing import Final

from shared.analysis.analyzers import folded
from shared.query.tree import Expression

_MOST_CHARACTERS: Final = 64
"""Maximum length of words that are searched within values, in characters; expressions grow with
them."""

_LETTERS_WITH_FORMS: Final = (range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x2000))
"""Latin, Greek and Cyrillic letters, including those with accents."""

_DIGRAPHS: Final = {"ae": "äÄ", "oe": "öÖ", "ue": "üÜ"}
"""Digraph spellings of umlauts."""

_MARKS: Final = "[\u0300-\u036f]*"
"""Accents that are separate characters."""

_SIGNS: Final = "".join(f"\\{sign}" for sign in map(chr, range(0x80)) if not sign.isalnum())
_BETWEEN: Final = f"[{_SIGNS}\u0080-\u00bf\u00d7\u00f7\u2000-\u206f\u3000-\u303f\uff00-\uff0f]"
"""Separators between words of a value: blanks, signs and punctuation."""

_PARTS: Final = re.compile(r"\\(?P<escaped>.)|(?P<wildcard>[*?])|(?P<other>.)", re.DOTALL)
_ANY: Final = {"*": ".*", "?": "."}

_WITHOUT_BLANKS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""Letters of scripts without blanks between words, in which a word may begin and end anywhere."""


@dataclass(frozen=True, slots=True)
class ValueWords(Expression):
    """Values of a field that contain consecutive words.

    Attributes:
        pattern: a regular expression for the values, without Lucene's optional operators.
        words: the words as typed.
    """

    words: str = ""

    def __str__(self) -> str:
        words = f'"{self.words}"' if " " in self.words else self.words
        return f"{self.field}:{words}"


def value_words(field: str, pattern: str) -> ValueWords | None:
    """Return the leaf for values that contain words.

    Args:
        field: a field of whole values.
        pattern: the words; ``*`` and ``?`` stand for any characters and for one, and a backslash
            escapes the next character.

    Returns:
        None for a pattern without letters or that is too long: it can only be a whole value.
    """
    if len(pattern) > _MOST_CHARACTERS:
        return None
    parts = list(_expressions(pattern))
    while parts and parts[0] == _BETWEEN:
        parts.pop(0)
    while parts and parts[-1] == _BETWEEN:
        parts.pop()
    if not parts:
        return None
    # A separator between words may be repeated, such as a comma and a blank.
    inner = "".join(f"{part}+" if part == _BETWEEN else part for part in parts)
    words = re.sub(r"\\(.)", r"\1", pattern)
    before = ".*" if _WITHOUT_BLANKS.match(words) else f"(.*{_BETWEEN})?"
    after = ".*" if _WITHOUT_BLANKS.match(words[-1]) else f"({_BETWEEN}.*)?"
    return ValueWords(f"{before}{inner}{after}", field, words)


def any_form(text: str) -> str:
    """Return a regular expression for a text in any case and accents; signs are literal."""
    return "".join(
        _folded_forms(run) if _is_letter(run[0]) else literal(run) for run in _runs(text)
    )


def literal(text: str) -> str:
    """Return a regular expression for a literal text."""
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in text)


def _runs(text: str) -> list[str]:
    """Return the words of a text and the separators between them."""
    return ["".join(run) for _, run in groupby(text, _is_letter)]


def _is_letter(character: str) -> bool:
    """Check whether a character is a letter, a digit, or a combining mark."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _expressions(pattern: str) -> Iterator[str]:
    """Yield expressions for the words, the wildcards and each separator of a pattern."""
    last = ""
    for is_wildcard, text in _pieces(pattern):
        for run in [text] if is_wildcard else _runs(text):
            if is_wildcard:
                last = _ANY[run]
            elif _is_letter(run[0]):
                last = _folded_forms(run)
            elif last == _BETWEEN:
                continue
            else:
                last = _BETWEEN
            yield last


def _pieces(pattern: str) -> Iterator[tuple[bool, str]]:
    text = ""
    for found in _PARTS.finditer(pattern):
        if wildcard := found["wildcard"]:
            if text:
                yield False, text
            yield True, wildcard
            text = ""
        else:
            text += found["escaped"] or found["other"]
    if text:
        yield False, text


def _folded_forms(word: str) -> str:
    """Return an expression for all forms of a word of letters and digits."""
    plain = folded(word)
    forms = _forms()
    found = []
    position = 0
    while position < len(plain):
        pair = plain[position : position + 2]
        letters = "".join(f"{_letter(letter, forms)}" for letter in pair)
        if pair in forms and len(pair) > 1:
            found.append(f"({letters}|[{forms[pair]}])")
        else:
            found.append(_letter(plain[position], forms))
            pair = plain[position]
        position += len(pair)
    return "".join(found)


def _letter(letter: str, forms: Mapping[str, str]) -> str:
    cases = {letter, *(one for one in (letter.upper(), letter.lower()) if len(one) == 1)}
    return f"[{''.join(sorted(cases | set(forms.get(letter, ''))))}]{_MARKS}"


@cache
def _forms() -> Mapping[str, str]:
    """Return the letters that are folded to each letter or pair of letters."""
    forms: dict[str, str] = defaultdict(str, _DIGRAPHS)
    for letter in map(chr, chain.from_iterable(_LETTERS_WITH_FORMS)):
        if letter.isalpha():
            plain = folded(letter)
            if len(plain) in (1, 2) and plain != letter:
                forms[plain] += letter
    return dict(forms)
