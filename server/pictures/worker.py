"""Pictures of pages, rendered in worker processes with the words of a query marked."""

import io
import math
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shared import system
from shared.chunking import SCRIPTS_WITHOUT_BLANKS
from shared.files.access import IrregularFileError
from shared.files.location import opened_file
from shared.files.originals import Originals
from shared.files.pdf import PdfError, image_hash, opened_pdf, page_image
from shared.messages import quantity, reason_of
from shared.ocr import Reading, ReadingCache, Word

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True)
class PageRequest:
    folder: Path | None  # None for a file that was named by itself
    path: str  # within the folder, with slashes; the absolute one without a folder
    originals: Originals
    page: int  # from 1
    words: tuple[str, ...] = ()  # to be marked, as they stand in the text
    readings: ReadingCache | None = None  # the words that OCR has read on pages


@dataclass(frozen=True, slots=True)
class Picture:
    png: bytes
    pages: int  # of the file
    has_text: bool  # of the page itself, which a scan has not
    marked: int  # number of words and phrases
    content_hash: str  # SHA-256 of the file, hexadecimal


@dataclass(frozen=True, slots=True)
class Unrendered:
    reason: str  # a sentence whose subject is the file
    is_costly: bool = False  # its worker took too much time or memory, or crashed


Box = tuple[int, int, int, int]  # left, top, right and bottom edge, in pixels of the picture
MAX_WORDS: Final = 200  # different words and phrases that are marked
_MAX_WORD_CHARACTERS: Final = 200  # of a word or phrase that is marked; a longer one is ignored
_MAX_BOXES: Final = 2_000  # marks on a page

_BETWEEN_WORDS: Final = r"\W{1,8}"  # of a phrase: blanks, line breaks, hyphens and punctuation

_WITHOUT_BLANKS: Final = re.compile(f"[{SCRIPTS_WITHOUT_BLANKS}]")

_MARGIN: Final = 2  # distance of the edge of a mark from the word, in pixels

_FILL: Final = (255, 224, 64)
_EDGE: Final = (224, 112, 0)  # colours of a mark: yellow with an orange edge, in RGB

_DARK: Final = 96  # brightness, of 255, below which a mark must lighten the ground of a word


def marked_boxes(page: Any, bitmap: Any, words: Sequence[str]) -> tuple[list[Box], int, bool]:
    """Return the boxes of words in the bitmap of a page, their number, and whether it has text.

    Words and phrases are compared without regard to case and accents.
    """
    from pypdfium2 import raw

    with closing(page.get_textpage()) as letters:
        codes = (raw.FPDFText_GetUnicode(letters, index) for index in range(letters.count_chars()))
        text, places = _folded_parts(map(chr, codes))
        position = bitmap.get_posconv(page)

        def boxes_of(first: int, last: int) -> Iterator[Box]:
            # One for each line.
            for index in range(letters.count_rects(first, last - first + 1)):
                left, bottom, right, top = letters.get_rect(index)
                yield _box(position.to_bitmap(left, top), position.to_bitmap(right, bottom))

        boxes, found = _found(words, text, places, boxes_of)
        return boxes, found, bool(text.strip())


def read_boxes(
    reading: Reading, size: tuple[int, int], words: Sequence[str]
) -> tuple[list[Box], int]:
    """Return the boxes of words that OCR has read, in a picture of a size, and their number."""
    text, places = _folded_parts(f"{word.text} " for word in reading.words)

    def boxes_of(first: int, last: int) -> Iterator[Box]:
        matched = reading.words[first : last + 1]
        lines = groupby(matched, lambda word: (word.block, word.paragraph, word.line))
        return (_scaled([*line], reading, size) for _, line in lines)

    return _found(words, text, places, boxes_of)


def _found(
    words: Sequence[str],
    text: str,
    places: Sequence[int],
    boxes_of: Callable[[int, int], Iterable[Box]],
) -> tuple[list[Box], int]:
    """Return the boxes of words in a text, given those of the parts from one to another place."""
    boxes: list[Box] = []
    found = 0
    pattern = _pattern(words)
    for match in pattern.finditer(text) if pattern else ():
        rectangles = list(boxes_of(places[match.start()], places[match.end() - 1]))
        if len(boxes) + len(rectangles) > _MAX_BOXES:
            break
        boxes += rectangles
        found += bool(rectangles)
    return boxes, found


