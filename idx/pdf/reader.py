"""Extraction of a PDF page by page, with form fields, properties and the headings of its outline.

PDFium reads all pages. A page whose lines form a grid is also read by pdfplumber, which recognizes
the cells of tables but takes far longer, and so is one with ligatures that PDFium does not know.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from idx.errors import SourceFileError
from idx.extraction.types import Extracted, ExtractionOptions, Ocr
from idx.pdf.details import outline_headings, read_fields, read_outline, read_properties
from idx.pdf.grid import Layout, table_layout
from idx.pdf.letters import (
    RIGHT_TO_LEFT,
    GarbledError,
    is_garbled,
    join_accents,
    loses_letters,
    with_lost_letters,
)
from idx.pdf.ocr import (
    NOT_INSTALLED,
    OcrNeededError,
    ScannedPages,
    low_confidence,
    read_scanned_pages,
)
from idx.pdf.tables import TablePage, loses_words, merges_rows, read_table_pages, tears_rows
from idx.pdf.text import read_text, take_hidden_text
from idx.text.cleaning import CELL_SEPARATOR, join_pages, normalize
from shared.files.pdf import PdfError, opened_pdf
from shared.messages import quantity
from shared.model.document import Metadata
from shared.model.metadata import PAGES_WITHOUT_TEXT

_PARSERS: Final = ("pdfminer", "pdfplumber", "pypdfium2")
"""Loggers of the parsers, which report everything that they repair."""

_UNKNOWN_LETTER: Final = "(cid:"
"""Prefix of pdfplumber's placeholder for a letter of a font that it cannot decode."""

_MIN_LETTER_SHARE: Final = 0.8
"""Minimum share of the letters found by PDFium that pdfplumber must also find on a page."""

MAX_BLANK_PAGES: Final = 100  # pages without text listed in the metadata, which every chunk stores
_MAX_LISTED_RANGES: Final = 10  # page ranges named in a warning


_MAX_MISSES: Final = 2
"""Number of pages of a layout after which no further one is read for its tables in vain."""


_LAYOUTS: Final[dict[str, Callable[[Any, str], Layout | None]]] = {
    "auto": lambda page, text: (
        table_layout(page) if text and not RIGHT_TO_LEFT.search(text) else None
    ),
    "pdfium": lambda _page, _text: None,
    "pdfplumber": lambda _page, _text: (),
}
"""Functions by engine that return the layout of a page, by its text, if pdfplumber reads it."""


@dataclass(slots=True)
class _Pages:
    """Pages read so far, by number from 1, and those with problems."""

    texts: dict[int, str] = field(default_factory=dict)
    fields: dict[int, str] = field(default_factory=dict)
    for_pdfplumber: dict[int, Layout] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    garbled: list[int] = field(default_factory=list)
    failed: dict[int, Exception] = field(default_factory=dict)
    blank: set[int] = field(default_factory=set)
    torn: set[int] = field(default_factory=set)


