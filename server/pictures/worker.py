"""The picture of a page, which a worker process makes."""

import io
import math
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from server.pictures.marking import draw_marks, marked_boxes, read_boxes
from server.pictures.request import PageRequest, Picture, Unrendered
from shared import system
from shared.files.content import IrregularFileError
from shared.files.location import opened_file
from shared.files.pdf import PdfError, opened_pdf
from shared.messages import quantity, reason_of
from shared.ocr.page_image import image_hash, page_image

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PNG_BYTES: Final = 700_000
"""Maximum size of a picture, in bytes: some clients refuse answers of a megabyte, and a picture
takes a third more in base64. Colours are reduced first, then the number of pixels."""

_MAX_PIXELS: Final = 2_000_000
"""Maximum size of a picture, in pixels: an A4 page at 144 dots per inch."""

_MAX_SCALE: Final = 4.0
"""Maximum number of pixels per point, 288 dots per inch."""

_ROUNDING: Final = 1e-9
"""Error of a scale in floating point."""

_MAX_SIDE: Final = 8_000
"""Maximum width and height, in pixels, of the picture of a very narrow page."""

_COLOURS: Final = 256

_COMPRESSION: Final = 3
"""Level of zlib, almost as small as the default level and twice as fast."""

_EXTRA_SECONDS: Final = 2
"""Processor time beyond the limit on time, in seconds, so that usually the latter ends a task."""


def warm_up() -> None:
    """Import and start what renders pages, which takes most of the time of a first page."""
    import pypdfium2
    from PIL import Image, ImageChops, ImageDraw, ImageStat, PngImagePlugin

    del pypdfium2, Image, ImageChops, ImageDraw, ImageStat, PngImagePlugin


def render_page(
    request: PageRequest, password: str | None, max_bytes: int, seconds: float
) -> Picture | Unrendered:
    """Render a page of a PDF, with words marked; the seconds are processor time."""
    # The limit ends a worker that hangs, even if its parent is gone.
    system.limit_processor_time(int(time.process_time() + seconds) + _EXTRA_SECONDS)
    try:
        return _render(request, password, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return Unrendered("is not there any more")
    except OSError as error:
        return Unrendered(f"cannot be read: {reason_of(error)}")
    except PdfError as error:
        return Unrendered(
            "is protected by a password; ask the user to set pdf_password in the configuration"
            if error.needs_password
            else str(error)
        )
    except IrregularFileError as error:
        return Unrendered(str(error))


def _render(request: PageRequest, password: str | None, max_bytes: int) -> Picture | Unrendered:
    # As extraction does: no part of the path in its folder may be a link.
    with opened_file(request.originals.located(request.folder, request.path)) as stream:
        # One byte more shows that it is too large, even if it is being written.
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        return Unrendered(
            f"has more than the {max_bytes / 1e6:g} MB that are allowed; ask the user to set "
            "max_size higher in the configuration"
        )
    with opened_pdf(data, password) as (document, _):
        pages = len(document)
        if request.page > pages:
            return Unrendered(f"has {quantity(pages, 'page')}, but not page {request.page:,}")
        # Required before the page is loaded, because fields have no values otherwise.
        document.init_forms()
        picture, marked, has_text = _picture(document[request.page - 1], request)
    return Picture(
        png=_fitting_png(picture),
        pages=pages,
        has_text=has_text,
        marked=marked,
        content_hash=sha256(data).hexdigest(),
    )


def _picture(page: Any, request: PageRequest) -> tuple["Image", int, bool]:
    """Render a page; return the picture, the number of marked words, and whether it has text."""
    width, height = page.get_size()
    if not 0 < width * height < math.inf:
        raise PdfError(f"is a damaged PDF: page {request.page:,} has no size")
    scale = min(
        _MAX_SCALE, math.sqrt(_MAX_PIXELS / (width * height)), _MAX_SIDE / max(width, height)
    )
    # PDFium's wrapper rounds both sides up.
    sides = math.floor(width * scale) / width, math.floor(height * scale) / height
    bitmap = page.render(scale=max(min(sides) - _ROUNDING, _ROUNDING))
    boxes, marked, has_text = marked_boxes(page, bitmap, request.words)
    if (
        not marked
        and request.words
        and request.readings
        and (reading := request.readings.latest(image_hash(page_image(page))))
    ):
        boxes, marked = read_boxes(reading, (bitmap.width, bitmap.height), request.words)
    picture = bitmap.to_pil().convert("RGB")
    draw_marks(picture, boxes)
    return picture, marked, has_text


def _fitting_png(picture: "Image") -> bytes:
    """Return a picture in PNG with at most `MAX_PNG_BYTES`."""
    png = _png(picture)
    if len(png) <= MAX_PNG_BYTES:
        return png
    png = _png(picture.quantize(_COLOURS))
    while len(png) > MAX_PNG_BYTES:
        # Noise is not compressed in proportion to the pixels, so leave a margin.
        factor = 0.9 * math.sqrt(MAX_PNG_BYTES / len(png))
        picture = picture.resize(
            (max(1, int(picture.width * factor)), max(1, int(picture.height * factor)))
        )
        png = _png(picture.quantize(_COLOURS))
    return png


def _png(picture: "Image") -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG", compress_level=_COMPRESSION)
    return stream.getvalue()
