"""Table of supported formats, and the entry point that extracts a file of any of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from idx.extraction import media_types
from idx.extraction.damage import damage
from idx.extraction.file_type import BEGINNING, file_type
from idx.extraction.markup.epub import extract_epub
from idx.extraction.markup.html import extract_html
from idx.extraction.markup.mail import extract_mail
from idx.extraction.markup.markdown import extract_markdown
from idx.extraction.office.container import refuse_ole, zip_type
from idx.extraction.office.open_document import extract_odp, extract_ods, extract_odt
from idx.extraction.office.slides import extract_pptx
from idx.extraction.office.word import extract_docx
from idx.extraction.office.workbook import extract_xlsx
from idx.extraction.rtf.reader import extract_rtf
from idx.extraction.text.plain_text import extract_plain_text
from idx.extraction.types import Extracted, ExtractionOptions, Source


@dataclass(frozen=True, slots=True)
class Format:
    """Format of files.

    Attributes:
        name: its common name, for the message "is a damaged …".
        extract: the function that extracts the text.
    """

    name: str
    extract: Callable[[Source], Extracted]


_PLAIN_TEXT: Final = Format("text", extract_plain_text)

FORMATS: Final = {
    media_types.DOCX: Format("DOCX", extract_docx),
    media_types.PPTX: Format("PPTX", extract_pptx),
    media_types.XLSX: Format("XLSX", extract_xlsx),
    media_types.ODT: Format("ODT", extract_odt),
    media_types.ODP: Format("ODP", extract_odp),
    media_types.ODS: Format("ODS", extract_ods),
    media_types.RTF: Format("RTF", extract_rtf),
    media_types.EPUB: Format("EPUB", extract_epub),
    media_types.HTML: Format("HTML page", extract_html),
    media_types.MAIL: Format("e-mail", extract_mail),
    media_types.MARKDOWN: Format("Markdown text", extract_markdown),
}
"""Formats by MIME type; every other type that `file_type` returns is read as plain text."""


def extract(file: Path, options: ExtractionOptions) -> Extracted:
    """Extract the text and the metadata of a file.

    Args:
        file: the file, which is opened once.
        options: the options of extraction.

    Raises:
        SourceFileError: it is damaged, protected, or not of the type that its name claims.
        UnsupportedFileError: its type is not supported.
        OSError: it cannot be read.
    """
    with file.open("rb") as stream:
        return extract_from(stream, file, options)


def extract_from(stream: BinaryIO, file: Path, options: ExtractionOptions) -> Extracted:
    """Extract like `extract` from an open file; the path serves for its name and for messages."""
    data = stream.read(BEGINNING)
    media_type = file_type(data, file, options.encoding)
    if len(data) == BEGINNING:
        data += stream.read()
    if not data:
        return Extracted("", media_type, is_own_text=media_type not in FORMATS)
    if media_type == media_types.PDF:
        from idx.extraction.pdf.reader import extract_pdf

        return extract_pdf(file, data, options)
    if media_type == media_types.OLE:
        refuse_ole(data, file)
    if media_type == media_types.ZIP:
        media_type = zip_type(data, file)
    format_ = FORMATS.get(media_type, _PLAIN_TEXT)
    with damage(file, format_.name):
        return format_.extract(Source(file, data, media_type, options))
