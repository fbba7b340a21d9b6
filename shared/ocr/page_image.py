"""Pictures of pages as OCR reads them, and their hashes, by which a page is recognized anywhere."""

import hashlib
import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from PIL.Image import Image

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
