"""Pages and sections of a text, and the headings of plain text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, TypeVar

from idx.text.cleaning import PAGE_SEPARATOR, normalize
from shared.messages import shortened
from shared.model.document import MAX_HEADING, Heading, Page, Unit

Label = TypeVar("Label")

MAX_HEADINGS: Final = 20_000  # headings of a file; those after them are ordinary text
_MAX_LINE: Final = 120  # characters of a line of plain text that is a heading

_LEVELS: Final = {
    1: "book|buch",
    2: "part|teil",
    3: "abschnitt|appendix|annex|anhang|anlage",
    4: "chapter|titel",
    5: "section|untertitel",
    6: "kapitel",
    20: "article|artikel",
}
"""Words before the number of a heading, by level."""

_NUMBER_LEVEL: Final = 7
"""Level of a heading that begins with a number, such as 2; 2.1 is one level lower."""

_SIGN_LEVEL: Final = 20  # level of a paragraph of a law, such as § 551

_WORDS: Final = "|".join(_LEVELS.values())

_TEXT: Final = rf"[ \t]*+(?P<text>(?:§|\d|(?:{_WORDS})\s)[^\r\n]{{0,{_MAX_LINE}}})(?:\r?\n|\Z)"
_FIRST: Final = re.compile(rf"(?:\A|^[ \t]*\r?\n){_TEXT}", re.IGNORECASE | re.MULTILINE)
_NEXT: Final = re.compile(_TEXT, re.IGNORECASE)

_HEADING: Final = re.compile(
    r"(?P<sign>§§?)\s?\d.*"
    rf"|(?P<word>{_WORDS})\s(?:\d+|[ivxlc]+|[a-z])\b.*"
    r"|(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s+(?P<title>[^\W\d_].*)",
    re.IGNORECASE,
)
_END_OF_SENTENCE: Final = tuple(".,;:!?")
_DATE: Final = re.compile(r"\w+\.?\s\d{4}")


@dataclass(frozen=True, slots=True)
class _Line:
    """Line of plain text that may be a heading."""

    level: int
    text: str
    start: int
    end: int
    is_number: bool


def headings(found: Iterable[tuple[int, str | None, int]]) -> tuple[Heading, ...]:
    """Return headings in the form of the index from level, text in one line, and offset."""
    named = (
        Heading(level, shortened(text, MAX_HEADING - 1), start)
        for level, text, start in found
        if text
    )
    return tuple(islice(named, MAX_HEADINGS))


def join_pages(unit: Unit, parts: Iterable[tuple[int | str, str]]) -> tuple[str, tuple[Page, ...]]:
    """Normalize and join labelled parts of a file, and return the text with their pages."""
    text, placed = joined((label, normalize(part)) for label, part in parts)
    return text, tuple(Page(unit, label, min(start, len(text))) for label, _, start in placed)


def join_sections(parts: Iterable[tuple[int, str, str]]) -> tuple[str, tuple[Heading, ...]]:
    """Normalize and join the sections of a text, and return it with its headings.

    The text of a section begins with its heading; a text without one has level 0.
    """
    text, placed = joined(((level, title), normalize(part)) for level, title, part in parts)
    return text, headings(
        (level, " ".join(normalize(title).split()), start)
        for (level, title), part, start in placed
        if level and part
    )


def joined(parts: Iterable[tuple[Label, str]]) -> tuple[str, list[tuple[Label, str, int]]]:
    """Join the texts of labelled parts, and return them with the offset of each.

    The offset of an empty part is that of the next one, or behind the end.
    """
    texts: list[str] = []
    placed: list[tuple[Label, str, int]] = []
    length = 0
    for label, text in parts:
        start = length + len(PAGE_SEPARATOR) if texts else 0
        placed.append((label, text, start))
        if text:
            texts.append(text)
            length = start + len(text)
    return PAGE_SEPARATOR.join(texts), placed


def plain_text_headings(text: str) -> tuple[Heading, ...]:
    """Return the numbered headings of plain text: ``§ 551 Deposits``, ``Chapter 2``, ``1.3 Scope``.

    A heading is a short line after a blank line or another heading; it does not end like a
    sentence. After a number there is a capital letter, and lines of a list are no headings: numbers
    of the same level with nothing between them.
    """
    lines = list(islice(_lines(text), MAX_HEADINGS))
    listed = set()
    for line, following in pairwise(lines):
        is_list = line.is_number and following.is_number and line.level == following.level
        if is_list and not text[line.end : following.start].strip():
            listed |= {line, following}
    return headings((line.level, line.text, line.start) for line in lines if line not in listed)


def _lines(text: str) -> Iterator[_Line]:
    for first in _FIRST.finditer(text):
        match: re.Match[str] | None = first
        while match and (line := _line(match)):
            yield line
            match = _NEXT.match(text, match.end())


def _line(match: re.Match[str]) -> _Line | None:
    text = match["text"].rstrip()
    heading = _HEADING.fullmatch(text)
    if heading is None or text.endswith(_END_OF_SENTENCE):
        return None
    number, title = heading["number"], heading["title"]
    if number and (title[0].islower() or _DATE.fullmatch(title)):
        return None
    if number:
        level = _NUMBER_LEVEL + number.count(".")
    elif heading["sign"]:
        level = _SIGN_LEVEL
    else:
        word = heading["word"].lower()
        level = next(level for level, words in _LEVELS.items() if word in words.split("|"))
    return _Line(level, text, match.start("text"), match.end(), is_number=bool(number))
