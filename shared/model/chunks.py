"""A chunk of a document, the passage that is indexed and found."""

from dataclasses import dataclass
from typing import Final

WORDS_PER_CHUNK: Final = 250
"""Maximum number of words of a chunk."""

OVERLAP: Final = 40
"""Number of words that two neighbouring chunks share."""

STEP: Final = WORDS_PER_CHUNK - OVERLAP
"""Number of words from the beginning of a full chunk to that of the next one."""

MIN_CHARACTERS_PER_CHUNK: Final = STEP
"""Minimum characters that a full chunk adds: words of one letter, each with a space."""

Place = dict[str, int | str]
"""Known fields of `shared.model.search_results.Citation`, except the path of the file."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, the unit that is indexed and found.

    ``id`` is ``{document id}-chunk-{index:03d}``, ``index`` counts from 1, and ``title`` is the
    document's title, followed by `` - Part {index}`` if there is more than one chunk. ``start`` and
    ``end`` are offsets in the document's text, in characters; ``end`` is exclusive. ``count`` is
    the number of chunks of the document, and ``words`` that of its words, None if it is not known.
    """

    id: str
    title: str
    content: str
    source_document: str
    index: int
    start: int
    end: int
    count: int
    words: int | None


_NUMBER: Final = "-chunk-"


def chunk_id(source_document: str, index: int) -> str:
    """Return the id of a document's chunk number ``index``, from 1."""
    return f"{source_document}{_NUMBER}{index:03d}"


def chunk_of_id(chunk_id: str) -> tuple[str, int]:
    """Return the document and the number of a chunk from its id."""
    source_document, _, index = chunk_id.rpartition(_NUMBER)
    return source_document, int(index)


def chunk_title(title: str, index: int, count: int) -> str:
    """Return the title of a chunk from that of its document, which has so many chunks."""
    return title if count == 1 else f"{title} - Part {index}"


def addition(content: str, start: int, end: int, previous_end: int) -> str:
    """Return what a chunk adds to the chunks before it, with the blanks between.

    The first chunk of a document and the additions of all others are the text of the document.
    """
    if len(content) != end - start:
        # The words are joined by single spaces, so only their number tells where the rest begins.
        return " " + " ".join(content.split(" ", OVERLAP)[OVERLAP:])
    return content[previous_end - start :] if start <= previous_end else f"\n{content}"
