"""Extraction of PowerPoint presentations: .pptx, .ppsx and their templates."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from idx.extraction.markup.markup import MarkupText, Role, parse_xml
from idx.extraction.office.open_xml import ROLES, OfficeOpenFile, open_office_file, relationship_id
from idx.extraction.text.cleaning import join_pages
from idx.extraction.types import Extracted, Source

_RELATED: Final = ("chart", "diagramData", "notesSlide", "comments")

_SLIDE_ROLES: Final = {
    **ROLES,
    "p": Role.LINE,
    "sp": Role.PARAGRAPH,
    # Fields for the slide number and the date.
    "fld": Role.HIDDEN,
    # Comments contain plain text.
    "text": Role.TEXT,
    "cm": Role.PARAGRAPH,
}

_SHOWS_NOTHING_BEHIND: Final = re.compile(
    rb"""<(?:\w+:)?sld(?:Layout)?\s[^>]*?\sshowMasterSp\s*=\s*["'](?:0|false)"""
)
_ROOT_WITHIN: Final = 4096
"""Beginning of a slide or layout that does not show what lies behind it."""


def extract_pptx(source: Source) -> Extracted:
    """Extract a presentation by slides, each with its charts, notes and comments.

    Raises:
        SourceFileError: it needs a password, or unpacks to too much.
    """
    file = open_office_file(source)
    title, metadata = file.properties()
    text, pages = join_pages("slide", enumerate(_slides(file), start=1))
    return Extracted(text, source.media_type, title=title, metadata=metadata, pages=pages)


def _slides(file: OfficeOpenFile) -> Iterator[str]:
    """Yield the text of each slide in the order of the presentation."""
    links = file.relationships(file.main)
    seen: set[str] = set()
    for element in file.package.tree(file.main).iter("{*}sldId"):
        link = links.get(relationship_id(element))
        if link is None or link.kind != "slide":
            yield ""
        else:
            text = file.text(link.part, _RELATED, _SLIDE_ROLES)
            yield "\n\n".join((text, *_texts_behind(file, link.part, seen)))


def _texts_behind(file: OfficeOpenFile, part: str, seen: set[str]) -> Iterator[str]:
    """Yield the texts of the layout and the master behind a slide, unless a slide before has them.

    Args:
        file: the presentation.
        part: the slide.
        seen: the layouts and masters so far.
    """
    for kind in ("slideLayout", "slideMaster"):
        beginning = next(file.package.chunks(part), b"")[:_ROOT_WITHIN]
        if _SHOWS_NOTHING_BEHIND.search(beginning):
            return
        links = file.relationships(part).values()
        behind = [link.part for link in links if link.kind == kind and link.part in file.package]
        if not behind:
            return
        part = behind[0]
        if part not in seen:
            seen.add(part)
            yield _own_text(file, part)


def _own_text(file: OfficeOpenFile, part: str) -> str:
    """Return the text of a layout or master without its placeholders, whose texts are prompts."""
    from lxml import etree

    tree = file.package.tree(part)
    for place in [*tree.iter("{*}ph")]:
        for shape in islice(place.iterancestors("{*}sp", "{*}graphicFrame"), 1):
            parent = shape.getparent()
            if parent is not None:
                parent.remove(shape)
    text = MarkupText(_SLIDE_ROLES)
    parse_xml([etree.tostring(tree)], text)
    return text.text
