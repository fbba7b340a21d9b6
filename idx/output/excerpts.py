"""Passages of a hit for display: in the order of the text, with an ellipsis where text is cut."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.model.search_results import MARKS

_REST_OF_WORD: Final = re.compile(r"\S{1,20}(?!\S)")
"""Rest of a word at a cut, including punctuation; longer runs occur in text without spaces."""

_CONTEXT_CHARACTERS: Final = 80
"""Minimum context before the first match of a piece and after its last one, in characters."""

_WORD: Final = re.compile(r"\w+")

_MATCH_TEXT: Final = re.compile("{}(.*?){}".format(*map(re.escape, MARKS)), re.DOTALL)

_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))


@dataclass(frozen=True)
class _Piece:
    """Piece of a text with marks around its matches; its offsets ignore the marks."""

    start: int
    end: int
    marked: str


def excerpts(passages: Iterable[str], content: str, ellipsis: str) -> list[str]:
    """Return the passages in the order of the text, with adjacent ones joined.

    Args:
        passages: pieces of the text, with marks around the matches.
        content: the whole text.
        ellipsis: the sign for text that was cut.
    """
    text = _MARK.sub("", content)
    pieces = _joined(_with_context(_placed(passages, text), text), text)
    return [_with_ends(piece, text, ellipsis) for piece in pieces]


def match_line(passages: Sequence[str] | None, content: str | None) -> int:
    """Return the line of the first match of the best passage, counted from 0.

    The line is 0 if the lines of the text were joined when it was cut into chunks.
    """
    if not passages or not content or MARKS[0] not in passages[0]:
        return 0
    text = _MARK.sub("", content)
    (piece,) = _placed(passages[:1], text)
    before = text[: piece.start + piece.marked.index(MARKS[0])]
    return before.count("\n" if "\n" in text else "\r")


def _placed(passages: Iterable[str], text: str) -> list[_Piece]:
    """Return the passages as pieces of the text, in the order of the text."""
    found: dict[int, _Piece] = {}
    for marked in passages:
        words = _MARK.sub("", marked)
        start = text.find(words)
        # The same words may occur several times.
        while start in found and (further := text.find(words, start + 1)) >= 0:
            start = further
        found[start] = _Piece(start, start + len(words), marked)
    return [found[start] for start in sorted(found)]


def _with_context(pieces: Sequence[_Piece], text: str) -> Iterator[_Piece]:
    """Yield the pieces with context around matches near their ends, up to the next piece."""
    matches = {match.casefold() for piece in pieces for match in _MATCH_TEXT.findall(piece.marked)}
    least = 0
    for number, piece in enumerate(pieces):
        most = pieces[number + 1].start if number + 1 < len(pieces) else len(text)
        start, end = piece.start, piece.end
        if MARKS[0] in piece.marked:
            head = piece.marked.index(MARKS[0])
            tail = len(piece.marked.rpartition(MARKS[1])[2])
            start = _next_word(text, max(least, start - max(0, _CONTEXT_CHARACTERS - head)), start)
            end = _last_word(text, end, min(most, end + max(0, _CONTEXT_CHARACTERS - tail)))
        before, after = text[start : piece.start], text[piece.end : end]
        least = end
        marked = f"{_marked(before, matches)}{piece.marked}{_marked(after, matches)}"
        yield _Piece(start, end, marked)


def _next_word(text: str, start: int, end: int) -> int:
    """Return the start of the first word at or after an offset, limited to another offset."""
    while 0 < start < end and not text[start - 1].isspace():
        start += 1
    return start


def _last_word(text: str, start: int, end: int) -> int:
    """Return the end of the last word at or before an offset, limited to another offset."""
    while start < end < len(text) and not text[end].isspace():
        end -= 1
    return end


def _marked(text: str, matches: Collection[str]) -> str:
    """Mark the words of a text that match elsewhere."""
    return _WORD.sub(
        lambda word: word[0] if word[0].casefold() not in matches else word[0].join(MARKS), text
    )


def _joined(pieces: Iterable[_Piece], text: str) -> list[_Piece]:
    joined: list[_Piece] = []
    for piece in pieces:
        between = text[joined[-1].end : piece.start] if joined else ""
        if joined and not between.strip():
            last = joined.pop()
            joined.append(_Piece(last.start, piece.end, last.marked + between + piece.marked))
        else:
            joined.append(piece)
    return joined


def _with_ends(piece: _Piece, text: str, ellipsis: str) -> str:
    shown = piece.marked
    if text[: piece.start].strip():
        if not text[piece.start - 1].isspace() and (rest := _REST_OF_WORD.match(shown)):
            # The previous piece ends with the rest of this word.
            shown = shown[rest.end() :].lstrip() or shown
        shown = f"{ellipsis} {shown}"
    rest = _REST_OF_WORD.match(text, piece.end)
    end = rest.end() if rest else piece.end
    shown += text[piece.end : end]
    return f"{shown} {ellipsis}" if text[end:].strip() else shown
