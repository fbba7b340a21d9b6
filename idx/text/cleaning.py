"""Normalization of extracted text for search and display, and its pages, sections and headings.

The text of PDF and Office files contains traces of layout that nobody types into a query:
ligatures, hyphens at line ends, invisible characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, TypeVar

from shared.messages import shortened
from shared.model.document import MAX_HEADING, Heading, Page, Unit

Label = TypeVar("Label")

CELL_SEPARATOR: Final = " | "  # separator of the cells in a table row, which is one line

PAGE_SEPARATOR: Final = "\n\n"

_LINE_BREAK: Final = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028]")

# Scripts in which a joiner changes the adjacent letters, and emoji, which it combines.
_JOINING: Final = (
    "\u0600-\u0dff"  # Arabic, Syriac, N'Ko; the scripts of India and Sri Lanka
    "\u0f00-\u109f"  # Tibetan, Myanmar
    "\u1780-\u18af"  # Khmer, Mongolian
    "\u1a20-\u1aaf\u1b00-\u1c4f\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\uabc0-\uabff"
    "\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f"
    "\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff"
)
# Scripts without spaces, which mark the ends of words with a zero-width space.
_SPACELESS: Final = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1980-\u1aaf"

_COMPATIBLE: Final = re.compile(
    "[^\xb2\xb3\xb9\u2070-\u207f"  # superscripts
    "\xbc-\xbe\u2150-\u215f\u2189"  # fractions
    "\xa8\xaf\xb4\xb8\u02d8-\u02dd"  # spacing accents
    "\u0e33\u0eb3]+"  # the vowel am of Thai and Lao, which is typed as one character
)
"""Characters that may take their compatibility form.

The others keep their form: NFKC turns 10⁶ into 106, and a spacing accent into a space with an
accent.
"""

_SOFT_HYPHEN: Final = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # control characters except tab and line feed
    "\u034f\u180e\u2060-\u2064\ufeff"  # other characters without width
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidirectional controls
    "\ufff9-\ufffd"  # annotations, and U+FFFD for undecodable characters
    "\uf000-\uf0ff"  # symbols of symbol fonts, such as bullets
    "\ufdd2-\ufdef\ufffe\uffff\ud800-\udfff"  # noncharacters and surrogates
    "\U000e0000-\U000e0fff]+"  # tags, which models read
)
_NEEDLESS_JOINER: Final = re.compile(f"[\u200c\u200d](?<![{_JOINING}].)")
_NEEDLESS_BREAK: Final = re.compile(f"\u200b(?<![{_SPACELESS}].)")

_HYPHENATION: Final = re.compile(
    r"[-\u2010]\n(?<=(\w)..)(?=(\w))"
    # "pre- and post-war", "Vor- und Nachteile": the hyphen replaces the rest of the word.
    r"(?!(?:and|or|to|nor|und|oder|bis|sowie|bzw|en|of|och|og|eller|et|ou)\b)",
    re.DOTALL,
)
_BLANK_LINES: Final = re.compile(r"\n{3,}")
_KEPT_BLANK: Final = "\ufdd0"
_KEPT_TAB: Final = "\ufdd1"
"""Noncharacters of Unicode in place of white space that is kept; no text has them."""

_KEPT: Final = str.maketrans({" ": _KEPT_BLANK, "\t": _KEPT_TAB})
_RESTORED: Final = str.maketrans({_KEPT_BLANK: " ", _KEPT_TAB: "\t"})


def preformatted(text: str) -> str:
    """Return a text in which `normalize` keeps blanks and tabs, such as source code."""
    return text.translate(_KEPT)


def normalize(text: str) -> str:
    """Normalize text for search and display.

    - Unicode's compatibility form NFKC: ligatures become letters, wide and styled letters plain.
      Superscripts, fractions and spacing accents are kept.
    - Soft hyphens are removed. A hyphen at a line end is removed with the line break if both
      adjacent letters are lower case ("exam-", "ple"), unless a conjunction follows ("pre-", "and
      post-war").
    - Characters without meaning are removed: control characters, bidirectional controls, zero-width
      characters, U+FFFD, the bullets of symbol fonts. Joiners are kept in the scripts and emoji
      that need them, zero-width spaces in the scripts that mark the ends of words with them.
    - White space is reduced to one space, one line break, or one blank line between paragraphs,
      except within lines of `preformatted` text.
    """
    text = _LINE_BREAK.sub("\n", text.replace("\u2029", PAGE_SEPARATOR))
    if not text.isascii():
        text = _COMPATIBLE.sub(lambda part: unicodedata.normalize("NFKC", part[0]), text)
        text = _SOFT_HYPHEN.sub("", text)
        text = _NEEDLESS_BREAK.sub("", _NEEDLESS_JOINER.sub("", text))
    text = _INVISIBLE.sub("", text)
    # Splitting and joining is ten times faster than a regular expression.
    text = "\n".join([" ".join(line.split()) for line in text.split("\n")])
    text = _HYPHENATION.sub(_without_hyphen, text)
    if _KEPT_BLANK in text or _KEPT_TAB in text:
        restored = text.translate(_RESTORED)
        text = "\n".join([line.rstrip(" \t") for line in restored.split("\n")])
    return _BLANK_LINES.sub(PAGE_SEPARATOR, text).strip("\n")


def _without_hyphen(hyphenation: re.Match[str]) -> str:
    before, after = hyphenation.groups()
    return "" if before.islower() and after.islower() else hyphenation[0]


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
