"""Extraction of Markdown, with front matter and the syntax of Obsidian."""

import re
from typing import Final

from idx.extraction.markup.front_matter import front_matter, front_matter_metadata
from idx.extraction.markup.markdown_code import lines_outside_code
from idx.extraction.markup.obsidian import as_shown, tags_in
from idx.extraction.text.decoding import decode
from idx.extraction.text.properties import one_line
from idx.extraction.types import Extracted, Source

# A closing sequence of # must be preceded by a space.
_HEADING: Final = re.compile(r" {0,3}#[ \t]+(.*?\S)(?:[ \t]+#+)?[ \t]*")


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
    metadata, warnings = front_matter_metadata(matter.said, tags_in(text, matter.end))
    return Extracted(
        text=text,
        media_type=source.media_type,
        is_own_text=True,
        title=matter.title or _first_heading(text, matter.end),
        metadata=metadata,
        warnings=(*matter.warnings, *warnings),
    )


def _first_heading(text: str, start: int) -> str | None:
    """Return the first heading of level one outside fenced code."""
    headings = (_HEADING.fullmatch(line[0]) for line in lines_outside_code(text, start))
    found = next(filter(None, headings), None)
    return one_line(found[1]) if found else None
