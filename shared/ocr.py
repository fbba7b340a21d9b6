"""Readings of pages by OCR: words with their places, and a cache of them beside an index.

OCR takes seconds a page, and a page outlives its document: files move, are edited, and get another
page. A file holds the reading of one page by one program with some languages. Whatever the files
hold, they are only text for the index: they are read up to a limit and checked, and what is damaged
is a page that was not read yet. Java does not touch files that Lucene has not written.
"""

import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass, fields
from itertools import groupby
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from shared import system
from shared.errors import IndexWriteError
from shared.files.access import read_regular, write_private
from shared.files.index_folder import holds_index, is_cluster
from shared.messages import reason_of

MAX_WORDS: Final = 50_000
"""Maximum number of words of a page; a page of a telephone book has two thousand."""

_MAX_WORD_CHARACTERS: Final = 1_000
_MAX_NUMBER: Final = 1_000_000
"""Maximum length of a word, and maximum of a place in pixels or the number of a line."""

MAX_STORED_BYTES: Final = 1_000_000
"""Maximum size of a stored reading, in bytes; one of 500 words has 6,000."""

_MAX_UNPACKED_BYTES: Final = 20_000_000

_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Word:
    """Word on the picture of a page."""

    text: str
    confidence: int
    left: int
    top: int
    width: int
    height: int
    block: int
    paragraph: int
    line: int


_NUMBERS: Final = len(fields(Word)) - 1


@dataclass(frozen=True, slots=True)
class Reading:
    """Words on the picture of a page, in reading order."""

    width: int
    height: int
    words: tuple[Word, ...]

    @property
    def confidence(self) -> float:
        """Mean confidence of the words, in per cent; 0 without any."""
        return sum(word.confidence for word in self.words) / max(len(self.words), 1)

    @property
    def text(self) -> str:
        """Text of the words, with lines, and blank lines between paragraphs."""
        return "\n\n".join("\n".join(lines) for lines in self._paragraphs())

    def _paragraphs(self) -> Iterator[list[str]]:
        for _, paragraph in groupby(self.words, lambda word: (word.block, word.paragraph)):
            yield [
                " ".join(word.text for word in line)
                for _, line in groupby(paragraph, lambda word: word.line)
            ]


def dump_reading(reading: Reading) -> bytes:
    """Return a reading in the form that `parse_reading` takes."""
    words = [astuple(word) for word in reading.words]
    stored = [_VERSION, reading.width, reading.height, words]
    return zlib.compress(json.dumps(stored, separators=(",", ":")).encode())


def parse_reading(stored: bytes) -> Reading:
    """Return a stored reading, which anybody may have written."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(stored, _MAX_UNPACKED_BYTES)
        if not unpacking.eof:
            raise ValueError("it is cut off, or too large")
        version, width, height, words = json.loads(text)
        is_known = version == _VERSION and len(words) <= MAX_WORDS
        if not (is_known and _is_number(width) and _is_number(height) and width and height):
            raise ValueError("it is of another version, or has no size")
        return Reading(width, height, tuple(map(_word, words)))
    except (zlib.error, TypeError, RecursionError) as error:
        raise ValueError(f"it is damaged: {error}") from error


def _word(values: Any) -> Word:
    text, *numbers = values
    if (
        not isinstance(text, str)
        or len(text) > _MAX_WORD_CHARACTERS
        or len(numbers) != _NUMBERS
        or not all(map(_is_number, numbers))
    ):
        raise ValueError("a word is damaged")
    return Word(text, *numbers)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_NUMBER


FOLDER: Final = "ocr"
"""Name of the cache in the index folder."""

MAX_CACHE_BYTES: Final = 200_000_000
"""Maximum size of a cache, in bytes: some 30,000 pages of text."""

_SHARE_KEPT: Final = 0.9
"""Share of that size which is kept when the cache is too large."""

_NAME: Final = re.compile(r"[0-9a-f]{64}-[0-9a-f]{16}")
_NEW: Final = re.compile(r"[0-9a-f]{16}\.new")
"""Names of readings, and of those that are being written."""

_OLD_SECONDS: Final = 3_600
"""Age at which a reading that is being written was left behind, in seconds."""


@dataclass(frozen=True, slots=True)
class ReadingCache:
    """Cache of readings."""

    index: Path

    @property
    def _folder(self) -> Path:
        return self.index / FOLDER

    def get(self, page: str, engine: str) -> Reading | None:
        """Return the reading of a page; None if it is not cached."""
        return self._read(_name(page, engine))

    def latest(self, page: str) -> Reading | None:
        """Return the latest reading of a page by any program; None if there is none."""
        with suppress(OSError):
            found = sorted(
                (status.st_mtime_ns, name)
                for name, status in self._files()
                if name.startswith(page) and _NAME.fullmatch(name)
            )
            for _, name in reversed(found):
                if reading := self._read(name, is_used=False):
                    return reading
        return None

    def put(self, page: str, engine: str, reading: Reading) -> None:
        """Keep a reading, if there is an index, and the file system lets it."""
        stored = dump_reading(reading)
        if len(stored) > MAX_STORED_BYTES or not holds_index(self.index):
            return
        # A cache that cannot be written costs only time.
        with suppress(OSError):
            if not self._is_there():
                self._folder.mkdir(mode=0o700)
            new = self._folder / f"{token_hex(8)}.new"
            # A link of the other name is replaced, not followed.
            write_private(new, self._folder / _name(page, engine), stored)

    def trim(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        """Delete what was not used for longest, down to a size in bytes, and what is left over."""
        with suppress(OSError):
            known = list(self._files())
            now = max((status.st_mtime for _, status in known), default=0)
            for name, status in known:
                if _NEW.fullmatch(name) and now - status.st_mtime > _OLD_SECONDS:
                    system.delete(self._folder / name)
            readings = [(status, name) for name, status in known if _NAME.fullmatch(name)]
            size = sum(status.st_size for status, _ in readings)
            if size <= max_bytes:
                return
            for status, name in sorted(readings, key=lambda each: each[0].st_mtime_ns):
                system.delete(self._folder / name)
                size -= status.st_size
                if size <= max_bytes * _SHARE_KEPT:
                    return

    def clear(self) -> None:
        """Delete all readings."""
        try:
            for name, _ in list(self._files()):
                if _NAME.fullmatch(name) or _NEW.fullmatch(name):
                    system.delete(self._folder / name)
        except FileNotFoundError:
            return
        except OSError as error:
            raise IndexWriteError(self.index, f"{FOLDER}: {reason_of(error)}") from error

    def _read(self, name: str, *, is_used: bool = True) -> Reading | None:
        file = self._folder / name
        try:
            if not self._is_there():
                return None
            reading = parse_reading(read_regular(file, MAX_STORED_BYTES))
        except (OSError, ValueError):
            return None
        if is_used:
            with suppress(OSError):
                os.utime(file)
        return reading

    def _is_there(self) -> bool:
        """Check whether there is a cache, which must not be a link to another folder."""
        try:
            status = self._folder.lstat()
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(self._folder)
        return True

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        if not self._is_there():
            return
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    yield entry.name, entry.stat(follow_symlinks=False)


def cache_of(index: Path) -> ReadingCache | None:
    """Return the cache of an index; None for one on a cluster, which has no folder."""
    return None if is_cluster(index) else ReadingCache(index)


def _name(page: str, engine: str) -> str:
    return f"{page}-{hashlib.sha256(engine.encode()).hexdigest()[:16]}"
