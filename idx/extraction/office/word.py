"""Extraction of Word documents: .docx and its templates."""

from typing import Final

from idx.extraction.office.open_xml import open_office_file
from idx.extraction.text.cleaning import normalize
from idx.extraction.types import Extracted, Source

_RELATED: Final = (
    *("footnotes", "endnotes", "comments", "chart", "diagramData"),
    # They appear on every page, but once in the text.
    *("header", "footer"),
)


def extract_docx(source: Source) -> Extracted:
    """Extract a document: its body, then notes, comments, charts, headers and footers.

    The file contains no pages, which the displaying program creates.

    Raises:
        SourceFileError: it needs a password, or unpacks to too much.
    """
    file = open_office_file(source)
    title, metadata = file.properties()
    text = normalize(file.text(file.main, _RELATED))
    return Extracted(text, source.media_type, title=title, metadata=metadata)
