"""Where the words of a chunk stand in the file."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from shared.chunker import Chunk
from shared.document import Document

Place = dict[str, int | str]
"""The fields of `shared.results.Citation` that are known, the file's path aside."""


def places(document: Document, chunks: Iterable[Chunk]) -> Iterator[Place]:
    """The place of each chunk of a document, in order.

    Args:
        document: the document; its sections and lines are those of its text.
        chunks: its chunks in order.
    """
    text = document.content
    newline = "\n" if "\n" in text else "\r"
    starts = [section.start for section in document.sections]
    line, counted = 1, 0
    for chunk in chunks:
        place: Place = {"char_start": chunk.start, "char_end": chunk.end}
        if starts:
            first, last = _ends_of_words(text, chunk.start, chunk.end)
            unit = document.sections[0].unit
            for end, position in (("start", first), ("end", last)):
                section = document.sections[max(0, bisect_right(starts, position) - 1)]
                place[f"{unit}_{end}"] = section.label
        elif document.has_lines:
            line += text.count(newline, counted, chunk.start)
            counted = chunk.start
            place["line_start"] = line
            place["line_end"] = line + text.count(newline, chunk.start, chunk.end - 1)
        yield place


def _ends_of_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters of the first and the last visible character of a chunk."""
    while start < end and text[start].isspace():
        start += 1
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    return start, end - 1
