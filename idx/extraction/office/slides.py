"""Extraction of PowerPoint presentations: .pptx, .ppsx and their templates."""

from collections.abc import Iterator
from typing import Final

from idx.extraction.markup.markup import Role
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
    for element in file.package.tree(file.main).iter("{*}sldId"):
        link = links.get(relationship_id(element))
        if link is None or link.kind != "slide":
            yield ""
        else:
            yield file.text(link.part, _RELATED, _SLIDE_ROLES)
