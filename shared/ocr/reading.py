"""Reading of a page by OCR: its words with their places, and their form in a file."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from itertools import groupby
from typing import Any, Final

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