def extract_pdf(file: Path, data: bytes, options: ExtractionOptions) -> Extracted:
    """Extract a PDF: the text of its pages, the values of its form fields, and its properties.

    The metadata lists the first pages without text, unless they are blank; the warnings name all of
    them, pages that could not be read, and pages whose tables could not be read.
    """
    until = time.monotonic() + options.table_seconds
    for parser in _PARSERS:
        logging.getLogger(parser).setLevel(logging.CRITICAL + 1)
    with _opened(file, data, options.pdf_password) as (document, password):
        pages = _read_pages(document, options.pdf_engine)
        scanned = _read_scans(document, pages, options.ocr)
        count = len(document)
        title, metadata = read_properties(document)
        outline = read_outline(document)
    _read_tables(pages, data, password, count, until, options.pdf_engine)
    if not pages.texts:
        raise SourceFileError(
            file, f"is a damaged PDF: none of its {quantity(count, 'page')} can be loaded"
        )
    parts = [(number, f"{text}\n{pages.fields[number]}") for number, text in pages.texts.items()]
    text, places = join_pages("page", parts)
    outcome = _outcome(options.ocr, scanned.failed)
    later = options.ocr if options.ocr and not options.ocr.is_due else None
    if not text and later:
        reason = "has no text but in pictures, which was not read yet"
        raise OcrNeededError(file, reason, len(pages.texts))
    if not text and pages.garbled:
        raise GarbledError(
            file,
            f"has {quantity(len(pages.garbled), 'page')} whose fonts do not say which letters they "
            f"show, and no other text; {_remedy(outcome)}",
        )
    if not text:
        raise SourceFileError(file, f"has no text on its {quantity(count, 'page')}; {outcome}")
    ends = [*(place.start for place in places[1:]), len(text)]
    blank = [
        number
        for (number, _), place, end in zip(parts, places, ends, strict=True)
        if place.start == end and number not in pages.blank and number not in pages.garbled
    ]
    blank_pages: Metadata = {PAGES_WITHOUT_TEXT: [*blank[:MAX_BLANK_PAGES]]} if blank else {}
    return Extracted(
        text=text,
        title=title,
        metadata=metadata | blank_pages | scanned.metadata(),
        pages=places,
        hidden=pages.hidden,
        headings=outline_headings(outline, text, places),
        warnings=(*_warnings(pages, blank, outcome), *low_confidence(scanned.confidence)),
        scanned_pages=_number_for_ocr(pages, blank, later),
    )


def _number_for_ocr(pages: _Pages, blank: Sequence[int], later: Ocr | None) -> int:
    """Return the number of pages that OCR shall read later."""
    if later is None:
        return 0
    return len(pages.texts) if later.mode == "force" else len({*blank, *pages.garbled})


def _remedy(outcome: str) -> str:
    if outcome == NOT_INSTALLED:
        return (
            "install Tesseract, which reads the pages as pictures (see idx doctor), or save it "
            "anew with its program; then idx sync --retry"
        )
    return f"{outcome}; save it anew with its program"


def _read_scans(document: Any, pages: _Pages, ocr: Ocr | None) -> ScannedPages:
    if ocr is None or not ocr.is_due:
        return ScannedPages()
    needed = [
        number
        for number, text in pages.texts.items()
        if ocr.mode == "force" or not (number in pages.blank or normalize(text))
    ]
    scanned = read_scanned_pages(document, needed, ocr)
    found = scanned.texts
    pages.texts |= found
    pages.garbled = [number for number in pages.garbled if number not in found]
    pages.torn.difference_update(found)
    for number in found:
        pages.for_pdfplumber.pop(number, None)
    return scanned


def _outcome(ocr: Ocr | None, failed: Mapping[int, str]) -> str:
    if ocr is None:
        return NOT_INSTALLED
    if failed:
        return f"OCR failed: {next(iter(failed.values()))}"
    return "OCR found none" if ocr.is_due else "OCR follows"


@contextmanager
def _opened(file: Path, data: bytes, password: str | None) -> Iterator[tuple[Any, str | None]]:
    """Open a PDF as `opened_pdf` does; errors name the file, and the option that helps."""
    try:
        with opened_pdf(data, password) as opened:
            yield opened
    except PdfError as error:
        reason = str(error)
        if error.needs_password:
            reason += (
                "; give it with --pdf-password"
                if password is None
                else "; the password given does not open it"
            )
        raise SourceFileError(file, reason) from error


def _is_blank(page: Any) -> bool:
    """Check whether nothing is drawn on a page; what is drawn may be letters for OCR."""
    from pypdfium2 import raw

    return not (raw.FPDFPage_CountObjects(page) or raw.FPDFPage_GetAnnotCount(page))


