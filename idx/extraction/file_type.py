"""Types of files, by their content first and then by their name, and refusal of the others."""

import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.media_types import Kind
from idx.extraction.types import MAX_REASON, ExtractionOptions, Source
from idx.markup.markup import Package
from idx.text.decoding import is_binary


def _lzma_errors() -> tuple[type[Exception], ...]:
    # The Python of a bundle has no LZMA; such archives are then damaged by zipfile's own error.
    try:
        from lzma import LZMAError
    except ImportError:
        return ()
    return (LZMAError,)


_DAMAGE: Final[tuple[type[Exception], ...]] = (
    *_lzma_errors(),
    ArithmeticError,
    EOFError,
    LookupError,
    RuntimeError,
    # Includes the errors of the XML parser.
    SyntaxError,
    ValueError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def damage(file: Path, name: str) -> Iterator[None]:
    """Convert errors of a parser that damaged files cause to one that says so."""
    try:
        yield
    except RecursionError as error:
        raise SourceFileError(file, "is nested too deeply to read") from error
    except _DAMAGE as error:
        # The text of a KeyError is its message in quotation marks.
        is_key = isinstance(error, KeyError) and error.args
        said = str(error.args[0] if is_key else error).strip().partition("\n")[0]
        reason = said[:MAX_REASON] or type(error).__name__
        raise SourceFileError(file, f"is a damaged {name}: {reason}") from error


BEGINNING: Final = 8192  # leading bytes from which the type of a file is detected

# PDF readers accept the header anywhere in the first 1,024 bytes (ISO 32000-1, annex H).
_PDF_HEADER: Final = b"%PDF-"
_PDF_HEADER_WITHIN: Final = 1024

# Atomic, because a backtracking match could divide n comments among its rounds in 2^(n-1) ways.
_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_PART: Final = re.compile(
    rb"\s*(?>(?:<!--.*?-->\s*)*)<(?:b|br|center|div|font|h[1-6]|link|meta|p|pre|script|span|style|"
    rb"table|tbody|thead|title|tr|ol|ul)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Beginning of a page without its frame, as of an export by a program."""

_WEB_ARCHIVE: Final = re.compile(
    rb"(?:[!-9;-~]+:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*+)*?Content-Type:\s*multipart/related",
    re.IGNORECASE,
)
_XML: Final = re.compile(rb"\s*<\?xml\s")
_RTF_HEADER: Final = b"{\\rtf"
_SVG: Final = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*)<svg\b", re.DOTALL
)
_MAIL: Final = re.compile(
    rb"(?:Return-Path|Received|Delivered-To|Message-ID|MIME-Version|DKIM-Signature)[ \t]*: ",
    re.IGNORECASE,
)
_MAIL_HEADER: Final = re.compile(rb"[A-Za-z][!-9;-~]{1,60}: ")
_MAILBOX: Final = re.compile(rb"From \S[^\r\n]{0,200}\d:\d\d[^\r\n]{0,50}\r?\n[!-9;-~]+[ \t]*:")
# Time, a number of the process that delivered it, and the host.
_MAILDIR_NAME: Final = re.compile(r"\d{9,}\.(?:[A-Z]\d+|\d+_\d+)\w*\..+")
_BYTE_ORDER_MARK_CHARACTERS: Final = b"\xef\xbb\xbf\xff\xfe\x00"


def file_type(
    beginning: bytes, file: Path, encoding: str | None = None, *, pictures: bool = False
) -> str:
    """Return the MIME type of a supported file by its first `BEGINNING` bytes and its name.

    Containers are `media_types.ZIP` or `media_types.OLE`, which `zip_type` and `ole_type` examine.
    Text in an encoding that the user gave may look binary.
    """
    named = media_types.by_name(file)
    if not beginning:
        return named or media_types.PLAIN_TEXT
    if beginning.startswith(_RTF_HEADER):
        # Checked first, because its pictures may be raw bytes.
        return media_types.RTF
    if named == media_types.SIGNED and not _MAIL_HEADER.match(beginning):
        return named
    looks_like_text = not is_binary(beginning)
    is_text = encoding is not None or looks_like_text
    if _is_pdf(beginning, named, is_text=is_text):
        return media_types.PDF
    if found := media_types.signature(beginning, is_text=looks_like_text):
        is_opened = found.media_type in media_types.ARCHIVES and named in media_types.ARCHIVES
        is_read = found.media_type in {media_types.OUTLOOK_STORE, media_types.TNEF} or (
            pictures and found.media_type in media_types.PICTURES
        )
        if found.media_type in media_types.CONTAINERS or is_opened or is_read:
            return found.media_type
        refuse(file, found.kind, found.media_type)
    if not is_text:
        refuse(file, Kind.BINARY, None)
    return _text_type(beginning, named, file)


