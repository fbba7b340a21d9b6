"""Extraction of plain text and similar files: source code, CSV, JSON, XML."""

from idx.extraction.media_types import PLAIN_TEXT
from idx.extraction.text.decoding import decode
from idx.extraction.text.escapes import without_escapes
from idx.extraction.text.headings import plain_text_headings
from idx.extraction.types import Extracted, Source


def extract_plain_text(source: Source) -> Extracted:
    """Extract the text of a file line by line, without its byte order mark.

    It is the exact text, but for letters that some formats write as escapes.

    Raises:
        SourceFileError: the bytes are not text.
    """
    text = decode(source.data, source.file, source.options.encoding)
    text = without_escapes(text, source.media_type)
    return Extracted(
        text=text,
        media_type=source.media_type,
        is_own_text=True,
        headings=plain_text_headings(text) if source.media_type == PLAIN_TEXT else (),
    )
