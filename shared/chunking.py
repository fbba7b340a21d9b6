"""Chunks: the windows of words in which a text is indexed, and the place of each in its document.

A word is a run of characters other than space, tab, line feed and carriage return; every other
character, including the no-break space, is part of a word. A text of up to 250 words is one chunk
and is kept unchanged. A longer one is cut into windows of 250 words, each starting 210 words after
the previous one, so that two neighbours share 40 words. The window that reaches the last word is
the last.

The layout decides on the text of a window:

- ``join``: its words, joined by single spaces.
- ``keep``: the text as it stands, from the indentation of its first line on. In scripts without
  blanks between words, words are those of ICU (`separate`). A window of more than
  3,000 characters ends earlier: at the end of a line, else of a sentence, else of a word in its
  last third, else within a long word. The next one begins 40 words before that end, or as many as
  have no more than 750 characters.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from shared.model.document import (
    OVERLAP,
    STEP,
    WORDS_PER_CHUNK,
    Chunk,
    Document,
    Heading,
    Place,
    chunk_id,
    chunk_title,
)
from shared.settings.defaults import Layout

MAX_CHARACTERS: Final = 3_000
"""Maximum length of a chunk in the layout ``keep``, in characters."""

_MAX_INDENTATION: Final = 200
"""Maximum number of blanks before the first word of a chunk that belong to it."""

_MAX_REPEATED: Final = MAX_CHARACTERS // 4
"""Maximum length of the words that are repeated after a window that ends early, in characters."""

_BLANKS: Final = " \t\n\r"

_WORD: Final = re.compile(r"[^ \t\n\r]+")
# Possessive, so that matching never backtracks over a text of megabytes.
_BLANK: Final = re.compile(r"[ \t\n\r]*+")

_WINDOW: Final = re.compile(
    rf"[^ \t\n\r]++(?:[ \t\n\r]++[^ \t\n\r]++){{0,{WORDS_PER_CHUNK - 1}}}+(?P<rest>[ \t\n\r]*+)"
)

_ADVANCE: Final = re.compile(rf"(?:[^ \t\n\r]++[ \t\n\r]++){{{STEP}}}+")

_ENDS: Final = (
    re.compile(r"(?<=\S)(?=[ \t]*[\n\r])"),
    re.compile(
        "[.!?\u2026][\"'\u00bb\u201d\u2019)\\]]*(?=\\s)|[\u3002\uff01\uff1f][\u300d\u300f\uff09]*"
    ),
    re.compile(r"(?<=\S)(?=[ \t])"),
    re.compile(r"[^\w\s]"),
)
"""Patterns after whose matches a long window may end, the best first: the ends of lines, of
sentences and of words, and signs within words."""


SCRIPTS_WITHOUT_BLANKS: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts that ICU divides into words by dictionaries, as the inside of a character class."""

_RUN: Final = re.compile(f"[{SCRIPTS_WITHOUT_BLANKS}][^ \\t\\n\\r]*+")

_BEYOND_16_BITS: Final = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class _Window:
    """Part of a text: the offset of its first character, that after its last, and the number of
    words of the text up to there.
    """

    start: int
    end: int
    words: int


def chunks(source_document: str, title: str, text: str, layout: Layout = "join") -> Iterator[Chunk]:
    """Yield the chunks of a document in order; a blank text has none."""
    # The windows are counted first, and their texts are made one at a time: a text may have
    # hundreds of megabytes.
    windows = list((_joined if layout == "join" else _kept)(text))
    if len(windows) == 1 and (layout == "join" or len(text) <= MAX_CHARACTERS):
        windows = [_Window(0, len(text), windows[0].words)]
    for index, window in enumerate(windows, start=1):
        yield Chunk(
            id=chunk_id(source_document, index),
            title=chunk_title(title, index, len(windows)),
            content=(
                " ".join(_WORD.findall(text, window.start, window.end))
                if layout == "join" and len(windows) > 1
                else text[window.start : window.end]
            ),
            source_document=source_document,
            index=index,
            start=window.start,
            end=window.end,
            count=len(windows),
            words=windows[-1].words,
        )


def _joined(text: str) -> Iterator[_Window]:
    """Yield the windows of a text, each with the number of words up to its end."""
    if not text.strip():
        return
    start, before = _end(_BLANK, text, 0), 0
    while window := _WINDOW.match(text, start):
        end = window.start("rest")
        yield _Window(start, end, before + len(_WORD.findall(text, start, end)))
        if window.end() == len(text):
            return
        start, before = _end(_ADVANCE, text, start), before + STEP


def _kept(text: str) -> Iterator[_Window]:
    """Yield the windows of a text in the layout ``keep``; see `_joined`."""
    separated = separate(text)
    for window in _bounded(separated.text):
        yield replace(
            window, start=separated.original(window.start), end=separated.original(window.end)
        )


def _bounded(text: str) -> Iterator[_Window]:
    text = text.rstrip(_BLANKS)
    word, before = _end(_BLANK, text, 0), 0
    while window := _WINDOW.match(text, word, _limit(text, word) + 1):
        start, limit = word - _indentation(text, word), _limit(text, word)
        end = window.start("rest")
        count = len(_WORD.findall(text, word, end))
        is_last = window.end() == len(text)
        if end <= limit and (is_last or count == WORDS_PER_CHUNK):
            yield _Window(start, end, before + count)
            if is_last:
                return
            word, before = _end(_ADVANCE, text, word), before + STEP
            continue
        end = _last_end(text, limit)
        words = [match.start() for match in _WORD.finditer(text, word, end)]
        following = _end(_BLANK, text, end)
        is_within_word = following == end
        near = len(words) - bisect_left(words, following - _MAX_REPEATED)
        repeated = 0 if is_within_word else min(OVERLAP, near)
        # Without an overlap, the blanks between two windows belong to the first one.
        yield _Window(start, end if repeated else min(following, limit), before + len(words))
        word = words[-repeated] if repeated else following
        before += len(words) - repeated - is_within_word


