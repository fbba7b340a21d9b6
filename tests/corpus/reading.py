"""The corpus unpacked, and what `idx` and the engines of PDFs make of it."""

import json
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pypdfium2 import PdfDocument, PdfiumError

from idx.errors import SourceFileError
from idx.extraction.types import Extracted, ExtractionOptions
from idx.pdf.grid import table_layout
from idx.pdf.reader import extract_pdf
from idx.text.cleaning import CELL_SEPARATOR
from tests.programs import PROGRAMS, run

SOURCES: Final = Path(__file__).parent / ".venv" / "sources"
"""The source packages, which `make soak` downloads."""

_PROGRAM_FILES: Final = (".py", ".pyi", ".c", ".h", ".js", ".gitignore", ".idxignore")
_TIMEOUT: Final = 30
_TOO_LONG: Final = "was not read within"

_GROUPS: Final = {
    "PDF": ".pdf",
    "Word, PowerPoint, Excel": ".docx .docm .pptx .ppsx .xlsx .xlsm .xlsb",
    "Word, PowerPoint, Excel of 1997 to 2003": ".doc .ppt .xls",
    "OpenDocument": ".odt .ods .odp .odg .ott",
    "mail": ".eml .msg",
    "notebooks": ".ipynb",
    "pictures": ".png .jpg .jpeg .gif .tif .tiff .bmp .jp2 .jb2 .svg",
}
_BY_SUFFIX: Final = {suffix: name for name, all_ in _GROUPS.items() for suffix in all_.split()}

OUTCOMES: Final = (
    *("read", "in part", "failed", "timed out", "garbled", "unsupported", "empty", "secret"),
)


def unpack(folder: Path) -> list[Path]:
    """Unpack the files of the corpus that are no programs; return them."""
    for source in sorted(SOURCES.iterdir()):
        with tarfile.open(source) as archive:
            for member in archive:
                if member.isreg() and not member.name.endswith(_PROGRAM_FILES):
                    archive.extract(member, folder, filter="data")
    return sorted(file for file in folder.rglob("*") if file.is_file())


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of a sync."""

    files: dict[str, str]
    finished: dict[str, Any]

    def by_group(self) -> dict[str, Counter[str]]:
        """The number of files by their kind and outcome."""
        groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, outcome in self.files.items():
            group = _BY_SUFFIX.get(Path(name).suffix.lower(), "other files")
            groups[group][outcome] += 1
        return {name: groups[name] for name in (*_GROUPS, "other files") if name in groups}


def sync(folder: Path, index: Path) -> Outcomes:
    """Index the unpacked corpus, without OCR, and return what became of each file."""
    done = run(
        *(PROGRAMS / "idx", "sync", folder, "--index-path", index, "--json", "--hidden"),
        *("--ocr", "off", "--timeout", str(_TIMEOUT)),
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    files = {}
    for event in map(json.loads, done.stdout.splitlines()):
        name = event.get("source_document")
        if event["event"] == "indexed" and event["container"] is None:
            files[name] = "in part" if event["warnings"] else "read"
        elif event["event"] == "leftout":
            files[name] = "secret"
        elif event["event"] == "notindexed" and event["container"] is None:
            files[name] = "timed out" if _TOO_LONG in event["reason"] else event["kind"]
    assert event["event"] == "finished"
    return Outcomes(files, event)


@dataclass(frozen=True)
class Comparison:
    """A PDF with ruled tables, read by PDFium alone and by `auto`."""

    name: str
    creator: str
    pages: int
    rows: int
    words: int
    lost: int


def compare(folder: Path) -> Iterator[Comparison]:
    """Yield each PDF in a folder with a page of ruled tables, none twice."""
    known = set()
    for file in sorted(folder.rglob("*.[pP][dD][fF]")):
        data = file.read_bytes()
        if data not in known and _has_tables(data):
            known.add(data)
            options = ExtractionOptions(table_seconds=_TIMEOUT)
            try:
                plain, auto = (
                    extract_pdf(file, data, replace(options, pdf_engine=engine))
                    for engine in ("pdfium", "auto")
                )
            except SourceFileError:
                # Both engines refuse it.
                continue
            yield _comparison(file.name, plain, auto)


def _has_tables(data: bytes) -> bool:
    try:
        with PdfDocument(data) as document:
            return any(table_layout(document[number]) for number in range(len(document)))
    except PdfiumError:
        return False


def _comparison(name: str, plain: Extracted, auto: Extracted) -> Comparison:
    words = Counter(plain.text.split())
    lost = words - Counter(auto.text.replace(CELL_SEPARATOR.strip(), " ").split())
    rows = sum(CELL_SEPARATOR in line for line in auto.text.splitlines())
    creator = str(plain.metadata.get("creator", ""))
    return Comparison(name, creator, len(auto.pages), rows, words.total(), lost.total())
