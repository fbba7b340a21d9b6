"""OpenDocument files, and those of Office 97 to 2003, which LibreOffice converts to them."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.file_type import refuse
from idx.extraction.media_types import Kind
from idx.extraction.programs import confined
from idx.extraction.types import Extracted, Source
from idx.markup.markup import MarkupText, Package, Role, Roles
from idx.office.labelled_rows import LabelledRows, extracted_sheets
from idx.office.number_format import is_seen, number_text
from idx.office.table_headings import MAX_GAP
from idx.text.cleaning import join_pages, join_sections
from idx.text.properties import one_line, properties

_CONTENT: Final = "content.xml"
_STYLES: Final = "styles.xml"

_TABLE_NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_REPEATED: Final = _TABLE_NAMESPACE + "number-columns-repeated"
_SPANNED: Final = tuple(f"{_TABLE_NAMESPACE}number-{of}-spanned" for of in ("rows", "columns"))
_OFFICE_NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_NAME: Final = _TABLE_NAMESPACE + "name"
_TEXT_NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_HEADING: Final = _TEXT_NAMESPACE + "h"
_LEVEL: Final = _TEXT_NAMESPACE + "outline-level"
_LOWEST: Final = 10
"""Level of a heading below those of one digit, which are all that LibreOffice has but the last."""

_DUBLIN_CORE: Final = "{http://purl.org/dc/elements/1.1/}"
_META: Final = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_LIBREOFFICE: Final = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
_GENERATED_LISTS: Final = (
    *("table-of-content", "illustration-index", "table-index", "object-index", "user-index"),
    *("alphabetical-index", "bibliography"),
)

_TEXT_ROLES: Final[Roles] = {
    "p": Role.PARAGRAPH,
    "h": Role.PARAGRAPH,
    "s": " ",
    "tab": "\t",
    "line-break": "\n",
    "table": Role.PARAGRAPH,
    "table-row": Role.ROW,
    "table-cell": Role.CELL,
    "covered-table-cell": Role.CELL,
    "annotation": Role.APART,
    "note-body": Role.APART,
    # Author and date of an annotation; elsewhere the same names are fields in the text.
    **dict.fromkeys((f"{_DUBLIN_CORE}creator", f"{_DUBLIN_CORE}date"), Role.HIDDEN),
    **dict.fromkeys((f"{_META}creator-initials", f"{_META}date-string"), Role.HIDDEN),
    f"{_LIBREOFFICE}sender-initials": Role.HIDDEN,
    # Phonetic guides above a word.
    "ruby-text": Role.HIDDEN,
    # Templates of indexes, with the same titles as the indexes.
    **dict.fromkeys((f"{of}-source" for of in _GENERATED_LISTS), Role.HIDDEN),
    "title": Role.LINE,
    "desc": Role.LINE,
    # Number formats contain texts; headers and footers are in the master styles.
    "styles": Role.HIDDEN,
    "automatic-styles": Role.HIDDEN,
    # Text deleted under tracked changes.
    "tracked-changes": Role.HIDDEN,
    "note-citation": Role.HIDDEN,
    "page-number": Role.HIDDEN,
    "forms": Role.HIDDEN,
    "script": Role.HIDDEN,
    # Pictures, and copies of tables from other files.
    "binary-data": Role.HIDDEN,
    "dde-links": Role.HIDDEN,
}
_SLIDE_ROLES: Final[Roles] = {
    **_TEXT_ROLES,
    "p": Role.LINE,
    "h": Role.LINE,
    "frame": Role.PARAGRAPH,
    "page": Role.PAGE,
}
_SHEET_ROLES: Final[Roles] = {**_TEXT_ROLES, "p": "\n", "table": Role.PAGE}


@dataclass(slots=True, kw_only=True)
class _OpenDocumentText(MarkupText):
    """Collector of text with repeated cells, which `package` counts."""

    package: Package

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        MarkupText.start(self, tag, attributes)
        if tag == _HEADING:
            level = attributes.get(_LEVEL, "1")
            self.begin_heading(int(level) if level.isdecimal() and len(level) == 1 else _LOWEST)

    def copies(self, attributes: Mapping[str, str]) -> int:
        repeated = attributes.get(_REPEATED, "1")
        return min(int(repeated), self.max_gap()) if repeated.isdecimal() else 1

    def max_gap(self) -> int:
        return MAX_GAP

    def count(self, text: str) -> None:
        self.package.count(text)


@dataclass(slots=True, kw_only=True)
class _OpenDocumentSheets(_OpenDocumentText):
    """Collector of sheets, whose rows have the headings of their columns."""

    max_rows: int
    tables: list[LabelledRows] = field(default_factory=list)
    _stored: str = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        before = len(self.pages)
        _OpenDocumentText.start(self, tag, attributes)
        if len(self.pages) > before:
            self.tables.append(LabelledRows(self.max_rows, self.count))
        elif self._rows and self._by_tag[tag] is Role.CELL:
            self._stored = _stored_value(attributes)
            rows, columns = (attributes.get(name, "1") for name in _SPANNED)
            if self.tables and rows.isdecimal() and columns.isdecimal():
                top, left = self.tables[-1].next_number, len(self._rows[-1])
                self.tables[-1].merge(top, left, top + int(rows) - 1, left + int(columns) - 1)

    def end(self, tag: str) -> None:
        role = self._by_tag[tag]
        if role is Role.CELL and self._stored:
            shown = " ".join("".join(self._pieces).split())
            if shown and not is_seen(self._stored, shown):
                self._pieces.append(f" ({self._stored})")
            self._stored = ""
        _OpenDocumentText.end(self, tag)

    def max_gap(self) -> int:
        """Return the maximum number of repetitions of a cell, which keeps others in columns."""
        return self.tables[-1].max_gap if self.tables else MAX_GAP

    def row(self, cells: list[str]) -> str:
        """Return the text of a row, which waits for those below it; see `MarkupText`."""
        if not self.tables:
            return _OpenDocumentText.row(self, cells)
        self.tables[-1].add(cells)
        return ""


def _stored_value(attributes: Mapping[str, str]) -> str:
    """Return the number or date that a cell displays; empty for other values."""
    kind = attributes.get(f"{_OFFICE_NAMESPACE}value-type", "")
    if kind == "date":
        return attributes.get(f"{_OFFICE_NAMESPACE}date-value", "")[:10]
    if kind in ("float", "currency"):
        return number_text(attributes.get(f"{_OFFICE_NAMESPACE}value", ""))
    return ""


def extract_odt(source: Source) -> Extracted:
    """Extract the text of a document, then its notes and annotations, headers and footers."""
    package = _open(source)
    parts = (_CONTENT, _STYLES) if _STYLES in package else (_CONTENT,)
    text, headings = join_sections(
        chain.from_iterable(_read(package, part, _TEXT_ROLES).headed() for part in parts)
    )
    return _extracted(package, Extracted(text, headings=headings))


def extract_odp(source: Source) -> Extracted:
    """Extract a presentation by slides, each with its notes; see `extract_odt`."""
    package = _open(source)
    slides = _read(package, _CONTENT, _SLIDE_ROLES).pages
    texts = ("".join(pieces) for _, pieces in slides)
    text, pages = join_pages("slide", enumerate(texts, start=1))
    return _extracted(package, Extracted(text, pages=pages))


def extract_ods(source: Source) -> Extracted:
    """Extract a spreadsheet by sheets: the name of each, and its rows as displayed.

    A repeated row is extracted once. See `extract_odt`.
    """
    package = _open(source)
    sheets = _OpenDocumentSheets(_SHEET_ROLES, package=package, max_rows=source.options.max_rows)
    package.parse(_CONTENT, sheets)
    found = (
        (attributes.get(_NAME, ""), table, "".join(pieces))
        for (attributes, pieces), table in zip(sheets.pages, sheets.tables, strict=True)
    )
    return _extracted(package, extracted_sheets(found))


def _open(source: Source) -> Package:
    package = Package(source)
    manifest = "META-INF/manifest.xml"
    if manifest in package and b"encryption-data" in package.read(manifest):
        raise SourceFileError(source.file, "protected by a password")
    return package


def _read(package: Package, part: str, roles: Roles) -> MarkupText:
    target = _OpenDocumentText(roles, package=package)
    package.parse(part, target)
    return target


def _extracted(package: Package, found: Extracted) -> Extracted:
    """Add the properties of a file to what was read of it."""
    said = package.texts("meta.xml")
    metadata = properties(
        author=said.get("initial-creator") or said.get("creator"),
        subject="".join(said.get("subject", ())),
        keywords=said.get("keyword"),
        creator="".join(said.get("generator", ())),
        created="".join(said.get("creation-date", ())[:1]),
        modified="".join(said.get("date", ())[:1]),
        language="".join(said.get("language", ())[:1]),
    )
    return replace(found, title=one_line("".join(said.get("title", ())[:1])), metadata=metadata)


_SECONDS: Final = 60.0  # of a conversion; it usually takes two
_MAX_OUTPUT_BYTES: Final = 100_000_000  # of each file that LibreOffice writes

_REGISTRY: Final = "org.openoffice"
_SETTINGS: Final = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    # A proxy that does not exist, so that no picture in a document is fetched.
    ("Inet/Settings", "ooInetProxyType", "2"),
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)
"""Settings of the profile: group, name and value."""

_OLD_OFFICE: Final[dict[str, tuple[Kind, str, str, Callable[[Source], Extracted]]]] = {
    media_types.DOC: (Kind.OLD_DOCUMENT, "doc", "odt", extract_odt),
    media_types.PPT: (Kind.OLD_PRESENTATION, "ppt", "odp", extract_odp),
}


def extract_old_office(source: Source) -> Extracted:
    """Extract a .doc or .ppt through LibreOffice."""
    kind, before, after, extract = _OLD_OFFICE[source.media_type]
    if source.options.libreoffice is None:
        if media_types.by_name(source.file) not in {None, source.media_type}:
            refuse(source.file, kind, source.media_type)
        what = kind.value.format(media_type=source.media_type)
        raise UnsupportedFileError(source.file, f"is {what}, or install LibreOffice")
    data = _converted(source, source.options.libreoffice, before, after)
    return extract(replace(source, data=data))


def _converted(source: Source, program: str, before: str, after: str) -> bytes:
    # A profile of its own: the user's may run programs, and only one process may have it.
    with tempfile.TemporaryDirectory(prefix="idx-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / f"file.{before}").write_bytes(source.data)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_profile(), "utf-8")
        command = [
            *(program, "--headless", "--norestore", "--nologo", "--nolockcheck", "--nodefault"),
            *(f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--convert-to", after),
            *("--outdir", str(folder / "out"), str(folder / f"file.{before}")),
        ]
        _run(command, folder, min(_SECONDS, source.options.member_seconds))
        try:
            return (folder / "out" / f"file.{after}").read_bytes()
        except FileNotFoundError as error:
            raise ValueError("LibreOffice cannot read it") from error


def _run(command: list[str], folder: Path, seconds: float) -> None:
    """Run LibreOffice and all that it starts, and end them after some time."""
    kept = ("PATH", "LANG", "SYSTEMROOT", "WINDIR", "TEMP", "TMP")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**environment, "HOME": str(folder)},
            start_new_session=sys.platform != "win32",
            **confined(_SECONDS, _MAX_OUTPUT_BYTES),
        )
    except OSError as error:
        raise ValueError(f"LibreOffice cannot be started: {error}") from error
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise ValueError("LibreOffice took too long") from error
    finally:
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _profile() -> str:
    items = "".join(
        f'<item oor:path="/{_REGISTRY}.{group}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for group, name, value in _SETTINGS
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        f"{items}</oor:items>"
    )
