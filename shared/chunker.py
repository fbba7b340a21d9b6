"""How a document is cut into chunks.

A word is a run of characters other than space, tab, line feed and carriage return; every other
character, a no-break space too, belongs to a word. A text of up to 250 words is one chunk and
stays exactly as it came. A longer one is cut into windows of 250 words, each starting 210 words
after the one before, so that 40 words stand in both; the words of a window are joined by single
spaces, and the window that reaches the last word is the last.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

WORDS_PER_CHUNK = 250
"""Words in a full window."""

OVERLAP = 40
"""Words that two neighbouring windows share."""

_STEP = WORDS_PER_CHUNK - OVERLAP
_WORD = re.compile(r"[^ \t\n\r]+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of a document, the unit that is indexed and found.

    ``id`` is ``{document id}-chunk-{index:03d}``, ``index`` counts from 1, and ``title`` is the
    document's title, followed by `` - Part {index}`` where there is more than one chunk.
    """

    id: str
    title: str
    content: str
    source_document: str
    index: int


def split(text: str) -> list[str]:
    """Cut a text into the contents of its chunks.

    Returns:
        Nothing for a blank text, the text itself for up to 250 words, else one string of
        at most 250 words for each window, in order.
    """
    if not text.strip():
        return []
    words = _WORD.findall(text)
    if len(words) <= WORDS_PER_CHUNK:
        return [text]
    # The last window is the first one that reaches the end.
    starts = range(0, len(words) - OVERLAP, _STEP)
    return [" ".join(words[start : start + WORDS_PER_CHUNK]) for start in starts]


def chunk_id(source_document: str, index: int) -> str:
    """The id of a document's chunk number ``index``, from 1."""
    return f"{source_document}-chunk-{index:03d}"


def chunks(source_document: str, title: str, text: str) -> Iterator[Chunk]:
    """Yield the chunks of a document in order; a blank text has none."""
    contents = split(text)
    for index, content in enumerate(contents, start=1):
        yield Chunk(
            id=chunk_id(source_document, index),
            title=title if len(contents) == 1 else f"{title} - Part {index}",
            content=content,
            source_document=source_document,
            index=index,
        )