def refuse(file: Path, kind: Kind, media_type: str | None) -> NoReturn:
    """Reject an unsupported file: as a failure if its name claims a supported type."""
    what = kind.value.format(media_type=media_type)
    named = media_types.by_name(file)
    # Extensions of source code are short, and other files use them as well.
    if named is None or named.startswith("text/x-"):
        raise UnsupportedFileError(file, f"is {what}")
    raise SourceFileError(file, f"is named {file.suffix or file.name}, but is {what}")


def _is_pdf(beginning: bytes, named: str | None, *, is_text: bool) -> bool:
    if beginning.startswith(_PDF_HEADER):
        return True
    # A text may contain the header of PDF, and an archive a PDF that is not compressed.
    found = media_types.signature(beginning, is_text=is_text)
    is_archive = found is not None and found.kind is Kind.ARCHIVE
    may_begin_later = named == media_types.PDF or not (is_text or is_archive)
    return may_begin_later and _PDF_HEADER in beginning[:_PDF_HEADER_WITHIN]


def _text_type(beginning: bytes, named: str | None, file: Path) -> str:
    """Return the type of a text: source code and similar by name, the rest by content."""
    # UTF-16 has a null byte next to each letter of a tag.
    begins = beginning.lstrip(_BYTE_ORDER_MARK_CHARACTERS).replace(b"\0", b"")
    if begins.startswith(_RTF_HEADER):
        return media_types.RTF
    if _SVG.match(begins) and (named is None or named == media_types.XML):
        refuse(file, Kind.PICTURE, "image/svg+xml")
    if named is None and b"<FictionBook" in begins:
        refuse(file, Kind.BOOK, "application/x-fictionbook+xml")
    if begins.startswith(b"%!PS-"):
        refuse(file, Kind.POSTSCRIPT, "application/postscript")
    if named in media_types.NAMED_TEXTS and not _is_in_maildir(file):
        return named
    if named == media_types.HTML or _HTML.match(begins):
        return media_types.HTML
    if named in media_types.OFFICE and (saved := _saved_type(begins, named)):
        return saved
    if mail := _mail_type(begins, named, file):
        return mail
    return media_types.XML if _XML.match(begins) else media_types.PLAIN_TEXT


def _saved_type(begins: bytes, named: str) -> str | None:
    """Return the type of a text under the name of an Office file; None for plain text and XML."""
    if _HTML_PART.match(begins):
        return media_types.HTML
    if _WEB_ARCHIVE.match(begins):
        return media_types.WEB_ARCHIVE
    is_sheet = named in media_types.SHEETS and not begins.lstrip().startswith(b"<")
    return media_types.CSV if is_sheet else None


def _mail_type(begins: bytes, named: str | None, file: Path) -> str | None:
    if _MAILBOX.match(begins) and (named is None or named == media_types.MAILBOX):
        return media_types.MAILBOX
    is_mail = named in {media_types.MAIL, media_types.SIGNED} or (
        named in {None, media_types.OUTLOOK} and _MAIL.match(begins)
    )
    return media_types.MAIL if is_mail or _is_in_maildir(file) else None


def _is_in_maildir(file: Path) -> bool:
    """Check whether a file is a message in a Maildir, whose name begins with its time."""
    return file.parent.name in {"cur", "new"} and _MAILDIR_NAME.match(file.name) is not None


