"""File types: MIME types, names, and signatures at the beginning of files."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

PLAIN_TEXT: Final = "text/plain"
PDF: Final = "application/pdf"
HTML: Final = "text/html"
MARKDOWN: Final = "text/markdown"
XML: Final = "application/xml"
RTF: Final = "application/rtf"
MAIL: Final = "message/rfc822"
EPUB: Final = "application/epub+zip"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT: Final = "application/vnd.oasis.opendocument.text"
ODP: Final = "application/vnd.oasis.opendocument.presentation"
ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
CSV: Final = "text/csv"
TSV: Final = "text/tab-separated-values"
NOTEBOOK: Final = "application/x-ipynb+json"
SUBRIP: Final = "application/x-subrip"
WEBVTT: Final = "text/vtt"
CALENDAR: Final = "text/calendar"
VCARD: Final = "text/vcard"
RST: Final = "text/x-rst"
ASCIIDOC: Final = "text/x-asciidoc"
ORG: Final = "text/x-org"
LATEX: Final = "text/x-tex"
BIBTEX: Final = "text/x-bibtex"
JSON: Final = "application/json"
JSON_LINES: Final = "application/jsonl"
YAML: Final = "application/yaml"
TOML: Final = "application/toml"
PROPERTIES: Final = "text/x-java-properties"
SOURCE_CODE: Final = "text/x-source"

DOC: Final = "application/msword"
PPT: Final = "application/vnd.ms-powerpoint"
XLS: Final = "application/vnd.ms-excel"
XLSB: Final = "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
OUTLOOK: Final = "application/vnd.ms-outlook"
WEB_ARCHIVE: Final = "multipart/related"
SIGNED: Final = "application/pkcs7-mime"
MAILBOX: Final = "application/mbox"
OUTLOOK_STORE: Final = "application/vnd.ms-outlook-pst"
TNEF: Final = "application/vnd.ms-tnef"
TAR: Final = "application/x-tar"
GZIP: Final = "application/gzip"
BZIP2: Final = "application/x-bzip2"
XZ: Final = "application/x-xz"
DJVU: Final = "image/vnd.djvu"
SEVEN_ZIP: Final = "application/x-7z-compressed"
ZIP: Final = "application/zip"
OLE: Final = "application/x-ole-storage"
CONTAINERS: Final = frozenset({ZIP, OLE})
"""Types of containers; the type of the file depends on the content."""

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/tiff"})
"""Types of pictures that OCR reads."""

ARCHIVES: Final = frozenset({ZIP, TAR, GZIP, BZIP2, XZ, SEVEN_ZIP})
"""Types of archives that are opened if their names say so: others are programs, and parts of
documents."""

MAILBOXES: Final = frozenset({MAILBOX, OUTLOOK_STORE})

IWORK_NAMES: Final = frozenset({".pages", ".numbers", ".key"})
"""Names of documents of Apple's office programs."""


class Kind(Enum):
    """Kind of an unsupported file, with the reason; the braces are replaced by its MIME type."""

    PICTURE = "a picture ({media_type}), which has no text of its own; see --ocr"
    SOUND = "a sound recording ({media_type}), which has no text"
    VIDEO = "a video ({media_type}), which has no text"
    ARCHIVE = "an archive ({media_type}) of a kind or name that is not opened; unpack it"
    FONT = "a font ({media_type}), which has no text"
    PROGRAM = "a program ({media_type}), which has no text"
    DATABASE = "a database or data set ({media_type}); export its texts"
    POSTSCRIPT = "PostScript ({media_type}); save it as .pdf"
    OLD_DOCUMENT = "a document of Word 97 to 2003 ({media_type}); save it as .docx"
    OLD_PRESENTATION = "a presentation of PowerPoint 97 to 2003 ({media_type}); save it as .pptx"
    IWORK = "a document of Pages, Numbers or Keynote; export it as PDF"
    DJVU = "a DjVu file ({media_type}); save it as PDF"
    BOOK = "an electronic book ({media_type}); save it as .epub"
    HELP = "help of Windows ({media_type}); save its pages as .html, or unpack them with 7-Zip"
    DRAWING = "an OpenDocument file without pages of text ({media_type})"
    BINARY = "binary, of an unknown kind"


