"""Chunks of a document, the passages that are indexed and found.

A word is a run of characters other than space, tab, line feed and carriage return; every other
character, including the no-break space, is part of a word. A text of up to 250 words is one chunk
and is kept unchanged. A longer one is cut into windows of 250 words, each starting 210 words after
the previous one, so that two neighbours share 40 words. The words of a window are joined by single
spaces, and the window that reaches the last word is the last.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shared.model.document import Document

WORDS_PER_CHUNK = 250
"""Number of words in a full window."""

OVERLAP = 40
"""Number of words that two neighbouring windows share."""

_STEP = WORDS_PER_CHUNK - OVERLAP

_WORD = re.compile(r"[^ \t\n\r]+")
# Possessive, so that matching never backtracks over a text of megabytes.
_BLANK = re.compile(r"[ \t\n\r]*+")

_WINDOW = re.compile(
    rf"[^ \t\n\r]++(?:[ \t\n\r]++[^ \t\n\r]++){{0,{WORDS_PER_CHUNK - 1}}}+(?P<rest>[ \t\n\r]*+)"
)

_ADVANCE = re.compile(rf"(?:[^ \t\n\r]++[ \t\n\r]++){{{_STEP}}}+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, the unit that is indexed and found.

    ``id`` is ``{document id}-chunk-{index:03d}``, ``index`` counts from 1, and ``title`` is the
    document's title, followed by `` - Part {index}`` if there is more than one chunk. ``start`` and
    ``end`` are offsets in the document's text, in characters; ``end`` is exclusive. ``count`` is
    the number of chunks of the document.
    """

    id: str
    title: str
    content: str
    source_document: str
    index: int
    start: int
    end: int
    count: int


def chunk_id(source_document: str, index: int) -> str:
    """Return the id of a document's chunk number ``index``, from 1."""
    return f"{source_document}-chunk-{index:03d}"


def chunks(source_document: str, title: str, text: str) -> Iterator[Chunk]:
    """Yield the chunks of a document in order; a blank text has none."""
    # The windows are counted first, and their words are joined one window at a time: a text may
    # have hundreds of megabytes.
    windows = list(_windows(text))
    for index, (content, start, end) in enumerate(_contents(text, windows), start=1):
        yield Chunk(
            id=chunk_id(source_document, index),
            title=title if len(windows) == 1 else f"{title} - Part {index}",
            content=content,
            source_document=source_document,
            index=index,
            start=start,
            end=end,
            count=len(windows),
        )


def word_count(chunk_count: int, last_content: str) -> int:
    """Return the number of words of a document.

    Args:
        chunk_count: the number of its chunks.
        last_content: the content of the last one.
    """
    return _STEP * (chunk_count - 1) + len(_WORD.findall(last_content))


def without_overlap(content: str) -> str:
    """Return the part of a chunk that does not repeat the previous one.

    The first chunk of a document and this part of all others, joined by single spaces, are the text
    of the document.
    """
    return " ".join(content.split(" ", OVERLAP)[OVERLAP:])


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets where the words of each chunk begin and end."""
    if not text.strip():
        return
    start = _end(_BLANK, text, 0)
    while window := _WINDOW.match(text, start):
        yield start, window.start("rest")
        if window.end() == len(text):
            return
        start = _end(_ADVANCE, text, start)


def _contents(text: str, windows: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int, int]]:
    if len(windows) == 1:
        yield text, 0, len(text)
        return
    for start, end in windows:
        yield " ".join(_WORD.findall(text, start, end)), start, end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


Place = dict[str, int | str]
"""Known fields of `shared.model.search_results.Citation`, except the path of the file."""


def places(document: Document, chunks: Iterable[Chunk]) -> Iterator[Place]:
    """Yield the place of each chunk of a document, in order.

    Args:
        document: the document; its pages and lines refer to its text.
        chunks: its chunks in order.
    """
    text = document.content
    newline = "\n" if "\n" in text else "\r"
    starts = [page.start for page in document.pages]
    line, counted = 1, 0
    for chunk in chunks:
        place: Place = {"char_start": chunk.start, "char_end": chunk.end}
        if starts:
            first, last = _ends_of_words(text, chunk.start, chunk.end)
            unit = document.pages[0].unit
            for end, position in (("start", first), ("end", last)):
                page = document.pages[max(0, bisect_right(starts, position) - 1)]
                place[f"{unit}_{end}"] = page.label
        elif document.has_lines:
            line += text.count(newline, counted, chunk.start)
            counted = chunk.start
            place["line_start"] = line
            place["line_end"] = line + text.count(newline, chunk.start, chunk.end - 1)
        yield place


def _ends_of_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of the first and the last visible character of a chunk."""
    while start < end and text[start].isspace():
        start += 1
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    return start, end - 1
