"""Extraction of Markdown, with front matter and the syntax of Obsidian."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from idx.extraction.markup.front_matter import front_matter, front_matter_metadata
from idx.extraction.markup.markdown_code import lines_outside_code
from idx.extraction.markup.obsidian import as_shown, tags_in
from idx.extraction.text.decoding import decode
from idx.extraction.text.headings import MAX_HEADINGS, headings
from idx.extraction.text.properties import one_line
from idx.extraction.types import Extracted, Source

_MAX_HEADING: Final = 2_000
"""Maximum length of a heading with its marks, in characters; the rest is not in its section."""

# A closing sequence of # must be preceded by a space.
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?\S)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_NO_PARAGRAPH: Final = re.compile(r"\s{4}|\s*(?:[-*+>|#]|\d+[.)]\s|\Z)")
_MARKS: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*`]|(?<!\w)_|_(?!\w)|</?\w[^>]*>")
"""Links, emphasis, code and tags in a heading."""


def extract_markdown(source: Source) -> Extracted:
    """Extract the text line by line as in the file, and title and metadata from the front matter.

    Links and other syntax of Obsidian are replaced by their display form. Without a title in the
    front matter, the first heading of level one is the title. Front matter that is not valid YAML
    results in no metadata, and a warning.

    Raises:
        SourceFileError: the bytes are not text.
    """
    written = decode(source.data, source.file, source.options.encoding)
    matter = front_matter(written)
    text = as_shown(written, matter.end)
    found = list(islice(markdown_headings(text, matter.end), MAX_HEADINGS))
    highest = (heading for level, heading, _ in found if level == 1)
    return Extracted(
        text=text,
        media_type=source.media_type,
        is_own_text=True,
        title=matter.title or next(highest, None),
        metadata=front_matter_metadata(matter.said, tags_in(text, matter.end)),
        headings=headings(found),
        warnings=matter.warnings,
    )


def markdown_headings(text: str, start: int = 0) -> Iterator[tuple[int, str | None, int]]:
    """Yield the level, the text and the offset of each heading outside fenced code.

    Args:
        text: Markdown.
        start: the offset to start at.
    """
    # The end of the line above if it is text, and that line if it is the first of a paragraph.
    end: int | None = None
    first: re.Match[str] | None = None
    for line in lines_outside_code(text, start):
        is_below = end is not None and text.count("\n", end, line.start()) == 1
        underline = _UNDERLINE.fullmatch(line[0]) if first and is_below else None
        if found := _HEADING.fullmatch(line[0]):
            yield len(found[1]), _plain(found[2]), line.start()
        elif first and underline:
            yield 1 if "=" in underline[1] else 2, _plain(first[0]), first.start()
        is_text = not (found or underline or _NO_PARAGRAPH.match(line[0]))
        first = line if is_text and not is_below else None
        end = line.end() if is_text else None


def _plain(heading: str) -> str | None:
    """Return a heading in one line without marks; None if nothing is left."""
    return one_line(_MARKS.sub(r"\1", heading[:_MAX_HEADING]))
