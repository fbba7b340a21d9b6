"""Extraction of plain text and similar files: source code, CSV, JSON, XML."""

from idx.extraction.media_types import PLAIN_TEXT
from idx.extraction.text.decoding import decode
from idx.extraction.text.headings import plain_text_headings
from idx.extraction.types import Extracted, Source


def extract_plain_text(source: Source) -> Extracted:
    """Extract the exact text of a file, without its byte order mark.

    Raises:
        SourceFileError: the bytes are not text.
    """
    text = decode(source.data, source.file, source.options.encoding)
    return Extracted(
        text=text,
        media_type=source.media_type,
        is_own_text=True,
        headings=plain_text_headings(text) if source.media_type == PLAIN_TEXT else (),
    )