def _read_pages(document: Any, engine: str) -> _Pages:
    """Read all pages with PDFium, and select those for pdfplumber."""
    layout_of = _LAYOUTS[engine]
    # Required before the first page is loaded, because fields have no values otherwise.
    document.init_forms()
    form = document.formenv
    pages = _Pages()
    for number in range(1, len(document) + 1):
        try:
            with closing(document[number - 1]) as page:
                pages.hidden += take_hidden_text(page)
                text = read_text(page)
                fields = "\n".join(read_fields(page, form) if form else ())
                if not text and _is_blank(page):
                    pages.blank.add(number)
                if is_garbled(text):
                    pages.garbled.append(number)
                    text = ""
                if (layout := layout_of(page, text)) is not None:
                    pages.for_pdfplumber[number] = layout
                if engine == "auto" and loses_letters(text):
                    pages.torn.add(number)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a damaged file may cause any error
            pages.unreadable.append(number)
        else:
            pages.texts[number] = text
            pages.fields[number] = fields
    return pages


def _read_tables(
    pages: _Pages, data: bytes, password: str | None, count: int, until: float, engine: str
) -> None:
    """Read pages again with pdfplumber, and keep what it reads better."""
    misses: Counter[Layout] = Counter()
    layouts = pages.for_pdfplumber
    for number, page in read_table_pages(
        data,
        password,
        sorted({*layouts, *pages.torn}),
        count,
        until,
        lambda number: number in pages.torn or misses[layouts[number]] < _MAX_MISSES,
    ):
        if isinstance(page, Exception):
            if number in layouts:
                pages.failed[number] = page
            continue
        plain = with_lost_letters(pages.texts[number], page.text)
        pages.texts[number] = plain
        if number not in layouts:
            continue
        table = replace(page, text=join_accents(page.text, plain))
        if engine == "pdfplumber" or _is_better(table, plain):
            pages.texts[number] = table.text
        else:
            misses[layouts[number]] += 1


def _is_better(page: TablePage, plain: str) -> bool:
    """Check whether a page has tables of single rows, and pdfplumber decodes its fonts as well."""
    return (
        page.has_tables
        and page.text.count(_UNKNOWN_LETTER) <= plain.count(_UNKNOWN_LETTER)
        and _size(page.text) > _MIN_LETTER_SHARE * _size(plain)
        and not merges_rows(page.text, plain)
        and not loses_words(page.text, plain)
        and not tears_rows(page.text, plain)
    )


def _size(text: str) -> int:
    return sum(map(len, text.replace(CELL_SEPARATOR, " ").split()))


def _warnings(pages: _Pages, blank: Sequence[int], outcome: str) -> Iterator[str]:
    if blank:
        verb = "has" if len(blank) == 1 else "have"
        count = quantity(len(blank), "page")
        yield f"{count} {verb} no text ({_ranges(blank)}); {outcome}"
    if pages.garbled:
        count = quantity(len(pages.garbled), "page")
        yield (
            f"{count} not indexed ({_ranges(pages.garbled)}): the fonts do not say which letters "
            "they show"
        )
    if pages.unreadable:
        count = quantity(len(pages.unreadable), "page")
        yield f"{count} cannot be read ({_ranges(pages.unreadable)})"
    if pages.failed:
        error = next(iter(pages.failed.values()))
        is_late = isinstance(error, TimeoutError)
        reason = error if is_late else f"pdfplumber failed with {type(error).__name__} {error}"
        yield (
            f"{quantity(len(pages.failed), 'page')} read without regard to tables "
            f"({_ranges(list(pages.failed))}): {reason}"
        )[:500].strip()


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, with consecutive ones as ranges."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), lambda numbered: numbered[1] - numbered[0])
    ]
    named = [str(run[0]) if len(run) == 1 else f"{run[0]}\u2013{run[-1]}" for run in runs]
    more = sum(map(len, runs[_MAX_LISTED_RANGES:]))
    return ", ".join(named[:_MAX_LISTED_RANGES]) + (f" and {more:,} more" if more else "")