def _limit(text: str, word: int) -> int:
    """Return the offset at which a window that begins with a word ends at the latest."""
    return word - _indentation(text, word) + MAX_CHARACTERS


def _indentation(text: str, word: int) -> int:
    """Return the number of blanks between the beginning of a line and its first word."""
    beginning = max(0, word - _MAX_INDENTATION)
    before = text[beginning:word]
    line = re.split(r"[\n\r]", before)[-1]
    is_whole = len(line) < len(before) or beginning == 0
    return len(line) if is_whole and not line.strip(" \t") else 0


def _last_end(text: str, limit: int) -> int:
    """Return the offset where a window that is too long ends best."""
    earliest = limit - MAX_CHARACTERS // 3
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, earliest, limit + 1)]
        end = max((end for end in ends if end <= limit), default=None)
        if end is not None:
            return end
    while limit > earliest and unicodedata.combining(text[limit]):
        limit -= 1
    return limit


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


@dataclass(frozen=True, slots=True)
class Separated:
    """A text with a blank between all its words."""

    text: str
    starts: Sequence[int]  # offsets in the original of the words that have no blank before them

    def original(self, offset: int) -> int:
        """Return the offset in the original text of a character of this one."""
        # Each blank inserted before a word moves those after it.
        inserted = range(len(self.starts))
        return offset - bisect_left(inserted, offset, key=lambda blank: self.starts[blank] + blank)


def separate(text: str) -> Separated:
    """Insert a blank between neighbouring words of scripts that have none.

    The words are those of Unicode's text segmentation (UAX #29) with the dictionaries of ICU
    (Lucene's ``ICUTokenizer``); signs belong to the word before them.
    """
    # An array, since a text may have millions of words.
    starts = array(
        "Q",
        (
            start
            for run in _RUN.finditer(text)
            for start in (run.start() + offset for offset in _word_starts(run[0]))
            if start and text[start - 1] not in _BLANKS
        ),
    )
    if not starts:
        return Separated(text, starts)
    ends = chain(starts, [len(text)])
    parts = (text[start:end] for start, end in zip(chain([0], starts), ends, strict=True))
    return Separated(" ".join(parts), starts)


def _word_starts(run: str) -> Iterator[int]:
    """Yield the offsets where the words of a text begin, except signs."""
    import lucene  # noqa: F401 - makes the packages java and org importable
    from java.io import StringReader
    from org.apache.lucene.analysis.icu.segmentation import ICUTokenizer
    from org.apache.lucene.analysis.tokenattributes import OffsetAttribute

    stream = ICUTokenizer()
    stream.setReader(StringReader(run))
    offset = OffsetAttribute.cast_(stream.getAttribute(OffsetAttribute.class_))
    # Java counts these characters as two.
    doubled = [match.start() for match in _BEYOND_16_BITS.finditer(run)]
    passed = 0
    try:
        stream.reset()
        while stream.incrementToken():
            start = offset.startOffset()
            while passed < len(doubled) and doubled[passed] + passed < start:
                passed += 1
            yield start - passed
        stream.end()
    finally:
        stream.close()


# Places of chunks in their documents: pages, lines, sections, characters

SECTION_SEPARATOR: Final = " > "

_MOST_HEADINGS: Final = 8
"""Maximum number of headings in the path of a section, which every hit shows."""


def placed_chunks(document: Document) -> Iterator[tuple[Chunk, Place]]:
    """Yield the chunks of a document in order, each with its place."""
    text = document.content
    newline = "\n" if "\n" in text else "\r"
    starts = [page.start for page in document.pages]
    headings = deque(document.headings)
    above: list[Heading] = []
    line, counted = 1, 0
    for chunk in chunks(document.id, document.title, text, document.layout):
        place: Place = {"char_start": chunk.start, "char_end": chunk.end}
        first, last = _ends_of_words(text, chunk.start, chunk.end)
        if starts:
            unit = document.pages[0].unit
            for end, position in (("start", first), ("end", last)):
                page = document.pages[max(0, bisect_right(starts, position) - 1)]
                place[f"{unit}_{end}"] = page.label
        elif document.has_lines:
            line += text.count(newline, counted, chunk.start)
            counted = chunk.start
            place["line_start"] = line
            place["line_end"] = line + text.count(newline, chunk.start, last)
        while headings and headings[0].start <= first:
            heading = headings.popleft()
            above = [*(one for one in above if one.level < heading.level), heading][:_MOST_HEADINGS]
        if above:
            place["section"] = SECTION_SEPARATOR.join(heading.text for heading in above)
        yield chunk, place


def sections_around(section: str) -> list[str]:
    """Return a section and those that contain it, the outermost first."""
    headings = section.split(SECTION_SEPARATOR)
    return [SECTION_SEPARATOR.join(headings[: count + 1]) for count in range(len(headings))]


def _ends_of_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of the first and the last visible character of a chunk."""
    while start < end and text[start].isspace():
        start += 1
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    return start, end - 1
