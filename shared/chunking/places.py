"""Places of chunks in their documents: pages, lines, sections, characters."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from shared.model.chunks import Chunk, Place
from shared.model.document import Document, Heading

SECTION_SEPARATOR: Final = " > "
"""Separator of the headings in the path of a section."""

_MOST_HEADINGS: Final = 8
"""Maximum number of headings in the path of a section, which every hit shows."""


def places(document: Document, chunks: Iterable[Chunk]) -> Iterator[Place]:
    """Yield the place of each chunk of a document, in order."""
    text = document.content
    newline = "\n" if "\n" in text else "\r"
    starts = [page.start for page in document.pages]
    headings = deque(document.headings)
    above: list[Heading] = []
    line, counted = 1, 0
    for chunk in chunks:
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
        yield place


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