# All variants of a format, such as templates and macro documents, have the type of the plain one.
_NAMES: Final = {
    PDF: ".pdf",
    DOCX: ".docx .docm .dotx .dotm",
    PPTX: ".pptx .pptm .ppsx .ppsm .potx .potm",
    XLSX: ".xlsx .xlsm .xltx .xltm",
    DOC: ".doc .dot",
    PPT: ".ppt .pps .pot",
    XLS: ".xls .xlt .xla",
    XLSB: ".xlsb",
    ODT: ".odt .ott .odm",
    ODP: ".odp .otp",
    ODS: ".ods .ots",
    EPUB: ".epub",
    RTF: ".rtf",
    MAIL: ".eml .emlx",
    OUTLOOK: ".msg",
    TNEF: ".tnef",
    MAILBOX: ".mbox .mbx",
    OUTLOOK_STORE: ".pst .ost",
    ZIP: ".zip",
    TAR: ".tar",
    GZIP: ".tgz .gz",
    BZIP2: ".tbz2 .tbz .bz2",
    XZ: ".txz .xz",
    SEVEN_ZIP: ".7z",
    HTML: ".html .htm .xhtml .xht",
    PLAIN_TEXT: ".txt .text .log .ini .cfg .conf .asc .nfo .me",
}
_NAMES_OF_TEXTS: Final = {
    SIGNED: ".p7m",
    WEB_ARCHIVE: ".mhtml .mht",
    MARKDOWN: ".md .markdown .mdown .mkd .mkdn .mdx .qmd .rmd",
    XML: ".xml .xsd .xsl .xslt .rss .atom .dita .ditamap .docbook .dbk .tei .plist",
    CSV: ".csv",
    TSV: ".tsv .tab",
    JSON: ".json .geojson .webmanifest .har .arb",
    JSON_LINES: ".jsonl .ndjson",
    NOTEBOOK: ".ipynb",
    YAML: ".yaml .yml",
    TOML: ".toml",
    "application/sql": ".sql",
    SUBRIP: ".srt",
    WEBVTT: ".vtt",
    "text/css": ".css",
    "text/javascript": ".js .mjs .cjs .jsx",
    CALENDAR: ".ics .ical .ifb",
    VCARD: ".vcf .vcard",
    RST: ".rst",
    ASCIIDOC: ".adoc .asciidoc",
    ORG: ".org",
    LATEX: ".tex .ltx .sty .cls",
    BIBTEX: ".bib",
    PROPERTIES: ".properties",
    "text/x-diff": ".diff .patch",
    SOURCE_CODE: (
        "dockerfile makefile .bas .bash .c .cc .clj .cljs .cpp .cs .cts .cxx .dart "
        ".dockerfile .edn .ejs .el .erb .erl .ex .exs .fish .fs .fsx .go .gradle .groovy .h "
        ".hbs .hh .hpp .hrl .hs .hxx .j2 .java .jinja .jinja2 .jl .kt .kts .lisp .lua .mk .ml "
        ".mli .mts .mustache .pas .php .pl .pm .pp .ps1 .psm1 .py .pyi .pyw .r .rb .rs .scala "
        ".scm .sh .svelte .swift .tmpl .ts .tsx .vb .vue .zig .zsh"
    ),
}
"""Types of text that only the file name reveals."""

NAMED_TEXTS: Final = frozenset(_NAMES_OF_TEXTS)
TYPES_BY_NAME: Final = {
    name: type_ for type_, names in (_NAMES | _NAMES_OF_TEXTS).items() for name in names.split()
}
"""Supported types by file names and extensions."""

SHEETS: Final = frozenset({XLS, XLSX, XLSB})
OFFICE: Final = SHEETS | {DOC, DOCX, PPT, PPTX}
"""Types of Microsoft's office programs, by whose names other programs save pages and tables."""


def by_name(file: Path) -> str | None:
    """Return the supported type that a file name claims; None if it claims none."""
    return TYPES_BY_NAME.get((file.suffix or file.name).lower())


@dataclass(frozen=True, slots=True)
class Signature:
    kind: Kind
    media_type: str
    magic: bytes
    offset: int = 0

    @property
    def is_letters(self) -> bool:
        return self.magic.isascii() and self.magic.decode().isprintable()


