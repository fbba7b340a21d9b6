"""Table of supported formats, and the entry point that extracts a file of any of them."""

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from idx.containers.archive import extract_7z, extract_tar, extract_zip
from idx.containers.mail import extract_mail, extract_mailbox, extract_web_archive
from idx.containers.outlook import extract_outlook, extract_tnef
from idx.containers.outlook_store import extract_outlook_store
from idx.containers.smime import EncryptedError, is_message, signed_content
from idx.errors import SourceFileError
from idx.extraction import media_types
from idx.extraction.file_type import BEGINNING, damage, file_type, ole_type, zip_type
from idx.extraction.types import Budget, Extracted, ExtractionOptions, Source
from idx.markup.html import extract_epub, extract_html, extract_xml
from idx.markup.markdown import extract_markdown
from idx.office.labelled_rows import extract_delimited
from idx.office.open_document import extract_odp, extract_ods, extract_odt, extract_old_office
from idx.office.open_xml import extract_pptx
from idx.office.rtf import extract_rtf
from idx.office.word import extract_docx
from idx.office.workbook import extract_binary_workbook, extract_xlsx
from idx.text.calendar import extract_calendar
from idx.text.plain_text import extract_notebook, extract_plain_text, extract_subtitles
from idx.text.properties import with_hidden_text


class Reader(NamedTuple):
    """Name of a format, for the message "is a damaged …", and the function that reads it."""

    name: str
    extract: Callable[[Source], Extracted]


def _extract_pdf(source: Source) -> Extracted:
    # PDFium takes a tenth of a second to load, which most runs need not wait for.
    from idx.pdf.reader import extract_pdf

    return extract_pdf(source.file, source.data, source.options)


def _extract_signed(source: Source) -> Extracted:
    try:
        content = signed_content(source.data)
    except EncryptedError as error:
        raise SourceFileError(source.file, "is encrypted; decrypt it") from error
    # As in contract.pdf.p7m, while smime.p7m has a message.
    within = source.file.with_suffix("")
    named = within if within.suffix or not is_message(content) else within.with_suffix(".eml")
    return extract_from(BytesIO(content), named, source.options, source.budget)


def _extract_picture(source: Source) -> Extracted:
    from idx.pdf.ocr import extract_picture

    return extract_picture(source)


READERS: Final = {
    media_types.PDF: Reader("PDF", _extract_pdf),
    media_types.DOCX: Reader("DOCX", extract_docx),
    media_types.PPTX: Reader("PPTX", extract_pptx),
    media_types.XLSX: Reader("XLSX", extract_xlsx),
    media_types.DOC: Reader("DOC", extract_old_office),
    media_types.PPT: Reader("PPT", extract_old_office),
    media_types.XLS: Reader("XLS", extract_binary_workbook),
    media_types.XLSB: Reader("XLSB", extract_binary_workbook),
    media_types.ODT: Reader("ODT", extract_odt),
    media_types.ODP: Reader("ODP", extract_odp),
    media_types.ODS: Reader("ODS", extract_ods),
    media_types.RTF: Reader("RTF", extract_rtf),
    media_types.EPUB: Reader("EPUB", extract_epub),
    media_types.HTML: Reader("HTML page", extract_html),
    media_types.MAIL: Reader("e-mail", extract_mail),
    media_types.OUTLOOK: Reader("message of Outlook", extract_outlook),
    media_types.TNEF: Reader("winmail.dat", extract_tnef),
    media_types.SIGNED: Reader("signed file", _extract_signed),
    media_types.WEB_ARCHIVE: Reader("web archive", extract_web_archive),
    media_types.MAILBOX: Reader("mailbox", extract_mailbox),
    media_types.OUTLOOK_STORE: Reader("mailbox of Outlook", extract_outlook_store),
    media_types.ZIP: Reader("ZIP archive", extract_zip),
    media_types.TAR: Reader("tar archive", extract_tar),
    media_types.GZIP: Reader("gzip file", extract_tar),
    media_types.BZIP2: Reader("bzip2 file", extract_tar),
    media_types.XZ: Reader("XZ file", extract_tar),
    media_types.SEVEN_ZIP: Reader("7z archive", extract_7z),
    media_types.MARKDOWN: Reader("Markdown text", extract_markdown),
    media_types.CSV: Reader("CSV file", extract_delimited),
    media_types.TSV: Reader("TSV file", extract_delimited),
    media_types.NOTEBOOK: Reader("notebook", extract_notebook),
    media_types.LATEX: Reader("LaTeX text", extract_plain_text),
    media_types.ORG: Reader("Org text", extract_plain_text),
    media_types.RST: Reader("reStructuredText", extract_plain_text),
    media_types.ASCIIDOC: Reader("AsciiDoc text", extract_plain_text),
    media_types.SUBRIP: Reader("SRT file", extract_subtitles),
    media_types.WEBVTT: Reader("WebVTT file", extract_subtitles),
    media_types.CALENDAR: Reader("calendar", extract_calendar),
    media_types.VCARD: Reader("vCard", extract_calendar),
    media_types.XML: Reader("XML file", extract_xml),
}
"""Readers by MIME type; every other type that `file_type` returns is read as plain text."""

PLAIN_TEXT: Final = Reader("text", extract_plain_text)
_PICTURE: Final = Reader("picture", _extract_picture)


def extract_from(
    stream: BinaryIO, file: Path, options: ExtractionOptions, budget: Budget | None = None
) -> Extracted:
    """Extract an open file; the budget is of the outermost one, and made here if this is it."""
    data = stream.read(BEGINNING)
    with_pictures = options.ocr is not None and options.ocr.mode == "force"
    media_type = file_type(data, file, options.encoding, pictures=with_pictures)
    if len(data) == BEGINNING:
        data += stream.read()
    if not data:
        return Extracted("", media_type, is_own_text=media_type not in READERS)
    if media_type == media_types.OLE:
        media_type = ole_type(data, file)
    if media_type == media_types.ZIP:
        media_type = zip_type(data, file)
    budget = budget or Budget(len(data), options.member_seconds)
    source = Source(file, data, media_type, options, budget)
    if media_type == media_types.PDF:
        # Its errors have messages of their own.
        return replace(with_hidden_text(_extract_pdf(source)), media_type=media_type)
    reader = _PICTURE if media_type in media_types.PICTURES else READERS.get(media_type, PLAIN_TEXT)
    with damage(file, reader.name):
        extracted = with_hidden_text(reader.extract(source))
    # That of what a signed file has in it is known already.
    return replace(extracted, media_type=extracted.media_type or media_type)
