"""Vectors as they are stored: whole numbers of 8 bits, and comparisons with them.

A vector is multiplied so that its greatest component becomes 127, which the cosine does not notice:
against 32 bits, nothing is lost in the ranking (docs/measured/semantic.md).
"""

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

_GREATEST: Final = 127

Vector: TypeAlias = npt.NDArray[np.float32]


def quantized(vector: Vector) -> bytes:
    """Return a vector as whole numbers of 8 bits, the greatest of which is 127."""
    greatest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_GREATEST / greatest)).astype(np.int8).tobytes()


def unit_rows(stored: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return stored vectors, one a row, with length 1."""
    rows = stored.astype(np.float32)
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1.0)
    found: npt.NDArray[np.float32] = np.divide(rows, lengths[:, None])
    return found


def signs(vectors: npt.NDArray[np.float32] | npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    """Return which components of vectors are positive, as bits, 64 in each number.

    Args:
        vectors: one vector a row.

    Returns:
        One vector a column, since columns of a few numbers are compared faster one after the other.
    """
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    padded = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing))))
    return np.ascontiguousarray(padded.view(np.uint64).T)
