"""Text of scanned pages and pictures."""

import io
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from idx.errors import SourceFileError
from idx.extraction.pdf.ocr import OcrNeededError, Recognized, recognize
from idx.extraction.text.cleaning import normalize
from idx.extraction.types import Extracted, Ocr, Source
from shared.model.document import Metadata, Scalar
from shared.model.metadata import OCR_CONFIDENCE, OCR_PAGES

if TYPE_CHECKING:
    from PIL.Image import Image

_DOTS_PER_INCH: Final = 300
_POINTS_PER_INCH: Final = 72
_MAX_PIXELS: Final = 25_000_000
"""Resolution of pages, which Tesseract is trained on, and their maximum size."""

MAX_LISTED_PAGES: Final = 100
"""Maximum number of pages read by OCR that the metadata list, which every chunk stores."""


@dataclass(slots=True)
class ScannedPages:
    """Pages read by OCR, by number from 1, and the reason why others were not."""

    pages: dict[int, Recognized] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def metadata(self) -> Metadata:
        """Return the numbers of the pages with text, and the mean confidence; empty for none."""
        read = {number: page for number, page in self.pages.items() if page.text}
        if not read:
            return {}
        mean = sum(page.confidence for page in read.values()) / len(read)
        numbers: list[Scalar] = [*read]
        return {OCR_PAGES: numbers[:MAX_LISTED_PAGES], OCR_CONFIDENCE: round(mean)}


def read_scanned_pages(document: Any, numbers: Iterable[int], ocr: Ocr) -> ScannedPages:
    """Read pages of a PDF by OCR, until the time is up.

    Args:
        document: the document of PDFium.
        numbers: the numbers of the pages, from 1.
        ocr: the program, the languages, and the time for the whole file.
    """
    found = ScannedPages()
    end = time.monotonic() + ocr.seconds
    for number in numbers:
        left = end - time.monotonic()
        if left <= 0:
            found.failed[number] = "--timeout had nearly passed"
            continue
        try:
            page = document[number - 1]
            try:
                found.pages[number] = recognize(_rendered(page), ocr, left)
            finally:
                page.close()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged file may cause any error
            found.failed[number] = str(error)
    return found


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
        raise OcrNeededError(source.file, "is a picture that was not read yet")
    try:
        with Image.open(io.BytesIO(source.data)) as picture:
            found = recognize(_written(picture), ocr, ocr.seconds)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
    text = normalize(found.text)
    if not text:
        raise SourceFileError(source.file, "is a picture in which OCR found no text")
    return Extracted(text, source.media_type, metadata={OCR_CONFIDENCE: round(found.confidence)})


def _rendered(page: Any) -> bytes:
    width, height = page.get_size()
    pixels = max(width * height, 1)
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(_MAX_PIXELS / pixels))
    return _written(page.render(scale=scale, grayscale=True).to_pil())


def _written(picture: "Image") -> bytes:
    """Return a picture in grey as PNG, with its size limited."""
    scale = math.sqrt(_MAX_PIXELS / max(picture.width * picture.height, 1))
    grey = picture.convert("L")
    if scale < 1:
        grey = grey.resize((int(grey.width * scale) or 1, int(grey.height * scale) or 1))
    data = io.BytesIO()
    grey.save(data, "PNG", compress_level=1)
    return data.getvalue()
