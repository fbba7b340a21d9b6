"""Code in Markdown, in which no character is syntax."""

import re
from collections.abc import Iterator
from typing import Final

_LINE: Final = re.compile(r"[^\r\n]+")

# Fences also occur within quotes and lists.
_FENCE: Final = re.compile(r"([ \t>]*)(?:[-*+] +)?(`{3,}(?=[^`]*$)|~{3,})")

_TICKS: Final = re.compile("`+")


def lines_outside_code(text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield the non-blank lines of a text that are not in fenced code.

    Args:
        text: Markdown.
        start: the offset to start at.
    """
    fence = ""
    is_quoted = False
    for match in _LINE.finditer(text, start):
        line = match[0]
        if fence and is_quoted and not line.lstrip().startswith(">"):
            fence = ""
        if fence:
            # The closing fence has at least as many of the same characters, and nothing else.
            end = line.strip(" \t>") if is_quoted else line.strip()
            if end.startswith(fence) and not end.strip(fence[0]):
                fence = ""
        elif found := _FENCE.match(line):
            is_quoted, fence = ">" in found[1], found[2]
        else:
            yield match


def pieces_outside_code(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a line in order, each with whether it is code between backticks."""
    ticks = [match.span() for match in _TICKS.finditer(line)]
    # Code ends at the next run of as many backticks; without such a run, the backticks are text.
    next_of_length: dict[int, int] = {}
    closing: list[int | None] = []
    for begin, end in reversed(ticks):
        closing.append(next_of_length.get(end - begin))
        next_of_length[end - begin] = end
    closing.reverse()
    done = 0
    for (begin, _), close in zip(ticks, closing, strict=True):
        if close is not None and begin >= done:
            yield line[done:begin], False
            yield line[begin:close], True
            done = close
    yield line[done:], False
