"""Requests for pictures of pages, and their results, as they pass between processes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.files.originals import Originals
from shared.ocr.cache import ReadingCache

MAX_PIXELS: Final = 2_000_000
"""Default maximum size of a picture, in pixels: an A4 page at 144 dots per inch."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to render.

    Attributes:
        folder: the indexed folder of the file; None for a file that was named by itself.
        path: the path within the folder, with slashes; the absolute one without a folder.
        originals: the files that may be drawn.
        page: its number, from 1.
        words: words and phrases to mark, as they stand in the text.
        max_pixels: the maximum size of the picture, in pixels.
        readings: the words that OCR has read on pages; None for none.
    """

    folder: Path | None
    path: str
    originals: Originals
    page: int
    words: tuple[str, ...] = ()
    max_pixels: int = MAX_PIXELS
    readings: ReadingCache | None = None


@dataclass(frozen=True, slots=True)
class FileStamp:
    """State of a file that changes whenever its content does.

    Attributes:
        device: the device of the file.
        inode: its inode number.
        size: its size, in bytes.
        modified_ns: the time of its last change, in nanoseconds since 1970.
        is_settled: true if that was long enough ago for a later change to get another time.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A rendered page.

    Attributes:
        png: the picture in PNG.
        width: its width, in pixels.
        height: its height, in pixels.
        pages: the number of pages of the file.
        has_text: true if the page itself has text, false for example for a scan.
        marked: the number of words and phrases that are marked.
        content_hash: SHA-256 of the file, hexadecimal.
    """

    png: bytes
    width: int
    height: int
    pages: int
    has_text: bool
    marked: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A page that cannot be rendered.

    Attributes:
        reason: the reason: a sentence whose subject is the file.
        is_costly: true if its worker took too much time or memory, or crashed.
    """

    reason: str
    is_costly: bool = False
