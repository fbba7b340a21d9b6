"""Syntax of Obsidian in Markdown: links, embeds, callouts, block ids, and tags.

Each is replaced by the form that Obsidian displays. Text never moves to another line, so that cited
line numbers match the file. Comments between ``%%`` are kept, since Obsidian's own search finds
them.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from idx.extraction.markup.markdown_code import lines_outside_code, pieces_outside_code

_SYNTAX: Final = re.compile(r"\[\[|\[!|\^")
"""Pattern of syntax that is displayed in another form."""

# Other Markdown has links with text in brackets, [[1]](address), and shell code has [[ -f name ]].
_LINK: Final = re.compile(r"(!?)\[\[(?![\s^])([^\[\]]+)\]\](?![(\[])")

_PICTURE_SIZE: Final = re.compile(r"\s*[0-9]+(?:x[0-9]+)?\s*")
"""Size that may replace the text of an embedded picture."""

_CALLOUT: Final = re.compile(r"([ \t]*(?:>[ \t]*)+)\[!([^\[\]|]+)(?:\|[^\[\]]*)?\][+-]?[ \t]*(.*)")

# A letter is required, because 10 ^6 at the end of a line is a number.
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t]+)\^(?=[0-9-]*[A-Za-z])[A-Za-z0-9-]+[ \t]*$")

_TAG: Final = re.compile(r"(?<!\S)#([\w/-]*[^\W\d][\w/-]*)")


def as_shown(text: str, start: int) -> str:
    """Return a text as Obsidian displays it, with code unchanged.

    Args:
        text: Markdown.
        start: the offset after the front matter, which is not changed.
    """
    parts = []
    end = 0
    for line in lines_outside_code(text, start):
        if _SYNTAX.search(line[0]) and (shown := _line_as_shown(line[0])) != line[0]:
            parts += [text[end : line.start()], shown]
            end = line.end()
    return "".join([*parts, text[end:]])


def tags_in(text: str, start: int) -> Iterator[str]:
    """Yield the tags in a text without ``#``, such as ``project/alpha`` for ``#project/alpha``.

    Args:
        text: Markdown.
        start: the offset after the front matter.
    """
    for line in lines_outside_code(text, start):
        if "#" in line[0]:
            for piece, is_code in pieces_outside_code(line[0]):
                if not is_code:
                    yield from (tag.strip("/") for tag in _TAG.findall(piece))


def without_links(text: str) -> str:
    """Return a text with its links replaced by their display text."""
    return _LINK.sub(_link_text, text) if "[[" in text else text


def _line_as_shown(line: str) -> str:
    if callout := _CALLOUT.fullmatch(line):
        quote, kind, title = callout.groups()
        line = f"{quote}{title or kind.strip().capitalize()}"
    line = _outside_code(without_links, line)
    return _BLOCK_ID.sub("", line)


def _outside_code(change: Callable[[str], str], line: str) -> str:
    return "".join(
        piece if is_code else change(piece) for piece, is_code in pieces_outside_code(line)
    )


def _link_text(link: re.Match[str]) -> str:
    """Return the display text of a link: its own text, or the names of the note and heading."""
    is_embedded, inner = bool(link[1]), link[2]
    target, _, text = inner.partition("|")
    if text.strip() and not (is_embedded and _PICTURE_SIZE.fullmatch(text)):
        return text.strip()
    # In a table, the bar is escaped by a backslash.
    note, *headings = target.removesuffix("\\").split("#")
    names = [note.strip().removesuffix(".md"), *(heading.strip() for heading in headings)]
    return " > ".join(name for name in names if name and not name.startswith("^")) or link[0]