_CONTENT_TYPES: Final = "[Content_Types].xml"
_MAIN_PART: Final = re.compile(
    rb'ContentType\s*=\s*["\']application/vnd\.(?:openxmlformats-officedocument\.|ms-)'
    rb"(word|presentation|powerpoint|spreadsheet|excel)[\w.]*?\.(?:document|presentation|slideshow|"
    rb"template|sheet)(\.binary)?(?:\.macroEnabled(?:Template)?)?(?:12)?\.main(?:\+xml)?[\"']",
    re.IGNORECASE,
)
_OFFICE_OPEN: Final = {
    b"word": media_types.DOCX,
    b"presentation": media_types.PPTX,
    b"powerpoint": media_types.PPTX,
    b"spreadsheet": media_types.XLSX,
    b"excel": media_types.XLSX,
}

_MIME_TYPE: Final = "mimetype"
_MAX_MIME_TYPE: Final = 200
_VARIANT: Final = re.compile(r"-(?:template|master|web|master-template)$")
_WITH_MIME_TYPE: Final = frozenset(
    {media_types.ODT, media_types.ODP, media_types.ODS, media_types.EPUB}
)
_IN_ZIP: Final = _WITH_MIME_TYPE | {media_types.DOCX, media_types.PPTX, media_types.XLSX}
_EPUB_CONTAINER: Final = "META-INF/container.xml"

# Names of streams in an OLE file, which its directory stores in UTF-16. The message comes first,
# because its attachments are stored unchanged in it; an entry without type is encrypted.
_STREAMS: Final = (
    (("__properties_version1.0",), media_types.OUTLOOK),
    (("EncryptedPackage", "EncryptionInfo"), None),
    (("WordDocument",), media_types.DOC),
    (("PowerPoint Document",), media_types.PPT),
    (("Workbook", "WORKBOOK", "Book\0", "BOOK\0"), media_types.XLS),
)


def zip_type(data: bytes, file: Path) -> str:
    named = media_types.by_name(file)
    is_opened = named == media_types.ZIP
    if file.suffix.lower() in media_types.IWORK_NAMES:
        refuse(file, Kind.IWORK, media_types.ZIP)
    if named not in _IN_ZIP and not is_opened and not zipfile.is_zipfile(io.BytesIO(data)):
        refuse(file, Kind.ARCHIVE, media_types.ZIP)
    with damage(file, file.suffix.removeprefix(".").upper() or "ZIP archive"):
        package = Package(Source(file, data, media_types.ZIP, ExtractionOptions()))
        if _CONTENT_TYPES in package:
            return _office_open_type(package, file)
        if _MIME_TYPE in package:
            return _declared_type(package, file)
        if is_opened:
            return media_types.ZIP
        if _EPUB_CONTAINER in package:
            return media_types.EPUB
        # Documents of Google have had no type.
        if named not in _WITH_MIME_TYPE or "content.xml" not in package:
            refuse(file, Kind.ARCHIVE, media_types.ZIP)
        return named


def ole_type(data: bytes, file: Path) -> str:
    found = [
        media_type
        for names, media_type in _STREAMS
        if any(name.encode("utf-16-le") in data for name in names)
    ]
    named = media_types.by_name(file)
    if named and named in found:
        # A workbook may hold a document of Word.
        return named
    if not found:
        refuse(file, Kind.BINARY, None)
    if found[0] is None:
        raise SourceFileError(file, "protected by a password")
    return found[0]


def _office_open_type(package: Package, file: Path) -> str:
    main = _MAIN_PART.search(package.read(_CONTENT_TYPES))
    if main is None:
        refuse(file, Kind.ARCHIVE, media_types.ZIP)
    if main[2]:
        return media_types.XLSB
    return _OFFICE_OPEN[main[1].lower()]


def _declared_type(package: Package, file: Path) -> str:
    declared = package.read(_MIME_TYPE)[:_MAX_MIME_TYPE].decode("ascii", "replace").strip()
    media_type = _VARIANT.sub("", declared)
    if media_type not in _WITH_MIME_TYPE:
        is_drawing = media_type.startswith("application/vnd.oasis.opendocument.")
        refuse(file, Kind.DRAWING if is_drawing else Kind.ARCHIVE, media_type)
    return media_type
