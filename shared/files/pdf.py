"""PDFs opened in PDFium, with a password if necessary, and pictures of their pages for OCR.

By the hash of its picture, a page is recognized anywhere.
"""

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from PIL.Image import Image


class PdfError(ValueError):
    """A PDF cannot be opened, or a part of it cannot be read."""

    def __init__(self, reason: str, *, needs_password: bool = False) -> None:
        super().__init__(reason)
        self.needs_password = needs_password


@contextmanager
def opened_pdf(data: bytes, password: str | None) -> Iterator[tuple[Any, str | None]]:
    """Open a PDF, and close it at the end of the block.

    Yields the document of PDFium, and the password if it was needed.
    """
    from pypdfium2 import PdfiumError, raw

    reasons = {
        raw.FPDF_ERR_SUCCESS: "is a damaged PDF: it has no pages",
        raw.FPDF_ERR_FORMAT: "is a damaged PDF: it has no pages, or they cannot be found",
        raw.FPDF_ERR_PASSWORD: "protected by a password",
        raw.FPDF_ERR_SECURITY: "is encrypted by a method that is not supported",
    }
    try:
        document, used = _open(data, password)
        with document:
            yield document, used
    except PdfiumError as error:
        reason = reasons.get(error.err_code, f"is a damaged PDF: {error}")
        needs_password = error.err_code == raw.FPDF_ERR_PASSWORD
        raise PdfError(reason, needs_password=needs_password) from error


def _open(data: bytes, password: str | None) -> tuple[Any, str | None]:
    from pypdfium2 import PdfDocument, PdfiumError, raw

    try:
        # With a wrong password, PDFium refuses even files that can be read without one.
        return PdfDocument(data), None
    except PdfiumError as error:
        if error.err_code != raw.FPDF_ERR_PASSWORD or password is None:
            raise
    # PDFium does not accept lone surrogates, and no password of a PDF contains them.
    return PdfDocument(data, password=password.encode(errors="replace").decode()), password


_DOTS_PER_INCH: Final = 300
_POINTS_PER_INCH: Final = 72
_MAX_PIXELS: Final = 25_000_000
"""Resolution of pages, which Tesseract is trained on, and their maximum size."""


def page_image(page: Any) -> "Image":
    """Return a page of PDFium as a picture in grey.

    The same page has the same picture in every file, so that its hash recognizes it.
    """
    width, height = page.get_size()
    pixels = max(width * height, 1)
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(_MAX_PIXELS / pixels))
    return grey(page.render(scale=scale, grayscale=True).to_pil())


def grey(picture: "Image") -> "Image":
    """Return a picture in grey, with its size limited."""
    result = picture.convert("L")
    scale = math.sqrt(_MAX_PIXELS / max(picture.width * picture.height, 1))
    if scale < 1:
        result = result.resize((int(result.width * scale) or 1, int(result.height * scale) or 1))
    return result


def image_hash(picture: "Image") -> str:
    """Return the SHA-256 of the size and the pixels of a picture in grey, hexadecimal."""
    digest = hashlib.sha256(b"%d %d " % picture.size)
    digest.update(picture.tobytes())
    return digest.hexdigest()
