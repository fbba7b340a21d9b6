"""A hit for people, with the words that matched in colour, or between stars in a pipe."""

import re
from typing import Final

from rich.text import Text

from idx.control_characters import visible, visible_line
from idx.excerpts import excerpts
from idx.place import cited
from idx.terminal import console, shows_styles, symbol
from shared.model.search_results import MARKS, Hit

_MATCH: Final = re.compile("({}.*?{})".format(*map(re.escape, MARKS)), re.DOTALL)

_INDENT: Final = 3
_CONTINUATION: Final = 5
"""Blanks before the lines of a hit below its first, and before what goes on from a line above."""

_LIKELY: Final = 0.5
"""A hit with more confidence answers more often than not."""


def print_hit(rank: int, hit: Hit) -> None:
    """Print a hit's rank, title, confidence, place and passages on stdout."""
    heading = Text(f"{rank}. ")
    heading.append(visible_line(hit.title), style="bold")
    if confidence := in_words(hit.confidence):
        heading.append(f"  {confidence}", style="dim")
    _print_wrapped(heading, 0)
    out = console()
    # A path is not wrapped: it would have an end of line in its middle.
    place = Text(" " * _INDENT + visible_line(cited(hit) or hit.id), style="dim")
    out.print(place, soft_wrap=True)
    for part in excerpts(hit.passages or [], hit.content or "", symbol("…", "...")):
        text = " ".join(visible(part).split())
        _print_wrapped(highlighted(text, styled=shows_styles(out)), _INDENT)
    out.print()


def in_words(confidence: float) -> str:
    """How likely a hit answers, such as ``likely (0.83)``; empty where nothing was asked."""
    from shared.search.confidence import LOW

    # What is certain was not rated, as when all chunks are shown.
    if confidence == 1:
        return ""
    word = "likely" if confidence >= _LIKELY else "possible" if confidence >= LOW else "unlikely"
    return f"{word} ({confidence:.2f})"


def highlighted(passage: str, *, styled: bool) -> Text:
    """A passage with its matches in colour, or else between ``**``."""
    text = Text()
    for part in _MATCH.split(passage):
        if not _MATCH.fullmatch(part):
            text.append(part)
            continue
        match = part.removeprefix(MARKS[0]).removesuffix(MARKS[1])
        text.append(match if styled else f"**{match}**", style="bold yellow")
    return text


def _print_wrapped(text: Text, indent: int) -> None:
    """Print a text from an indent on, what goes on in further lines indented deeper."""
    out = console()
    lines = text.wrap(out, out.width - _CONTINUATION, overflow="fold")
    for number, line in enumerate(lines):
        line.rstrip()
        out.print(
            Text(" " * (_CONTINUATION if number else indent)).append_text(line), soft_wrap=True
        )
