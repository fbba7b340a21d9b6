"""Detection of the type of a file, by its content first and then by its name."""

import re
from pathlib import Path
from typing import Final, NoReturn

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.media_types import Kind
from idx.extraction.text.decoding import is_binary

BEGINNING: Final = 8192
"""Number of leading bytes from which the type of a file is detected."""

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
    rb"(?:Return-Path|Received|Delivered-To|Message-ID|MIME-Version|DKIM-Signature): ",
    re.IGNORECASE,
)
_MAIL_HEADER: Final = re.compile(rb"[A-Za-z][!-9;-~]{1,60}: ")
_MAIL_NAMES: Final = frozenset({media_types.MAIL, media_types.SIGNED})
_MAILBOX: Final = re.compile(rb"From \S[^\r\n]{0,200}\d:\d\d[^\r\n]{0,50}\r?\n[!-9;-~]+:")
# Time, a number of the process that delivered it, and the host.
_MAILDIR_NAME: Final = re.compile(r"\d{9,}\.(?:[A-Z]\d+|\d+_\d+)\w*\..+")
_BYTE_ORDER_MARK_CHARACTERS: Final = b"\xef\xbb\xbf\xff\xfe\x00"


def file_type(
    beginning: bytes, file: Path, encoding: str | None = None, *, pictures: bool = False
) -> str:
    """Return the MIME type of a supported file by its first `BEGINNING` bytes and its name.

    Containers are `media_types.ZIP` or `media_types.OLE`, which `container` examines. Text in an
    encoding that the user gave may look binary.
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
        is_read = found.media_type == media_types.OUTLOOK_STORE or (
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
    is_archive = media_types.signature(beginning, is_text=is_text) in media_types.ARCHIVE_SIGNATURES
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
    """Return the type of a message or a mailbox; None for another text."""
    if _MAILBOX.match(begins) and (named is None or named == media_types.MAILBOX):
        return media_types.MAILBOX
    is_mail = named in {media_types.MAIL, media_types.SIGNED} or (
        named is None and _MAIL.match(begins)
    )
    return media_types.MAIL if is_mail or _is_in_maildir(file) else None


def _is_in_maildir(file: Path) -> bool:
    """Check whether a file is a message in a Maildir, whose name begins with its time."""
    return file.parent.name in {"cur", "new"} and _MAILDIR_NAME.match(file.name) is not None
