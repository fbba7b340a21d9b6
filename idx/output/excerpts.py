"""The passages of a hit as people read them: in the order of the text, what is cut marked."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.model.search_results import MARKS

_REST_OF_WORD: Final = re.compile(r"\S{1,20}(?!\S)")
"""What belongs to the word before, such as its full stop; longer texts have no blanks."""

_CONTEXT: Final = 80
"""Characters that are shown before the first match of a piece and after its last one at least."""

_WORD: Final = re.compile(r"\w+")

_MATCH: Final = re.compile("{}(.*?){}".format(*map(re.escape, MARKS)), re.DOTALL)

_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))


@dataclass(frozen=True)
class _Piece:
    """A piece of a text, marks not counted in its place."""

    start: int
    end: int
    marked: str


def excerpts(passages: Iterable[str], content: str, ellipsis: str) -> list[str]:
    """The passages in the order of the text, those that are neighbours as one.

    Args:
        passages: pieces of the text, with marks around the matches.
        content: the whole text.
        ellipsis: what stands where a piece is cut.
    """
    text = _MARK.sub("", content)
    pieces = _joined(_with_context(_placed(passages, text), text), text)
    return [_with_ends(piece, text, ellipsis) for piece in pieces]


def match_line(passages: Sequence[str] | None, content: str | None) -> int:
    """The line of a text, from 0, that has the first match of the best passage.

    It is 0 of a text whose lines were joined when it was cut into chunks.
    """
    if not passages or not content or MARKS[0] not in passages[0]:
        return 0
    text = _MARK.sub("", content)
    (piece,) = _placed(passages[:1], text)
    before = text[: piece.start + piece.marked.index(MARKS[0])]
    return before.count("\n" if "\n" in text else "\r")


def _placed(passages: Iterable[str], text: str) -> list[_Piece]:
    """The passages as pieces of the text, in its order."""
    found: dict[int, _Piece] = {}
    for marked in passages:
        words = _MARK.sub("", marked)
        start = text.find(words)
        # The same words may stand there several times.
        while start in found and (further := text.find(words, start + 1)) >= 0:
            start = further
        found[start] = _Piece(start, start + len(words), marked)
    return [found[start] for start in sorted(found)]


def _with_context(pieces: Sequence[_Piece], text: str) -> Iterator[_Piece]:
    """The pieces, longer where a match is near their beginning or end, up to the next piece."""
    matches = {match.casefold() for piece in pieces for match in _MATCH.findall(piece.marked)}
    least = 0
    for number, piece in enumerate(pieces):
        most = pieces[number + 1].start if number + 1 < len(pieces) else len(text)
        start, end = piece.start, piece.end
        if MARKS[0] in piece.marked:
            head = piece.marked.index(MARKS[0])
            tail = len(piece.marked.rpartition(MARKS[1])[2])
            start = _next_word(text, max(least, start - max(0, _CONTEXT - head)), start)
            end = _last_word(text, end, min(most, end + max(0, _CONTEXT - tail)))
        before, after = text[start : piece.start], text[piece.end : end]
        least = end
        marked = f"{_marked(before, matches)}{piece.marked}{_marked(after, matches)}"
        yield _Piece(start, end, marked)


def _next_word(text: str, start: int, end: int) -> int:
    """Where the first word begins from a place on, at most at another place."""
    while 0 < start < end and not text[start - 1].isspace():
        start += 1
    return start


def _last_word(text: str, start: int, end: int) -> int:
    """Where the last word ends before a place, at least at another place."""
    while start < end < len(text) and not text[end].isspace():
        end -= 1
    return end


def _marked(text: str, matches: Collection[str]) -> str:
    """A text with marks around the words that are marked elsewhere."""
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
            # The piece before it has this.
            shown = shown[rest.end() :].lstrip() or shown
        shown = f"{ellipsis} {shown}"
    rest = _REST_OF_WORD.match(text, piece.end)
    end = rest.end() if rest else piece.end
    shown += text[piece.end : end]
    return f"{shown} {ellipsis}" if text[end:].strip() else shown
