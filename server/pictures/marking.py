"""Words on a PDF page: their places, by PDFium's text, and marks over them in the picture."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from shared.chunking import SCRIPTS_WITHOUT_BLANKS
from shared.ocr.reading import Reading, Word

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[int, int, int, int]
"""Left, top, right and bottom edge, in pixels of the picture."""

MAX_WORDS: Final = 200
"""Maximum number of different words and phrases that are marked."""

_MAX_WORD_CHARACTERS: Final = 200
"""Maximum length of a word or phrase that is marked; a longer one is ignored."""

_MAX_BOXES: Final = 2_000
"""Maximum number of marks on a page."""

_BETWEEN_WORDS: Final = r"\W{1,8}"
"""What may separate the words of a phrase: blanks, line breaks, hyphens and punctuation."""

_WITHOUT_BLANKS: Final = re.compile(f"[{SCRIPTS_WITHOUT_BLANKS}]")

_MARGIN: Final = 2
"""Distance of the edge of a mark from the word, in pixels."""

_FILL: Final = (255, 224, 64)
_EDGE: Final = (224, 112, 0)
"""Colours of a mark: yellow with an orange edge, in RGB."""

_DARK: Final = 96
"""Brightness, of 255, below which the ground of a word is dark, so that a mark must lighten it."""


def marked_boxes(page: Any, bitmap: Any, words: Sequence[str]) -> tuple[list[Box], int, bool]:
    """Return the boxes of words in the picture of a page.

    Args:
        page: the page of PDFium.
        bitmap: its rendered bitmap.
        words: words and phrases, compared without regard to case and accents.

    Returns:
        The boxes, the number of words and phrases that they belong to, and whether the page has
        any text.
    """
    with closing(page.get_textpage()) as letters:
        text, places = _folded_text(letters)
        has_text = bool(text.strip())
        pattern = _pattern(words)
        if pattern is None:
            return [], 0, has_text
        position = bitmap.get_posconv(page)
        boxes: list[Box] = []
        found = 0
        for match in pattern.finditer(text):
            first, last = places[match.start()], places[match.end() - 1]
            rectangles = list(_rectangles(letters, first, last - first + 1))
            if len(boxes) + len(rectangles) > _MAX_BOXES:
                break
            boxes += [
                _box(position.to_bitmap(left, top), position.to_bitmap(right, bottom))
                for left, bottom, right, top in rectangles
            ]
            found += bool(rectangles)
    return boxes, found, has_text


def read_boxes(
    reading: Reading, size: tuple[int, int], words: Sequence[str]
) -> tuple[list[Box], int]:
    """Return the boxes of words that OCR has read on a page.

    Args:
        reading: the words of the page with their places.
        size: width and height of the picture to mark, in pixels.
        words: words and phrases, compared without regard to case and accents.

    Returns:
        The boxes, and the number of words and phrases that they belong to.
    """
    parts: list[str] = []
    places: list[int] = []
    for index, word in enumerate(reading.words):
        folded = _folded(word.text) + " "
        parts.append(folded)
        places.extend([index] * len(folded))
    pattern = _pattern(words)
    boxes: list[Box] = []
    found = 0
    for match in pattern.finditer("".join(parts)) if pattern else ():
        matched = reading.words[places[match.start()] : places[match.end() - 1] + 1]
        lines = groupby(matched, lambda word: (word.block, word.paragraph, word.line))
        rectangles = [_scaled([*line], reading, size) for _, line in lines]
        if len(boxes) + len(rectangles) > _MAX_BOXES:
            break
        boxes += rectangles
        found += 1
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


def _folded_text(letters: Any) -> tuple[str, list[int]]:
    """Return the text of a page without case and accents, and for each character its index."""
    from pypdfium2 import raw

    parts: list[str] = []
    places: list[int] = []
    for index in range(letters.count_chars()):
        folded = _folded(chr(raw.FPDFText_GetUnicode(letters, index)))
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


def _rectangles(letters: Any, start: int, count: int) -> Iterator[tuple[float, ...]]:
    """Yield left, bottom, right and top of characters, one rectangle for each line."""
    for index in range(letters.count_rects(start, count)):
        yield letters.get_rect(index)


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
