"""Vectors as they are stored: the key of the text, and whole numbers of 8 bits.

A vector is multiplied so that its greatest component becomes 127, which the cosine does not notice:
against 32 bits, nothing is lost in the ranking (docs/measured/semantic.md).
"""

import hashlib
from typing import Final

import numpy as np
import numpy.typing as npt

KEY_BYTES: Final = 16
"""Size of the key before a vector, in bytes; two texts with the same key are the same text."""

MAX_PASSAGE_CHARACTERS: Final = 4_000
"""Maximum length of a text that is embedded, in characters; no model reads more."""

_GREATEST: Final = 127

Vector = npt.NDArray[np.float32]


def passage(title: str, section: str, content: str) -> str:
    """Return the text of a chunk that is embedded: title, headings above it, and content."""
    return "\n".join(filter(None, (title, section, content)))[:MAX_PASSAGE_CHARACTERS]


def key_of(text: str) -> bytes:
    """Return the key of a passage."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=KEY_BYTES).digest()


def quantized(vector: Vector) -> bytes:
    """Return a vector as whole numbers of 8 bits."""
    greatest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_GREATEST / greatest)).astype(np.int8).tobytes()


def cosines(query: Vector, stored: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return the cosine of a query with each of some stored vectors.

    Args:
        query: a vector of length 1.
        stored: one vector a row.
    """
    rows = stored.astype(np.float32)
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1.0)
    found: npt.NDArray[np.float32] = np.divide(rows @ query, lengths)
    return found


def signs(vectors: npt.NDArray[np.float32] | npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """Return which components are positive, as bits, 64 in each number; one vector a row."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(np.uint64)
