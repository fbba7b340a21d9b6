"""Table of supported formats, and the entry point that extracts a file of any of them."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from idx.errors import SourceFileError
from idx.extraction import media_types
from idx.extraction.containers.archive import extract_7z, extract_tar, extract_zip
from idx.extraction.containers.budget import Budget
from idx.extraction.containers.mail import extract_mail, extract_web_archive
from idx.extraction.containers.mailbox import extract_mailbox
from idx.extraction.containers.outlook import extract_outlook
from idx.extraction.containers.outlook_store import extract_outlook_store
from idx.extraction.containers.smime import EncryptedError, is_message, signed_content
from idx.extraction.damage import damage
from idx.extraction.file_type import BEGINNING, file_type
from idx.extraction.markup.epub import extract_epub
from idx.extraction.markup.fiction_book import extract_fb2
from idx.extraction.markup.html import extract_html
from idx.extraction.markup.markdown import extract_markdown
from idx.extraction.markup.notebook import extract_notebook
from idx.extraction.markup.xml_text import extract_xml
from idx.extraction.office.container import ole_type, zip_type
from idx.extraction.office.delimited import extract_delimited
from idx.extraction.office.libreoffice import extract_old_office
from idx.extraction.office.old_workbook import extract_binary_workbook
from idx.extraction.office.open_document import extract_odp, extract_ods, extract_odt
from idx.extraction.office.rtf.reader import extract_rtf
from idx.extraction.office.slides import extract_pptx
from idx.extraction.office.word import extract_docx
from idx.extraction.office.workbook import extract_xlsx
from idx.extraction.pdf.djvu import extract_djvu
from idx.extraction.pdf.iwork import extract_iwork
from idx.extraction.text.calendar import extract_calendar
from idx.extraction.text.outlines import extract_outlined
from idx.extraction.text.plain_text import extract_plain_text
from idx.extraction.text.properties import with_hidden_text
from idx.extraction.text.subtitles import extract_subtitles
from idx.extraction.types import Extracted, ExtractionOptions, Source


@dataclass(frozen=True, slots=True)
class Format:
    """Format of files; `docs/formats.md` shows these as a table.

    Attributes:
        name: its common name, for the message "is a damaged …".
        extract: the function that extracts the text.
        title: its name in the documentation.
        text: what is extracted.
        metadata: where title and metadata come from; empty without any.
        library: what parses it, beside Python's own modules; empty without any.
        unit: what its pages are; empty without pages.
    """

    name: str
    extract: Callable[[Source], Extracted]
    title: str
    text: str
    metadata: str = ""
    library: str = ""
    unit: str = ""


def _extract_pdf(source: Source) -> Extracted:
    # PDFium takes a tenth of a second to load, which most runs need not wait for.
    from idx.extraction.pdf.reader import extract_pdf

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


PLAIN_TEXT: Final = Format(
    "text",
    extract_plain_text,
    title="plain text, source code, JSON, YAML and any other text",
    text="as in the file, [escapes](#escaped-letters) as letters",
)
_AS_WRITTEN: Final = "as in the file, with its headings"
_ROWS: Final = (
    "[rows with the headings of their columns](#rows-of-tables), on their lines; irregular ones "
    "as in the file"
)
_ARCHIVE: Final = "the names of its files, each of which is [a document of its own](#archives)"
_BINARY_SHEETS: Final = (
    "like Excel, without notes and texts in drawings; numbers as stored, dates in ISO 8601"
)
_CALAMINE: Final = "python-calamine"
_PACKAGE: Final = "lxml"
_IWORK: Final = {
    "text": "the pages of its preview, which the programs of 2009 to 2013 stored; later files are "
    "[not read](#what-is-not-read)",
    "library": "pypdfium2, pdfplumber",
    "unit": "pages",
}

FORMATS: Final = {
    media_types.PDF: Format(
        "PDF",
        _extract_pdf,
        title="PDF",
        text="its pages",
        metadata="properties",
        library="pypdfium2, pdfplumber",
        unit="pages",
    ),
    media_types.DJVU: Format(
        "DjVu file",
        extract_djvu,
        title="DjVu",
        text="the text behind its pictures, if [djvutxt](#old-office-and-djvu) is installed",
        library="DjVuLibre",
        unit="pages",
    ),
    media_types.DOCX: Format(
        "DOCX",
        extract_docx,
        title="Word",
        text="body with [the numbers that Word makes](#word-and-powerpoint) and inserted "
        "documents (HTML, MHTML, RTF, Word), then foot- and endnotes, comments, charts, diagrams, "
        "headers and footers once each; no tracked deletions",
        metadata="properties",
        library=_PACKAGE,
    ),
    media_types.PPTX: Format(
        "PPTX",
        extract_pptx,
        title="PowerPoint",
        text="slides in order, each with its charts, diagrams, notes and comments; what stands on "
        "a layout or master, on the first slide that shows it; no slide numbers",
        metadata="properties",
        library=_PACKAGE,
        unit="slides",
    ),
    media_types.XLSX: Format(
        "XLSX",
        extract_xlsx,
        title="Excel",
        text="sheets, including hidden ones: name, [rows with the headings of their "
        "columns](#rows-of-tables), texts in drawings, notes and threaded comments; [numbers as "
        "Excel shows them](#numbers-in-sheets), formulas by their stored value",
        metadata="properties",
        library=_PACKAGE,
        unit="sheets",
    ),
    media_types.DOC: Format(
        "DOC",
        extract_old_office,
        title="Word 97 to 2003",
        text="like OpenDocument text, if [LibreOffice](#old-office-and-djvu) is installed",
        metadata="properties",
        library="LibreOffice",
    ),
    media_types.PPT: Format(
        "PPT",
        extract_old_office,
        title="PowerPoint 97 to 2003",
        text="like OpenDocument slides, if [LibreOffice](#old-office-and-djvu) is installed",
        metadata="properties",
        library="LibreOffice",
        unit="slides",
    ),
    media_types.XLS: Format(
        "XLS",
        extract_binary_workbook,
        title="Excel 97 to 2003",
        text=_BINARY_SHEETS,
        library=_CALAMINE,
        unit="sheets",
    ),
    media_types.XLSB: Format(
        "XLSB",
        extract_binary_workbook,
        title="Excel, binary",
        text=_BINARY_SHEETS,
        library=_CALAMINE,
        unit="sheets",
    ),
    media_types.ODT: Format(
        "ODT",
        extract_odt,
        title="OpenDocument text",
        text="like Word, without charts",
        metadata="properties",
        library=_PACKAGE,
    ),
    media_types.ODP: Format(
        "ODP",
        extract_odp,
        title="OpenDocument slides",
        text="like PowerPoint, without charts",
        metadata="properties",
        library=_PACKAGE,
        unit="slides",
    ),
    media_types.ODS: Format(
        "ODS",
        extract_ods,
        title="OpenDocument sheets",
        text="like Excel, without charts, values as shown; a repeated row is taken once",
        metadata="properties",
        library=_PACKAGE,
        unit="sheets",
    ),
    media_types.PAGES: Format("Pages file", extract_iwork, title="Pages", **_IWORK),
    media_types.NUMBERS: Format("Numbers file", extract_iwork, title="Numbers", **_IWORK),
    media_types.KEYNOTE: Format("Keynote file", extract_iwork, title="Keynote", **_IWORK),
    media_types.RTF: Format(
        "RTF",
        extract_rtf,
        title="Rich Text",
        text="body with the numbers of its paragraphs, then notes, comments, headers and footers; "
        "no hidden text",
        metadata="the information group",
    ),
    media_types.EPUB: Format(
        "EPUB",
        extract_epub,
        title="EPUB",
        text="chapters in reading order, without the table of contents; a warning names missing "
        "ones",
        metadata="the package's metadata",
        library=_PACKAGE,
    ),
    media_types.FICTION_BOOK: Format(
        "FB2",
        extract_fb2,
        title="FictionBook",
        text="the book with its notes, without pictures",
        metadata="its description",
        library=_PACKAGE,
    ),
    media_types.HTML: Format(
        "HTML page",
        extract_html,
        title="HTML",
        text="the page without scripts, styles and comments, in its declared encoding",
        metadata="`<title>`, `<meta>`, `lang`",
        library=_PACKAGE,
    ),
    media_types.MAIL: Format(
        "e-mail",
        extract_mail,
        title="e-mail",
        text="From, To, Cc, Date, Subject; all texts, of alternatives [one](#mail); invitations; "
        "[attachments](#mail) as documents of their own",
        metadata="its headers",
        library=_PACKAGE,
    ),
    media_types.OUTLOOK: Format(
        "message of Outlook",
        extract_outlook,
        title="message of Outlook",
        text="like e-mail, by its code page; attached messages are named only",
        metadata="its headers",
        library="python-oxmsg",
    ),
    media_types.SIGNED: Format(
        "signed file",
        _extract_signed,
        title="signed by S/MIME",
        text="the file or message that is signed, by its own format; no signature is checked",
    ),
    media_types.WEB_ARCHIVE: Format(
        "web archive",
        extract_web_archive,
        title="web archive",
        text="the pages in it, like HTML",
        metadata="like HTML, of the first page",
        library=_PACKAGE,
    ),
    media_types.MAILBOX: Format(
        "mailbox",
        extract_mailbox,
        title="mailbox",
        text="each message as a document of its own, like e-mail",
    ),
    media_types.OUTLOOK_STORE: Format(
        "mailbox of Outlook",
        extract_outlook_store,
        title="mailbox of Outlook",
        text="the names of its folders; each message as a document of its own, like e-mail, if the "
        "[extra `pst`](#mailboxes-of-outlook) is installed",
        library="libpff",
    ),
    media_types.ZIP: Format(
        "ZIP archive",
        extract_zip,
        title="ZIP archive",
        text=_ARCHIVE,
    ),
    media_types.TAR: Format("tar archive", extract_tar, title="tar archive", text=_ARCHIVE),
    media_types.GZIP: Format(
        "gzip file",
        extract_tar,
        title="gzip file or archive",
        text=_ARCHIVE,
    ),
    media_types.BZIP2: Format(
        "bzip2 file",
        extract_tar,
        title="bzip2 file or archive",
        text=_ARCHIVE,
    ),
    media_types.XZ: Format(
        "XZ file",
        extract_tar,
        title="XZ file or archive",
        text=_ARCHIVE,
    ),
    media_types.SEVEN_ZIP: Format(
        "7z archive",
        extract_7z,
        title="7z archive",
        text=f"{_ARCHIVE}, if the [extra `7z`](#7z-archives) is installed",
        library="py7zr",
    ),
    media_types.MARKDOWN: Format(
        "Markdown text",
        extract_markdown,
        title="Markdown",
        text="line by line as in the file, [Obsidian's markup](#notes-in-markdown) as text",
        metadata="[front matter](#notes-in-markdown); the title is else the first heading of level "
        "one, else the file name without extension",
        library="pyyaml",
    ),
    media_types.CSV: Format(
        "CSV file",
        extract_delimited,
        title="CSV",
        text=_ROWS,
    ),
    media_types.TSV: Format(
        "TSV file",
        extract_delimited,
        title="TSV",
        text=_ROWS,
    ),
    media_types.NOTEBOOK: Format(
        "notebook",
        extract_notebook,
        title="Jupyter notebook",
        text="cells in order, each with its outputs as text; no pictures and other data in base64",
        metadata="its metadata; the title is else the first heading of level one",
    ),
    media_types.LATEX: Format(
        "LaTeX text",
        extract_outlined,
        title="LaTeX",
        text=f"{_AS_WRITTEN}, [escapes](#escaped-letters) as letters",
        metadata="`\\title`, `\\author`",
    ),
    media_types.ORG: Format(
        "Org text",
        extract_outlined,
        title="Org",
        text=_AS_WRITTEN,
        metadata="`#+TITLE`, `#+AUTHOR` and others; the title is else the first heading",
    ),
    media_types.RST: Format(
        "reStructuredText",
        extract_outlined,
        title="reStructuredText",
        text=_AS_WRITTEN,
        metadata="the first heading is the title",
    ),
    media_types.ASCIIDOC: Format(
        "AsciiDoc text",
        extract_outlined,
        title="AsciiDoc",
        text=_AS_WRITTEN,
        metadata="the first heading is the title",
    ),
    media_types.SUBRIP: Format(
        "SRT file",
        extract_subtitles,
        title="SubRip subtitles",
        text="what is said, without numbers and styles; the section is the time in hours and "
        "minutes, `00:12`",
    ),
    media_types.WEBVTT: Format(
        "WebVTT file",
        extract_subtitles,
        title="WebVTT subtitles",
        text="like SubRip; a line that automatic captions repeat is taken once",
    ),
    media_types.CALENDAR: Format(
        "calendar",
        extract_calendar,
        title="iCalendar",
        text="events, tasks and journals, each a section: title, times, place, people, description",
        metadata="its name",
    ),
    media_types.VCARD: Format(
        "vCard",
        extract_calendar,
        title="vCard",
        text="people, each a section: names, organization, addresses, telephones, notes; no "
        "pictures",
        metadata="the name in a file with one card",
    ),
    media_types.XML: Format(
        "XML file",
        extract_xml,
        title="XML",
        text="line by line, references as letters; without tags if at least half of it is text, "
        "such as DocBook, else with them, because people search for its names; workbooks of Excel "
        "2003 like Excel, without notes",
        metadata="`<title>`",
    ),
}
"""Formats by MIME type; every other type that `file_type` returns is read as plain text."""


def _extract_picture(source: Source) -> Extracted:
    from idx.extraction.pdf.ocr.scanned import extract_picture

    return extract_picture(source)


_PICTURE: Final = Format("picture", _extract_picture, title="picture", text="text found by OCR")


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


def extract_from(
    stream: BinaryIO, file: Path, options: ExtractionOptions, budget: Budget | None = None
) -> Extracted:
    """Extract like `extract` from an open file.

    Args:
        stream: the file.
        file: its path, for its name and for messages.
        options: the options of extraction.
        budget: what may be unpacked from the outermost file; None for what may be by default.
    """
    data = stream.read(BEGINNING)
    with_pictures = options.ocr is not None and options.ocr.mode == "force"
    media_type = file_type(data, file, options.encoding, pictures=with_pictures)
    if len(data) == BEGINNING:
        data += stream.read()
    if not data:
        return Extracted("", media_type, is_own_text=media_type not in FORMATS)
    if media_type == media_types.OLE:
        media_type = ole_type(data, file)
    if media_type == media_types.ZIP:
        media_type = zip_type(data, file)
    budget = budget or Budget(len(data), options.member_seconds)
    source = Source(file, data, media_type, options, budget)
    if media_type == media_types.PDF:
        # Its errors have messages of their own.
        return with_hidden_text(_extract_pdf(source))
    format_ = (
        _PICTURE if media_type in media_types.PICTURES else FORMATS.get(media_type, PLAIN_TEXT)
    )
    with damage(file, format_.name):
        return with_hidden_text(format_.extract(source))
