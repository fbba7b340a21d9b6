"""Fingerprints of texts, which estimate how much two texts have in common.

A text is taken as the set of its shingles, which are all sequences of four words. Two texts
resemble each other by the share of shingles that they have in common (Broder 1997, On the
resemblance and containment of documents). The hash of each shingle falls into one of 128 bins, and
the least hash of each bin is a random sample of the set (Li, Owen and Zhang 2012, One Permutation
Hashing), of which eight bits are kept (Li and König 2010, b-Bit Minwise Hashing). The share is
estimated with a standard error of .035 for texts that have four fifths in common.

A fingerprint takes 169 bytes at most, less for a text of fewer than a few hundred words. It is
stored as terms and doc values of the last chunk of a document, because the texts of all chunks are
known by then, however long it is: none is read twice. Documents of older indexes have none.
"""

import re
from base64 import b85encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from operator import eq
from struct import pack, unpack
from typing import Any, Final, Self
from zlib import crc32

from lucene import JArray
from org.apache.lucene.document import BinaryDocValuesField, Field, StringField
from org.apache.lucene.util import BytesRef

from shared.model import schema
from shared.storage.vectors import stored_values

VERSION_RESEMBLANCE: Final = 0.8
"""Share of common shingles from which two documents are versions of the same text: a letter with
another date and another paragraph has it, two letters from the same template do not."""

SHINGLE_WORDS: Final = 4
"""Number of words of a shingle: with fewer, different texts have common phrases in common."""

_BIN_BITS: Final = 7
_BINS: Final = 1 << _BIN_BITS
_LAST_BIN: Final = _BINS - 1

_NONE: Final = 1 << 32
"""Number above all hashes, in a bin without any."""

_LEADING: Final = 6
"""Number of hashes by which similar texts are found: those with four fifths in common share at
least one of these but in one of 15,000 cases."""

_FORMAT: Final = 1
"""First byte of a stored fingerprint, so that one of another kind can be told apart."""

_WORD: Final = re.compile(r"\w+")

_ASCII_WORDS: Final = bytes(byte if _WORD.match(chr(byte)) else ord(" ") for byte in range(256))
"""Table with blanks in place of all characters of ASCII that no word has."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Fingerprint of a text."""

    leading: tuple[int, ...]  # the least hashes of all, at most six, ascending
    bins: int  # the bins that have a hash, one bit each
    values: bytes  # eight bits of the least hash of each of these bins, in their order

    @property
    def terms(self) -> list[str]:
        """Terms by which texts are found that may be similar, five letters each."""
        # Each four bytes become five letters; one call for all takes a fifth of the time.
        letters = b85encode(pack(f">{len(self.leading)}I", *self.leading)).decode()
        return [letters[begin : begin + 5] for begin in range(0, len(letters), 5)]

    def resemblance(self, other: "Fingerprint") -> float:
        """Return the estimated share of common shingles of two texts, from 0 to 1."""
        every = (self.bins | other.bins).bit_count()
        if self.bins == other.bins:
            equal = sum(map(eq, self.values, other.values))
        else:
            equal = len(_by_bin(self) & _by_bin(other))
        return equal / every if every else 0.0

    def dump(self) -> bytes:
        bins = self.bins.to_bytes(_BINS // 8)
        leading = pack(f">{len(self.leading)}I", *self.leading)
        return bytes((_FORMAT,)) + bins + leading + self.values

    @classmethod
    def load(cls, stored: bytes) -> Self | None:
        """Return the fingerprint that bytes are of; None if they are of another kind."""
        if not stored or stored[0] != _FORMAT:
            return None
        end_of_bins = 1 + _BINS // 8
        bins = int.from_bytes(stored[1:end_of_bins])
        count = min(_LEADING, bins.bit_count())
        begin = end_of_bins + 4 * count
        if len(stored) != begin + bins.bit_count():
            return None
        return cls(unpack(f">{count}I", stored[end_of_bins:begin]), bins, stored[begin:])


def _by_bin(fingerprint: Fingerprint) -> set[tuple[int, int]]:
    bits = map(int, reversed(f"{fingerprint.bins:0{_BINS}b}"))
    return set(zip(compress(range(_BINS), bits), fingerprint.values, strict=True))


class Fingerprinter:
    """Maker of the fingerprint of a text that comes in parts, which may overlap."""

    def __init__(self) -> None:
        self._least = [_NONE] * _BINS

    def add(self, text: str) -> None:
        """Add a part of the text; shingles across two parts count only if the parts overlap."""
        words = _words(text)
        # Functions of C all the way: this takes less than a tenth of the time of indexing.
        shingles = zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)
        hashes = map(crc32, map(b" ".join, shingles))
        if len(words) < SHINGLE_WORDS:
            hashes = map(crc32, [b" ".join(words)])
        least = self._least
        for number in hashes:
            if number < least[number & _LAST_BIN]:  # noqa: PLR1730 - min takes twice as long
                least[number & _LAST_BIN] = number

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the text so far."""
        found = [number for number in self._least if number != _NONE]
        return Fingerprint(
            tuple(sorted(found)[:_LEADING]),
            sum(1 << (number & _LAST_BIN) for number in found),
            bytes([number >> _BIN_BITS & 255 for number in found]),
        )


def _words(text: str) -> list[bytes]:
    """Return the words of a text, at least one."""
    folded = text.casefold()
    if folded.isascii():
        # The same words in less than half of the time.
        words = folded.encode().translate(_ASCII_WORDS).split()
    else:
        words = " ".join(_WORD.findall(folded)).encode("utf-8", "surrogatepass").split()
    return words or [text.encode("utf-8", "surrogatepass")]


def fingerprint_fields(fingerprint: Fingerprint) -> Iterator[Any]:
    """Yield the fields of a document's last chunk with the fingerprint of the document."""
    for term in fingerprint.terms:
        yield StringField(schema.FINGERPRINT, term, Field.Store.NO)
    value = BytesRef(JArray("byte")(fingerprint.dump()))
    yield BinaryDocValuesField(schema.FINGERPRINT, value)


def fingerprints_of(reader: Any, chunks: Iterable[int]) -> dict[int, Fingerprint]:
    """Return the fingerprints that some chunks have, by Lucene's numbers in a whole commit."""
    found = stored_values(reader, chunks, schema.FINGERPRINT)
    loaded = {chunk: Fingerprint.load(value) for chunk, value in found.items()}
    return {chunk: fingerprint for chunk, fingerprint in loaded.items() if fingerprint}
