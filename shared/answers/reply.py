"""Format of a model's reply: the text of the answer, a heading, and a quote for each citation.

    The notice period is nine months [1].
    QUOTES:
    [1] "neun Monate vor Vertragsende"

Small models deviate from it, so that it is read leniently: with Markdown, in another language,
without the heading, or with several quotes on a line. The text comes first, so that it can be
shown while it arrives.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.answers.prompt import DECLINED, QUOTES
from shared.language_models.endpoint import without_reasoning

OPENING_MARKS: Final = "\"“„«»\u2039\u203a「『'\u2018\u201a"
CLOSING_MARKS: Final = "\"”“»«\u203a\u2039」』'\u2019\u2018"
"""Quotation marks of the languages of documents; some open in one and close in another."""

_MARKUP: Final = r"[ \t*#_>•-]*"
"""Markdown before and after a heading or a number."""

_HEADINGS: Final = (
    *("quotes?", "citations?", "sources?", "references?"),
    *("zitate?", "belege?", "quellen?", "citas?", "citaten", "citazioni", "citações"),
)

_NUMBER: Final = r"[\[【](\d{1,3})[\]】]"

_BLOCK: Final = re.compile(
    # The heading on a line of its own, or before the first quote.
    rf"^{_MARKUP}(?:{'|'.join(_HEADINGS)}){_MARKUP}(?::{_MARKUP}(?=$|[\[【])|$)"
    # Without a line break before it, only as it was asked for.
    rf"|(?-i:\b{QUOTES})"
    # No heading at all.
    rf"|^{_MARKUP}(?={_NUMBER}{_MARKUP}:?{_MARKUP}[{OPENING_MARKS}])",
    re.IGNORECASE | re.MULTILINE,
)
"""Beginning of the quotes."""

_QUOTE_NUMBER: Final = re.compile(
    rf"(?:^[ \t*_>•\d.)-]*|(?<=[{CLOSING_MARKS}])[\s,;]*){_NUMBER}[ \t*_:\u2013—-]*", re.MULTILINE
)
"""Number before a quote, at the beginning of a line or after another quote."""

_BETWEEN_QUOTES: Final = re.compile(rf"[{CLOSING_MARKS}]\s*(?:[,;]\s*)?[{OPENING_MARKS}]")

_REASONING_TAG: Final = "<think>"

_UNDECIDED: Final = re.compile(
    rf"{_MARKUP}(?:\w{{0,12}}{_MARKUP}:?{_MARKUP}|[\[【]\d{{0,3}}[\]】]?{_MARKUP}:?{_MARKUP})"
)
"""Beginning of a line that may become that of the quotes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply in its parts."""

    text: str
    quotes: Sequence[tuple[int, str]]
    declined: bool


def read_reply(reply: str) -> Reply:
    """Read a whole reply."""
    reply = without_reasoning(reply)
    block = _BLOCK.search(reply)
    text = (reply[: block.start()] if block else reply).strip()
    quotes = _quotes(reply[block.end() :]) if block else []
    return Reply(text, quotes, _declines(text))


def text_so_far(reply: str) -> str:
    """Return the text of the beginning of a reply, as far as it is sure to be text.

    What is returned for a longer beginning continues it, and all of it is the beginning of the text
    of the whole reply.
    """
    if _REASONING_TAG.startswith(reply.strip().lower()):
        return ""
    reply = without_reasoning(reply)
    if block := _BLOCK.search(reply):
        text = reply[: block.start()]
    else:
        text = reply
        line = reply.rfind("\n") + 1
        if _UNDECIDED.fullmatch(reply, line):
            text = reply[:line]
        for length in range(1, len(QUOTES)):
            if text.endswith(QUOTES[:length]):
                text = text[:-length]
                break
    text = text.strip()
    may_decline = DECLINED.startswith(_bare(text).upper())
    return "" if may_decline or _declines(text) else text


def parts_of(quote: str) -> list[str]:
    """Return the quotes in one that holds several, ``"one", "two"``, or itself."""
    return [_unquoted(part) for part in _BETWEEN_QUOTES.split(quote)]


def _declines(text: str) -> bool:
    bare = _bare(text)
    first_line = bare.partition("\n")[0].rstrip("*_.!`\"' \t")
    # In small letters only by itself: "No answer came from the mast" is an answer.
    return bare.startswith(DECLINED) or first_line.upper() == DECLINED


def _bare(text: str) -> str:
    """Return a text without Markdown and marks at its beginning."""
    return text.lstrip("*_#>`\"' \t\n")


def _quotes(block: str) -> list[tuple[int, str]]:
    numbers = list(_QUOTE_NUMBER.finditer(block))
    ends = [number.start() for number in numbers[1:]] + [len(block)]
    found = [
        (int(number[1]), block[number.end() : end].strip())
        for number, end in zip(numbers, ends, strict=True)
    ]
    return [(number, quote) for number, quote in found if quote]


def _unquoted(text: str) -> str:
    return text.strip().strip(f"*_{OPENING_MARKS}{CLOSING_MARKS}").strip()
