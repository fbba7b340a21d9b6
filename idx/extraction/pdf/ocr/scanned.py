"""Text of scanned pages and pictures, from the cache of the index or by OCR."""

import io
import os
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from idx.errors import SourceFileError
from idx.extraction.pdf.ocr.tesseract import OcrNeededError, Recognition, recognition, recognize
from idx.extraction.text.cleaning import normalize
from idx.extraction.types import Extracted, Ocr, Source
from shared.files.secret_content import BYTES, found_secret
from shared.model.document import Metadata, Scalar
from shared.model.metadata import OCR_CONFIDENCE, OCR_PAGES
from shared.ocr.page_image import grey, image_hash, page_image
from shared.ocr.reading import Reading

if TYPE_CHECKING:
    from PIL.Image import Image

MIN_CONFIDENCE: Final = 30
"""Minimum mean confidence of a page's words, in per cent; what is below is a picture, not text."""

GOOD_CONFIDENCE: Final = 70
"""Mean confidence of a document's pages, in per cent, below which a warning says that its text may
be wrong."""

MAX_LISTED_PAGES: Final = 100
"""Maximum number of pages read by OCR that the metadata list, which every chunk stores."""


@dataclass(slots=True)
class ScannedPages:
    """Pages read by OCR, by number from 1, and the reason why others were not."""

    pages: dict[int, Reading] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    @property
    def texts(self) -> dict[int, str]:
        """The texts of the pages that have any."""
        texts = {number: _text(page) for number, page in self.pages.items()}
        return {number: text for number, text in sorted(texts.items()) if text}

    def metadata(self) -> Metadata:
        """Return the numbers of the pages with text, and the mean confidence; empty for none."""
        numbers: list[Scalar] = [*self.texts]
        if not numbers:
            return {}
        return {OCR_PAGES: numbers[:MAX_LISTED_PAGES], OCR_CONFIDENCE: round(self.confidence)}

    @property
    def confidence(self) -> float:
        """Mean confidence of the pages with text, in per cent."""
        known = [self.pages[number].confidence for number in self.texts]
        return sum(known) / max(len(known), 1)


def read_scanned_pages(document: Any, numbers: Iterable[int], ocr: Ocr) -> ScannedPages:
    """Read pages of a PDF by OCR, several at once, until the time is up.

    Args:
        document: the document of PDFium.
        numbers: the numbers of the pages, from 1.
        ocr: the program, the languages, and the time for the whole file.
    """
    found = ScannedPages()
    end = time.monotonic() + ocr.seconds
    running: deque[tuple[int, str, Recognition]] = deque()
    try:
        for number in numbers:
            if time.monotonic() > end:
                found.failed[number] = "--timeout had nearly passed"
                continue
            picture = _page_image(document, number, found)
            if picture is None:
                continue
            known = image_hash(picture)
            if cached := _cached(known, ocr):
                found.pages[number] = cached
                _count(ocr)
                continue
            while len(running) >= max(ocr.at_once, 1):
                _finish(*running.popleft(), found, ocr, end)
            try:
                running.append((number, known, recognition(picture, ocr)))
            except ValueError as error:
                found.failed[number] = str(error)
        while running:
            _finish(*running.popleft(), found, ocr, end)
    finally:
        for _, _, each in running:
            each.end()
    return found


def _page_image(document: Any, number: int, found: ScannedPages) -> "Image | None":
    """Return the picture of a page; note why it has none."""
    try:
        page = document[number - 1]
        try:
            return page_image(page)
        finally:
            page.close()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged file may cause any error
        found.failed[number] = str(error)
        return None


def _finish(
    number: int, known: str, running: Recognition, found: ScannedPages, ocr: Ocr, end: float
) -> None:
    try:
        found.pages[number] = running.result(max(end - time.monotonic(), 0))
    except ValueError as error:
        found.failed[number] = str(error)
    else:
        _keep(known, found.pages[number], ocr)
    finally:
        running.end()
        _count(ocr)


def extract_picture(source: Source) -> Extracted:
    """Extract the text in a picture.

    Raises:
        OcrNeededError: its turn comes later.
        ValueError: it is damaged, or Tesseract failed.
        SourceFileError: it has no text.
    """
    from PIL import Image, UnidentifiedImageError

    ocr = source.options.ocr
    if ocr is None or not ocr.is_due:
        raise OcrNeededError(source.file, "is a picture that was not read yet", 1)
    try:
        with Image.open(io.BytesIO(source.data)) as opened:
            picture = grey(opened)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
    known = image_hash(picture)
    found = _cached(known, ocr)
    if found is None:
        found = recognize(picture, ocr)
        _keep(known, found, ocr)
    _count(ocr)
    text = _text(found)
    if not text:
        raise SourceFileError(source.file, "is a picture in which OCR found no text")
    return Extracted(
        text,
        source.media_type,
        metadata={OCR_CONFIDENCE: round(found.confidence)},
        warnings=tuple(low_confidence(found.confidence)),
    )


def low_confidence(confidence: float) -> Iterable[str]:
    """Yield the warning that OCR was not sure of what it read, if it was not."""
    if confidence < GOOD_CONFIDENCE:
        yield (
            f"OCR is only {confidence:.0f} % sure of its words, many of which may be wrong: scan "
            "it with 300 dots per inch, or name its languages with --ocr-languages"
        )


def _text(page: Reading) -> str:
    return normalize(page.text) if page.confidence >= MIN_CONFIDENCE else ""


def _cached(known: str, ocr: Ocr) -> Reading | None:
    return ocr.cache.get(known, ocr.engine) if ocr.cache else None


def _keep(known: str, page: Reading, ocr: Ocr) -> None:
    # What the index may not hold is not to lie beside it either.
    if ocr.cache and not found_secret(page.text[:BYTES].encode(errors="replace")):
        ocr.cache.put(known, ocr.engine, page)


def _count(ocr: Ocr) -> None:
    """Count a page that was read, for whoever shows the progress."""
    if ocr.counter is not None:
        with suppress(OSError):
            # A single byte at the end, which processes can write at the same time.
            descriptor = os.open(ocr.counter, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(descriptor, b".")
            finally:
                os.close(descriptor)
