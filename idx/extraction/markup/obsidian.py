"""The marks of Obsidian in Markdown: links, embeds, callouts, ids of blocks, and tags.

Each is read as Obsidian shows it. Nothing moves to another line, so that lines are cited as they
are in the file. Comments between ``%%`` stay, as Obsidian's own search finds them.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from idx.extraction.markup.markdown_code import lines_outside_code, pieces_outside_code

_MARK: Final = re.compile(r"\[\[|\[!|\^")
"""What a line has that is not shown as it stands."""

# Other Markdown has links whose text is in brackets, [[1]](address), and shell [[ -f name ]].
_LINK: Final = re.compile(r"(!?)\[\[(?![\s^])([^\[\]]+)\]\](?![(\[])")

_SIZE: Final = re.compile(r"\s*[0-9]+(?:x[0-9]+)?\s*")
"""What stands in place of a text behind the name of a picture."""

_CALLOUT: Final = re.compile(r"([ \t]*(?:>[ \t]*)+)\[!([^\[\]|]+)(?:\|[^\[\]]*)?\][+-]?[ \t]*(.*)")

# With a letter: 10 ^6 at the end of a line is a number.
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t]+)\^(?=[0-9-]*[A-Za-z])[A-Za-z0-9-]+[ \t]*$")

_TAG: Final = re.compile(r"(?<!\S)#([\w/-]*[^\W\d][\w/-]*)")


def as_shown(text: str, start: int) -> str:
    """A text as Obsidian shows it, but for its code.

    Args:
        text: Markdown.
        start: the character after the front matter, which stays as it is.
    """
    parts = []
    end = 0
    for line in lines_outside_code(text, start):
        if _MARK.search(line[0]) and (shown := _line_as_shown(line[0])) != line[0]:
            parts += [text[end : line.start()], shown]
            end = line.end()
    return "".join([*parts, text[end:]])


def tags_in(text: str, start: int) -> Iterator[str]:
    """The tags in a text, without their sign: ``#project/alpha`` is ``project/alpha``.

    Args:
        text: Markdown.
        start: the character after the front matter.
    """
    for line in lines_outside_code(text, start):
        if "#" in line[0]:
            for piece, is_code in pieces_outside_code(line[0]):
                if not is_code:
                    yield from (tag.strip("/") for tag in _TAG.findall(piece))


def without_links(text: str) -> str:
    """A text whose links are replaced by what Obsidian shows of them."""
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
    """What is shown of a link: its own text, else the name of the note and of the heading."""
    is_embedded, inner = bool(link[1]), link[2]
    target, _, text = inner.partition("|")
    if text.strip() and not (is_embedded and _SIZE.fullmatch(text)):
        return text.strip()
    # In a table, a backslash stands before the bar.
    note, *headings = target.removesuffix("\\").split("#")
    names = [note.strip().removesuffix(".md"), *(heading.strip() for heading in headings)]
    return " > ".join(name for name in names if name and not name.startswith("^")) or link[0]
