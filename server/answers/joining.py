"""The text of consecutive chunks, without what each repeats of the one before."""

from collections.abc import Sequence
from typing import NamedTuple

from server.answers.fence import fenced
from server.answers.text import cut, json_characters
from shared.model.chunks import addition
from shared.model.search_results import ChunkText


class Joined(NamedTuple):
    """The part of a text that fits, the number of its last chunk, and whether that chunk is cut."""

    text: str
    end: int
    is_cut: bool


def joined(chunks: Sequence[ChunkText], budget: int) -> Joined:
    """Join chunks as far as they fit; the first is cut if it does not fit by itself.

    Args:
        chunks: consecutive chunks of a document, at least one.
        budget: maximum length of the text in JSON, with its fence, in characters.
    """
    first, *others = chunks
    left = budget - json_characters(fenced(first.content))
    if left < 0:
        return Joined(cut(first.content, -left), first.chunk_index, is_cut=True)
    parts, last = [first.content], first
    for chunk in others:
        part = addition(chunk.content, *_characters(chunk), _characters(last)[1])
        left -= json_characters(part)
        if left < 0:
            break
        parts.append(part)
        last = chunk
    return Joined("".join(parts), last.chunk_index, is_cut=False)


def _characters(chunk: ChunkText) -> tuple[int, int]:
    """Return the offsets of a chunk in the text of its document, which every chunk has."""
    return chunk.char_start or 0, chunk.char_end or 0