_SIGNATURES: Final = (
    Signature(Kind.ARCHIVE, ZIP, b"PK\x03\x04"),
    Signature(Kind.ARCHIVE, ZIP, b"PK\x05\x06"),
    Signature(Kind.OLD_DOCUMENT, OLE, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    Signature(Kind.PICTURE, "image/png", b"\x89PNG\r\n\x1a\n"),
    Signature(Kind.PICTURE, "image/jpeg", b"\xff\xd8\xff"),
    Signature(Kind.PICTURE, "image/gif", b"GIF87a"),
    Signature(Kind.PICTURE, "image/gif", b"GIF89a"),
    Signature(Kind.PICTURE, "image/webp", b"WEBP", 8),
    Signature(Kind.PICTURE, "image/tiff", b"II*\0"),
    Signature(Kind.PICTURE, "image/tiff", b"MM\0*"),
    Signature(Kind.PICTURE, "image/x-icon", b"\0\0\1\0"),
    Signature(Kind.PICTURE, "image/jp2", b"\0\0\0\x0cjP  "),
    Signature(Kind.PICTURE, "image/heic", b"ftyphe", 4),
    Signature(Kind.PICTURE, "image/heic", b"ftypmif1", 4),
    Signature(Kind.PICTURE, "image/avif", b"ftypavi", 4),
    Signature(Kind.PICTURE, "image/vnd.adobe.photoshop", b"8BPS"),
    Signature(Kind.PICTURE, "image/x-xcf", b"gimp xcf"),
    Signature(Kind.DJVU, DJVU, b"AT&TFORM"),
    Signature(Kind.PICTURE, "image/bmp", b"BM"),
    Signature(Kind.SOUND, "audio/mpeg", b"ID3"),
    Signature(Kind.SOUND, "audio/mpeg", b"\xff\xfb"),
    Signature(Kind.SOUND, "audio/flac", b"fLaC"),
    Signature(Kind.SOUND, "audio/ogg", b"OggS"),
    Signature(Kind.SOUND, "audio/wav", b"WAVE", 8),
    Signature(Kind.SOUND, "audio/mp4", b"ftypM4A", 4),
    Signature(Kind.SOUND, "audio/midi", b"MThd"),
    Signature(Kind.SOUND, "audio/aiff", b"AIFF", 8),
    Signature(Kind.VIDEO, "video/mp4", b"ftyp", 4),
    Signature(Kind.VIDEO, "video/x-msvideo", b"AVI ", 8),
    Signature(Kind.VIDEO, "video/x-matroska", b"\x1aE\xdf\xa3"),
    Signature(Kind.VIDEO, "video/mpeg", b"\0\0\1\xba"),
    Signature(Kind.VIDEO, "video/x-flv", b"FLV\1"),
    Signature(Kind.VIDEO, "video/x-ms-asf", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"),
    Signature(Kind.ARCHIVE, GZIP, b"\x1f\x8b"),
    Signature(Kind.ARCHIVE, BZIP2, b"BZh"),
    Signature(Kind.ARCHIVE, XZ, b"\xfd7zXZ\0"),
    Signature(Kind.ARCHIVE, SEVEN_ZIP, b"7z\xbc\xaf\x27\x1c"),
    Signature(Kind.ARCHIVE, "application/vnd.rar", b"Rar!\x1a\7"),
    Signature(Kind.ARCHIVE, "application/zstd", b"\x28\xb5\x2f\xfd"),
    Signature(Kind.ARCHIVE, "application/x-lz4", b"\x04\x22\x4d\x18"),
    Signature(Kind.ARCHIVE, TAR, b"ustar", 257),
    Signature(Kind.ARCHIVE, "application/vnd.ms-cab-compressed", b"MSCF\0"),
    Signature(Kind.ARCHIVE, "application/x-archive", b"!<arch>\n"),
    Signature(Kind.HELP, "application/vnd.ms-htmlhelp", b"ITSF\3\0"),
    Signature(Kind.FONT, "font/ttf", b"\0\1\0\0\0"),
    Signature(Kind.FONT, "font/otf", b"OTTO"),
    Signature(Kind.FONT, "font/collection", b"ttcf"),
    Signature(Kind.FONT, "font/woff", b"wOFF"),
    Signature(Kind.FONT, "font/woff2", b"wOF2"),
    Signature(Kind.PROGRAM, "application/x-elf", b"\x7fELF"),
    Signature(Kind.PROGRAM, "application/x-msdownload", b"MZ"),
    Signature(Kind.PROGRAM, "application/java-vm", b"\xca\xfe\xba\xbe"),
    Signature(Kind.PROGRAM, "application/x-mach-binary", b"\xcf\xfa\xed\xfe"),
    Signature(Kind.PROGRAM, "application/x-mach-binary", b"\xce\xfa\xed\xfe"),
    Signature(Kind.PROGRAM, "application/wasm", b"\0asm"),
    Signature(Kind.DATABASE, "application/vnd.sqlite3", b"SQLite format 3\0"),
    Signature(Kind.DATABASE, "application/x-msaccess", b"\0\1\0\0Standard "),
    Signature(Kind.DATABASE, "application/vnd.apache.parquet", b"PAR1"),
    Signature(Kind.DATABASE, "application/x-hdf5", b"\x89HDF\r\n\x1a\n"),
    Signature(Kind.DATABASE, "application/avro", b"Obj\1"),
    Signature(Kind.ARCHIVE, OUTLOOK_STORE, b"!BDN"),
    Signature(Kind.ARCHIVE, TNEF, b"\x78\x9f\x3e\x22"),
)
"""Signatures, with longer ones before their prefixes."""


def signature(beginning: bytes, *, is_text: bool) -> Signature | None:
    for entry in _SIGNATURES:
        if beginning.startswith(entry.magic, entry.offset) and not (is_text and entry.is_letters):
            return entry
    return None
