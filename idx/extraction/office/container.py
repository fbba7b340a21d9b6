"""Types of ZIP archives and OLE files by their content: supported documents or other files."""

import io
import re
import zipfile
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError
from idx.extraction import media_types
from idx.extraction.damage import damage
from idx.extraction.file_type import refuse
from idx.extraction.markup.package import Package
from idx.extraction.media_types import Kind
from idx.extraction.types import ExtractionOptions, Source

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
# because its attachments are stored unchanged in it; an entry without kind is encrypted.
_STREAMS: Final = (
    (("__properties_version1.0",), Kind.OUTLOOK, media_types.OUTLOOK),
    (("EncryptedPackage", "EncryptionInfo"), None, None),
    (("WordDocument",), Kind.OLD_DOCUMENT, media_types.DOC),
    (("PowerPoint Document",), Kind.OLD_PRESENTATION, media_types.PPT),
    (("Workbook", "Book\0"), Kind.BINARY, media_types.XLS),
)
_READ_OLE: Final = (media_types.OUTLOOK, media_types.XLS, media_types.DOC, media_types.PPT)


def zip_type(data: bytes, file: Path) -> str:
    """Return the MIME type of the document in an archive."""
    named = media_types.by_name(file)
    is_opened = named == media_types.ZIP
    if file.suffix.lower() in media_types.IWORK_NAMES:
        refuse(file, Kind.IWORK, media_types.ZIP)
    if named not in _IN_ZIP and not is_opened and not zipfile.is_zipfile(io.BytesIO(data)):
        refuse(file, Kind.ARCHIVE, media_types.ZIP)
    with damage(file, file.suffix.removeprefix(".").upper() or "ZIP archive"):
        package = Package(Source(file, data, media_types.ZIP, ExtractionOptions()))
        if is_opened and not _says_type(package):
            return media_types.ZIP
        if _CONTENT_TYPES in package:
            return _office_open_type(package, file)
        if _MIME_TYPE in package:
            return _declared_type(package, file)
        if _EPUB_CONTAINER not in package:
            refuse(file, Kind.ARCHIVE, media_types.ZIP)
        return media_types.EPUB


def _says_type(package: Package) -> bool:
    """Check whether an archive says which document it is."""
    return _CONTENT_TYPES in package or _MIME_TYPE in package


def ole_type(data: bytes, file: Path) -> str:
    """Return the MIME type of the document in an OLE file."""
    for names, kind, media_type in _STREAMS:
        if any(name.encode("utf-16-le") in data for name in names):
            if kind is None:
                raise SourceFileError(file, "protected by a password")
            if media_type not in _READ_OLE:
                refuse(file, kind, media_type)
            return media_type
    return refuse(file, Kind.BINARY, None)


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
