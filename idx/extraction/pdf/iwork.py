"""Extraction of documents of Pages, Numbers and Keynote from the PDF that some of them hold.

Programs of 2009 to 2013 stored a preview of all pages. Later ones store a picture of the first, and
their contents in a form without a public description, which no kept library reads for all three.
"""

from dataclasses import replace
from typing import Final

from idx.errors import UnsupportedFileError
from idx.extraction.markup.package import Package
from idx.extraction.media_types import Kind
from idx.extraction.types import Extracted, Source

_PREVIEW: Final = "QuickLook/Preview.pdf"


def extract_iwork(source: Source) -> Extracted:
    """Extract the preview of a document.

    Raises:
        UnsupportedFileError: it has none.
        SourceFileError: the preview cannot be read.
        zipfile.BadZipFile: the document is damaged.
    """
    from idx.extraction.pdf.reader import extract_pdf

    package = Package(source)
    if _PREVIEW not in package:
        what = Kind.IWORK.value.format(media_type=source.media_type)
        raise UnsupportedFileError(source.file, f"is {what}")
    preview = extract_pdf(source.file, package.read(_PREVIEW), source.options)
    return replace(preview, media_type=source.media_type)
