"""Comparison of a quote with the passage that it is said to be from.

Both are compared word for word. Case, white space, the shape of quotation marks and hyphens, and
Markdown's emphasis may differ, since extraction and models change them. A quote may leave out words
where it has an ellipsis.
"""

import re
import unicodedata
from typing import Final

MIN_QUOTE_CHARACTERS: Final = 10
"""Minimum number of letters and digits of a quote, and of each part of one with an ellipsis: fewer
are in a passage by chance. Those of scripts without blanks between words count twice."""

_ELLIPSIS: Final = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")

_SHAPES: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»\u2039\u203a「」『』″", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013—―\u2212", "-"),
        "*": None,
        "|": " ",
    }
)
"""Signs that are written differently, and those of Markdown's emphasis and tables."""

_EDGES: Final = " .,;:!?-\"'()[]"
"""Signs around a quote, which models add and leave out."""

_SPACELESS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts without blanks between words, and of Korean, whose words are short."""


def is_long_enough(quote: str) -> bool:
    """Check whether a quote, and each of its parts, has enough letters to prove something."""
    parts = _parts(quote)
    return bool(parts) and all(_weight(part) >= MIN_QUOTE_CHARACTERS for part in parts)


def stands_in(quote: str, passage: str) -> bool:
    """Check whether a quote is in a passage: all its parts, in order, as whole words."""
    text, position = folded(passage), 0
    parts = _parts(quote)
    for part in parts:
        found = _find(part, text, position)
        if found < 0:
            return False
        position = found + len(part)
    return bool(parts)


def folded(text: str) -> str:
    """Return a text in the form in which quotes and passages are compared."""
    composed = unicodedata.normalize("NFKC", text.translate(_SHAPES))
    # Soft hyphens, zero-width spaces and marks of the direction of writing.
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", visible.casefold()).translate(_SHAPES).split())


def _parts(quote: str) -> list[str]:
    # Before the text is folded, which turns an ellipsis into three dots.
    parts = (folded(part).strip(_EDGES) for part in _ELLIPSIS.split(quote))
    return [part for part in parts if part]


def _weight(part: str) -> int:
    return sum(map(str.isalnum, part)) + len(_SPACELESS.findall(part))


def _find(part: str, text: str, position: int) -> int:
    """Return the offset of a part in a text from a position on, or -1."""
    while (position := text.find(part, position)) >= 0:
        end = position + len(part)
        if not _continues(text, position) and not _continues(text, end):
            return position
        position += 1
    return -1


def _continues(text: str, offset: int) -> bool:
    """Check whether a word or a number goes on over an offset of a text."""
    before, after = text[max(0, offset - 2) : offset], text[offset : offset + 2]
    if not before or not after:
        return False
    if _SPACELESS.match(before[-1]) or _SPACELESS.match(after[0]):
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return True
    # A number with a sign in it, such as 1,640 or 2.3.1.
    return (before[-1].isdigit() and after[0] in ".,:" and after[1:].isdigit()) or (
        before[-1] in ".,:" and before[:-1].isdigit() and after[0].isdigit()
    )