def _scaled(line: Sequence[Word], reading: Reading, size: tuple[int, int]) -> Box:
    """Return the box of words on one line in a picture of another size."""
    across, down = size[0] / reading.width, size[1] / reading.height
    left, top = min(word.left for word in line), min(word.top for word in line)
    right = max(word.left + word.width for word in line)
    bottom = max(word.top + word.height for word in line)
    corners = ((left, top), (right, bottom))
    (first, second) = ((round(x * across), round(y * down)) for x, y in corners)
    return _box(first, second)


def _folded_parts(texts: Iterable[str]) -> tuple[str, list[int]]:
    """Return texts as one without case and accents, and of each character the index of its text."""
    parts: list[str] = []
    places: list[int] = []
    for index, text in enumerate(texts):
        folded = _folded(text)
        parts.append(folded)
        places.extend([index] * len(folded))
    return "".join(parts), places


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for any of some words and phrases; None if there are none."""
    folded = {_folded(word) for word in words if len(word) <= _MAX_WORD_CHARACTERS}
    split = {tuple(found) for word in folded if (found := re.findall(r"\w+", word))}
    # The longest first, so that a phrase is one match.
    ordered = sorted(split, key=lambda parts: (-len(parts), -len(parts[0]), parts))[:MAX_WORDS]
    return re.compile("|".join(map(_word_pattern, ordered))) if ordered else None


def _word_pattern(parts: Sequence[str]) -> str:
    before = "" if _WITHOUT_BLANKS.match(parts[0]) else r"(?<!\w)"
    after = "" if _WITHOUT_BLANKS.match(parts[-1][-1]) else r"(?!\w)"
    return before + _BETWEEN_WORDS.join(map(re.escape, parts)) + after


def _box(corner: tuple[int, int], opposite: tuple[int, int]) -> Box:
    (left, right), (top, bottom) = (sorted(pair) for pair in zip(corner, opposite, strict=True))
    return left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN


def draw_marks(picture: "Image", boxes: Iterable[Box]) -> None:
    """Draw translucent marks into a picture in RGB; the words under them stay legible."""
    from PIL import Image, ImageChops, ImageDraw, ImageStat

    draw = ImageDraw.Draw(picture)
    for box in boxes:
        left, top = max(0, box[0]), max(0, box[1])
        right, bottom = min(picture.width, box[2]), min(picture.height, box[3])
        if left >= right or top >= bottom:
            continue
        ground = picture.crop((left, top, right, bottom))
        fill = Image.new("RGB", ground.size, _FILL)
        is_dark = ImageStat.Stat(ground.convert("L")).mean[0] < _DARK
        mark = Image.blend(ground, fill, 0.4) if is_dark else ImageChops.multiply(ground, fill)
        picture.paste(mark, (left, top))
        draw.rectangle((left, top, right - 1, bottom - 1), outline=_EDGE)


MAX_PNG_BYTES: Final = 700_000
"""Maximum size of a picture, in bytes: some clients refuse answers of a megabyte, and a picture
takes a third more in base64. Colours are reduced first, then the number of pixels."""

_MAX_PIXELS: Final = 2_000_000  # of a picture: an A4 page at 144 dots per inch
_MAX_SCALE: Final = 4.0  # pixels per point, 288 dots per inch
_ROUNDING: Final = 1e-9  # error of a scale in floating point
_MAX_SIDE: Final = 8_000  # width and height, in pixels, of the picture of a very narrow page

_COLOURS: Final = 256

_COMPRESSION: Final = 3  # level of zlib, almost as small as the default level and twice as fast
_EXTRA_SECONDS: Final = 2  # of processor time, so that usually the limit on time ends a task


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
    except (OSError, IrregularFileError) as error:
        return Unrendered(why_not_read(error))
    except PdfError as error:
        return Unrendered(
            "is protected by a password; ask the user to set pdf_password in the configuration"
            if error.needs_password
            else str(error)
        )


def why_not_read(error: OSError | IrregularFileError) -> str:
    """Return why a file cannot be read, as a sentence whose subject is the file."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return "is not there any more"
        case OSError():
            return f"cannot be read: {reason_of(error)}"
    return str(error)


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
