"""Extraction of plain text and similar files: source code, CSV, JSON, XML."""

from idx.extraction.text.decoding import decode
from idx.extraction.types import Extracted, Source


def extract_plain_text(source: Source) -> Extracted:
    """Extract the exact text of a file, without its byte order mark.

    Raises:
        SourceFileError: the bytes are not text.
    """
    return Extracted(
        text=decode(source.data, source.file, source.options.encoding),
        media_type=source.media_type,
        is_own_text=True,
    )
