"""Requests for pictures of pages, and their results, as they pass between processes."""

from dataclasses import dataclass
from pathlib import Path

from shared.files.originals import Originals
from shared.ocr.cache import ReadingCache


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to render."""

    folder: Path | None  # None for a file that was named by itself
    path: str  # within the folder, with slashes; the absolute one without a folder
    originals: Originals
    page: int  # from 1
    words: tuple[str, ...] = ()  # to be marked, as they stand in the text
    readings: ReadingCache | None = None  # the words that OCR has read on pages


@dataclass(frozen=True, slots=True)
class Picture:
    """A rendered page."""

    png: bytes
    pages: int  # of the file
    has_text: bool  # of the page itself, which a scan has not
    marked: int  # number of words and phrases
    content_hash: str  # SHA-256 of the file, hexadecimal


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A page that cannot be rendered."""

    reason: str  # a sentence whose subject is the file
    is_costly: bool = False  # its worker took too much time or memory, or crashed
