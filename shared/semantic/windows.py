"""Windows: the parts of a text that are embedded, about 65 words of whole sentences.

A chunk is too long for one vector: what it says beside the answer hides the answer. Windows belong
to the text of a document, so that what two chunks share is embedded once.
"""

import hashlib
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from shared.analysis.languages import COMBINING
from shared.chunking import SCRIPTS_WITHOUT_BLANKS

WORDS: Final = 65
"""Length of a window that is aimed at, in words."""

MAX_WINDOWS: Final = 32
"""Maximum number of windows of a chunk; only texts that hardly anybody reads have more."""

KEY_BYTES: Final = 16
"""Size of the key before the vectors of a chunk, in bytes; two texts with the same key are the same
text."""

_MAX_HEADING: Final = 120
"""Maximum length of the path before a window, and of the title, in characters each."""

_SUFFIX: Final = re.compile(r"\.\w+$")
_WORDS: Final = re.compile(rf"(?:[^\W_]|[{COMBINING}])+")

_MIN_OVERLAP: Final = 10
_MAX_OVERLAP: Final = 3_000
"""Length of the text that two chunks share, in characters."""

_CHARACTERS_PER_WORD: Final = 15
"""Length of words, in characters, from which on they count by it: a line of code, or of numbers."""

MAX_CHARACTERS: Final = MAX_WINDOWS * WORDS * _CHARACTERS_PER_WORD
"""Maximum length of the part of a chunk that is embedded, in characters."""

_LONG: Final = 1.5
"""Number of windows from which on a sentence is cut."""

_SENTENCE_ENDS: Final = re.compile(
    "(?<=[.!?\u2026:;\u061f\u06d4\u0964])[\"\u00bb\u201d\u2019')\\]]*\\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\\n+"
)

_WITHOUT_BLANKS: Final = re.compile(f"[{SCRIPTS_WITHOUT_BLANKS}\uac00-\ud7af]")


class Window(NamedTuple):
    """A window of a text with the chunks that contain at least half of it, or it half of them."""

    text: str
    places: Sequence[tuple[int, int, int]]  # number of the chunk, and offsets in it


def key_of(title: str, content: str) -> bytes:
    """Return the key of a chunk, which changes with its text and its title.

    A file that is moved keeps its vectors, although its path was before each window.
    """
    text = f"{title[:_MAX_HEADING]}\n{content}"
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=KEY_BYTES).digest()


def heading_of(title: str, path: str) -> str:
    """Return what stands before each window of a document: other words of its path, and its title.

    Questions name the customer or the project that a folder is about, and the text seldom does.
    """
    title = title[:_MAX_HEADING]
    known = set(_WORDS.findall(title.lower()))
    told = (word for word in _WORDS.findall(_SUFFIX.sub("", path)) if word.lower() not in known)
    words = " ".join(dict.fromkeys(told))[-_MAX_HEADING:].strip()
    return " - ".join(part for part in (words, title) if part)


def windows_of(heading: str, chunks: Sequence[str]) -> list[Window]:
    """Return the windows of neighbouring chunks of a document, each with a heading before it."""
    text, begins = "", []
    for number, chunk in enumerate(chunks):
        shared = overlap(chunks[number - 1], chunk) if number else 0
        text += chunk[shared:] if shared or not text else f"\n{chunk}"
        begins.append(len(text) - len(chunk))
    ends = [begin + len(chunk) for begin, chunk in zip(begins, chunks, strict=True)]
    found = []
    for begin, end in _windows(text):
        places = [
            (number, max(0, begin - first), min(end, last) - first)
            for number, (first, last) in enumerate(zip(begins, ends, strict=True))
            if first < last
            and 2 * (min(end, last) - max(begin, first)) >= min(end - begin, last - first)
        ]
        found.append(Window(f"{heading}\n{text[begin:end]}", places))
    return found


def overlap(first: str, second: str) -> int:
    """Return the length of the longest end of a text that the other one begins with."""
    longest = min(len(first), len(second), _MAX_OVERLAP)
    lengths = range(longest, _MIN_OVERLAP - 1, -1)
    return next((length for length in lengths if first.endswith(second[:length])), 0)


def packed(key: bytes, vectors: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Return the value of a chunk as it is stored.

    It is the key, the number of windows, the begin and the end of each, and their vectors.
    """
    places = b"".join(struct.pack("<II", begin, end) for begin, end, _ in vectors)
    return b"".join((key, bytes([len(vectors)]), places, *(vector for _, _, vector in vectors)))


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each window, of about equal sizes."""
    sentences = [part for sentence in _sentences(text) for part in _parts(text, *sentence)]
    sizes = [_size(text[begin:end]) for begin, end in sentences]
    total = sum(sizes)
    count = max(1, round(total / WORDS))
    begin, passed, done = 0, 0.0, 0
    for number, size in enumerate(sizes):
        is_whole = passed + size / 2 > total / count * (done + 1)
        if number > begin and is_whole and done < count - 1:
            yield sentences[begin][0], sentences[number - 1][1]
            begin, done = number, done + 1
        passed += size
    if sentences:
        yield sentences[begin][0], sentences[-1][1]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for end in (*(match.end() for match in _SENTENCE_ENDS.finditer(text)), len(text)):
        if stripped := text[begin:end].strip():
            first = text.index(stripped[0], begin)
            yield first, first + len(stripped)
            begin = end


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, in equal parts if it is long, between words where it has enough."""
    sentence = text[begin:end]
    size = _size(sentence)
    # As many as there will be windows, so that none has two parts.
    count = round(size / WORDS) if size > _LONG * WORDS else 1
    words = [match.start() for match in re.finditer(r"\S+", sentence)] if count > 1 else []
    if len(words) >= _LONG * WORDS:
        cuts = [words[len(words) * part // count] for part in range(count)]
    else:
        cuts = [len(sentence) * part // count for part in range(count)]
    for first, last in zip(cuts, (*cuts[1:], len(sentence)), strict=True):
        if part := sentence[first:last].strip():
            start = sentence.index(part[0], first)
            yield begin + start, begin + start + len(part)


def _size(text: str) -> float:
    """Return the length of a text in words, or in what takes as long to read."""
    words = len(text.split()) + len(_WITHOUT_BLANKS.findall(text)) / 2
    return max(words, len(text) / _CHARACTERS_PER_WORD)
