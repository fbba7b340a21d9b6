"""Texts in a response: shortened to fit, and joined from chunks."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from pydantic_core import to_json

from server.answers.fence import fenced
from shared.messages import shortened
from shared.model.chunks import addition
from shared.model.search_results import ChunkText

DEFAULT_CHARACTERS: Final = 40_000
"""Default maximum length of a response, in characters."""

MAX_CHARACTERS: Final = 1_000_000
"""Upper limit of the length that a client can request, in characters."""

_QUERY_BUDGET_DIVISOR: Final = 8
"""Divisor of the budget: a query, or a form of it, takes at most this part of a response."""

MAX_BRIEF_CHARACTERS: Final = 200
"""Maximum length of a shortened title, in characters."""


def brief_query(query: str, budget: int) -> str:
    """Shorten a query or a prefix for repetition in a response with this budget."""
    longest = budget // _QUERY_BUDGET_DIVISOR
    # A character takes up to six in JSON.
    return query if json_characters(query) <= longest else shortened(query, longest // 6 - 1)


def brief(title: str) -> str:
    """Shorten a title or another short text."""
    return shortened(title, MAX_BRIEF_CHARACTERS)


def json_characters(text: str) -> int:
    """Return the length of a text in JSON, without quotes."""
    return len(to_json(text).decode()) - 2


def fitting(texts: Iterable[str], budget: int) -> int:
    """Return the number of leading texts that fit into a budget as JSON strings."""
    lengths = accumulate(json_characters(text) + 3 for text in texts)
    return sum(length <= budget for length in lengths)


def cut(text: str, excess: int) -> str:
    """Shorten a text by at least `excess` JSON characters; each character takes one or more."""
    kept = len(text) - excess - 1
    return f"{text[:kept]}…" if kept > 0 else ""


class Joined(NamedTuple):
    """The part of a text that fits, the number of its last chunk, and whether that chunk is cut."""

    text: str
    end: int
    is_cut: bool


def joined(chunks: Sequence[ChunkText], budget: int) -> Joined:
    """Join chunks as far as they fit; the first is cut if it does not fit by itself."""
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
